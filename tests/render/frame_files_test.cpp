#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cstddef>
#include <filesystem>
#include <limits>
#include <string>
#include <system_error>
#include <vector>

#include "../core/temporary_folder.hpp"
import iap.core;
import iap.render;

using namespace iap;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
namespace fs = std::filesystem;

TEST_CASE("names are ordered with their numbers as numbers") {
  const std::vector<fs::path> ordered{"",
                                      "-2.png",
                                      "0.png",
                                      "00.png",
                                      "001.png",
                                      "01.png",
                                      "1.png",
                                      "1a.png",
                                      "2.png",
                                      "9.png",
                                      "10.png",
                                      "a.png",
                                      "a1b.png",
                                      "a1b2.png",
                                      "a1b10.png",
                                      "a01c.png",
                                      "a2b1.png",
                                      "a18446744073709551616.png",
                                      "a100000000000000000000.png",
                                      "b.png"};
  for (std::size_t i = 0; i < ordered.size(); ++i)
    for (std::size_t j = 0; j < ordered.size(); ++j) {
      CAPTURE(ordered[i], ordered[j]);
      CHECK(numbered_before(ordered[i], ordered[j]) == (i < j));
    }
  CHECK(numbered_before("z/1.png", "a/2.png"));
}

TEST_CASE("names of one width are ordered as texts, as DAVIS's are") {
  std::vector<fs::path> names;
  for (int i = 0; i < 300; ++i) names.push_back(text(std::string(5 - std::to_string(i).size(), '0'), i, ".jpg"));
  auto sorted = names;
  std::ranges::reverse(sorted);
  std::ranges::sort(sorted, numbered_before);
  CHECK(sorted == names);
}

TEST_CASE("a folder's files and folders are told apart, and hidden ones left out") {
  const TemporaryFolder folder;
  for (const char* name : {"10.png", "9.PNG", ".8.png"}) write_file_atomic(folder.path() / name, "");
  for (const char* name : {"b12", "b3", ".c"}) make_folder(folder.path() / name);
  fs::create_symlink("nowhere", folder.path() / "11.png");
  const auto names = [&](bool folders) {
    std::error_code failure;
    std::vector<std::string> found;
    for (const auto& path : numbered_entries(folder.path(), folders, failure)) found.push_back(path.filename().string());
    CHECK_FALSE(failure);
    return found;
  };
  CHECK(names(false) == std::vector<std::string>{"9.PNG", "10.png", "11.png"});
  CHECK(names(true) == std::vector<std::string>{"b3", "b12"});
  std::error_code failure;
  CHECK(numbered_entries(folder.path() / "nowhere", false, failure).empty());
  CHECK(failure);
  limit_usable_memory(1000);
  CHECK_THROWS_MATCHES(numbered_entries(folder.path(), false, failure), Error,
                       MessageMatches(ContainsSubstring("a list of what is in '" + folder.path().string() + "' needs ")));
  limit_usable_memory(std::numeric_limits<double>::infinity());
  request_interrupt();
  CHECK_THROWS_AS(numbered_entries(folder.path(), false, failure), Interrupted);
  clear_interrupt();
}

TEST_CASE("endings count in capital letters, too") {
  CHECK(ends_in("a.png", {".png"}));
  CHECK(ends_in("a.b.PnG", {".jpg", ".png"}));
  CHECK_FALSE(ends_in("a.jpg", {".png"}));
  CHECK_FALSE(ends_in("png", {".png"}));
}
