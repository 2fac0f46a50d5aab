#pragma once
#include <string>
#include <string_view>
#include <vector>
import iap.core;

namespace iap::lua {

/// `names` and what `sources` mention as "options.name", each once. Of those that are not `given`, which messages alone offer, no
/// more than some: a file may mention any number. @throws Interrupted.
std::vector<std::string> with_mentioned(std::vector<std::string> names, const std::vector<std::string_view>& sources,
                                        const Config& given);

/// Options that are given and that a source mentions by another name alone, such as "o.gain" or "self.config.gain", are not
/// unknown: `options` says so. Not where one of the names that are `read` was meant. @throws Interrupted.
void tell_of_other_names(std::string_view source, const std::vector<std::string>& read, Options& options);

}  // namespace iap::lua
