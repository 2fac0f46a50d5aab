// Include after `module iap.sim;`, with <optional>, <string> and <string_view>, and after `import iap.core;`.
#pragma once

namespace iap {

// A file as a config holds it: a text as it is, anything else as {base64 = "..."}.
Config packed_file(std::string_view content);
// The content again; nothing if it is neither.
std::optional<std::string> unpacked_file(const Config& packed);

}  // namespace iap
