#pragma once

#include <string>
#include <vector>

namespace iap::cli {

/// What holds for the whole program, before anything else: standard streams that were closed lead nowhere, so that no file of a run
/// gets their numbers and their messages; a write beyond the limit on file sizes fails, as it does on a full disk, and kills
/// nobody; how children end is told, though the parent ignored that of its own; out of memory says so.
void prepare_process();

/// What the program ends with where its commands came to `code`: a failure, and one message, if what they printed did not arrive.
int end_process(int code);

/// Keeps results to the bits of `instructions` (see choose_instructions; "": those of IAP_INSTRUCTIONS, or the machine's best), and
/// returns which those are, or "" where nobody chose. Programs that this one starts follow it. With "portable" the process may
/// begin anew, as `program words...`, with a mathematical library that fuses nothing either. @throws Error if the machine does not
/// have them.
std::string follow_instructions(const std::string& instructions, const std::string& program, const std::vector<std::string>& words);

}  // namespace iap::cli
