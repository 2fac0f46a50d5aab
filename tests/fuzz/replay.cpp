// Plays inputs that are kept: replay NAME FILE|FOLDER...
#include <cstdio>
#include <exception>
#include <filesystem>
#include <string>
#include <vector>

#include "targets.hpp"
import iap.core;
import iap.script;

int main(int count, char** words) {
  const fuzz::Target* target = count > 2 ? fuzz::find_target(words[1]) : nullptr;
  if (!target) {
    std::fputs("usage: replay NAME FILE|FOLDER...\n", stderr);
    return 2;
  }
  iap::register_lua();
  std::vector<std::filesystem::path> inputs;
  for (int i = 2; i < count; ++i) {
    if (!std::filesystem::is_directory(words[i]))
      inputs.emplace_back(words[i]);
    else
      for (const auto& entry : std::filesystem::directory_iterator(words[i])) inputs.push_back(entry.path());
  }
  for (const auto& input : inputs) try {
      target->play(iap::read_file(input));
    } catch (const std::exception& error) {
      std::fprintf(stderr, "%s: %s\n", input.c_str(), error.what());
      return 1;
    }
  std::printf("%zu inputs\n", inputs.size());
  return inputs.empty() ? 1 : 0;
}
