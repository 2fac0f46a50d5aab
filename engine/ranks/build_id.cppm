module;
#include <string>
/// Which build of the engine this is.
module iap.ranks:build_id;

namespace iap {

/// The linker's hash of the program or library that holds the engine, in hexadecimal digits; "" if it was linked without.
std::string build_id();

}  // namespace iap
