// Every target under libFuzzer: fuzz --target=NAME [OPTIONS OF LIBFUZZER] [FOLDERS].
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "targets.hpp"
import iap.core;
import iap.script;

namespace {
const fuzz::Target* target = nullptr;
}

extern "C" int LLVMFuzzerInitialize(int* count, char*** words) {
  constexpr std::string_view option = "--target=";
  for (int i = 1; i < *count; ++i)
    if (const std::string_view word = (*words)[i]; word.starts_with(option)) target = fuzz::find_target(word.substr(option.size()));
  if (!target) {
    std::fputs("fuzz: write --target=NAME with one of:", stderr);
    for (const auto& known : fuzz::targets()) std::fprintf(stderr, " %s", known.name.data());
    std::fputs("\n", stderr);
    std::exit(2);
  }
  iap::register_lua();
  // So that what is allocated without a look at the memory stands out against what is refused.
  constexpr double memory = 2U << 30;
  iap::limit_usable_memory(memory);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  target->play({reinterpret_cast<const char*>(bytes), size});
  return 0;
}
