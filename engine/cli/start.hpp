#pragma once

namespace iap::cli {

/// What holds for the whole program, before anything else: standard streams that were closed lead nowhere, so that no file of a run
/// gets their numbers and their messages; a write beyond the limit on file sizes fails, as it does on a full disk, and kills
/// nobody; out of memory says so.
void prepare_process();

/// What the program ends with where its commands came to `code`: a failure, and one message, if what they printed did not arrive.
int end_process(int code);

}  // namespace iap::cli
