// Include <string> and <string_view> first, and import iap.core.
#pragma once

namespace iap {

/// What is said of the option `record` of an environment or a block, of which `is_file_record` is true, where somebody gives it.
inline std::string record_refusal(std::string_view record) {
  return text("'", record, "' is no option but what iap itself writes beside the name of a file; leave it out");
}

}  // namespace iap
