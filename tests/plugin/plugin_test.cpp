#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "plugin_example.hpp"
import iap.core;
import iap.plugin;

namespace {

namespace fs = std::filesystem;
using Catch::Matchers::ContainsSubstring, Catch::Matchers::EndsWith;

constexpr iap::PluginKind example{"example", 7, "install Debian's package iap-example, or build with -DIAP_EXAMPLE=ON"};

/// A folder of plugins for one test; IAP_PLUGIN_PATH names it and what the test puts before it.
class Folder {
 public:
  explicit Folder(const std::string& name) : path_(fs::temp_directory_path() / ("iap-plugin-test-" + name)) {
    fs::remove_all(path_);
    fs::create_directories(path_);
    look_into(path_.string());
  }
  ~Folder() {
    fs::remove_all(path_);
    unsetenv("IAP_PLUGIN_PATH");
  }
  void holds(const std::string& built) const { fs::copy_file(fs::path(PLUGIN_EXAMPLES) / (built + ".so"), library()); }
  fs::path library() const { return path_ / "libiap-example.so"; }
  const fs::path& path() const { return path_; }
  static void look_into(const std::string& folders) { setenv("IAP_PLUGIN_PATH", folders.c_str(), 1); }

 private:
  fs::path path_;
};

}  // namespace

TEST_CASE("a plugin's functions are called") {
  const Folder folder("right");
  folder.holds("right");
  CHECK(iap::find_plugin("example") == folder.library());
  const auto& table = iap::plugin_table<ExampleTable>(example);
  CHECK(table.twice(21) == 42);
  CHECK(&iap::plugin_table<ExampleTable>(example) == &table);
}

TEST_CASE("folders of plugins are looked into in order") {
  const Folder empty("empty"), folder("filled");
  folder.holds("right");
  Folder::look_into(":" + empty.path().string() + ":" + folder.path().string());
  CHECK(iap::plugin_folders() == std::vector<fs::path>{empty.path(), folder.path()});
  CHECK(iap::find_plugin("example") == folder.library());
}

TEST_CASE("a plugin that is not there is told with folders and remedy") {
  const Folder folder("missing");
  CHECK(iap::find_plugin("example").empty());
  CHECK_THROWS_WITH(iap::load_plugin(example),
                    ContainsSubstring("plugin 'example' is not there (libiap-example.so in " + folder.path().string() + ")") &&
                        ContainsSubstring("iap-example") && ContainsSubstring("-DIAP_EXAMPLE=ON") &&
                        ContainsSubstring("IAP_PLUGIN_PATH names these folders instead of the installed ones: add the plugin's, or "
                                          "unset it"));
  // Such a folder is no library.
  fs::create_directory(folder.library());
  CHECK(iap::find_plugin("example").empty());
  CHECK_THROWS_WITH(iap::load_plugin(example), ContainsSubstring("plugin 'example' is not there"));
  unsetenv("IAP_PLUGIN_PATH");
  CHECK_THROWS_WITH(iap::load_plugin(example),
                    EndsWith("-DIAP_EXAMPLE=ON, or name its folder in the environment variable IAP_PLUGIN_PATH"));
}

TEST_CASE("a plugin of another version is refused") {
  const Folder folder("old");
  folder.holds("old");
  CHECK_THROWS_WITH(iap::load_plugin(example), ContainsSubstring("is of version 6, this program needs version 7") &&
                                                   ContainsSubstring(folder.library().string()));
}

TEST_CASE("what is no plugin, or another one, is refused") {
  const Folder folder("wrong");
  folder.holds(GENERATE("other", "without"));
  CHECK_THROWS_WITH(iap::load_plugin(example), ContainsSubstring("libiap-example.so' is not the plugin 'example'"));
}

TEST_CASE("a plugin that cannot be loaded says why") {
  const Folder folder("damaged");
  iap::write_file_atomic(folder.library(), "no library");
  CHECK_THROWS_WITH(iap::load_plugin(example),
                    ContainsSubstring("cannot be loaded") && ContainsSubstring(folder.library().string()));
}

TEST_CASE("without a word about it, plugins lie beside the program") {
  unsetenv("IAP_PLUGIN_PATH");
  const auto folders = iap::plugin_folders();
  const fs::path own = fs::canonical("/proc/self/exe").parent_path();
  REQUIRE(folders.size() >= 3);
  // From tests/plugin of the build tree as from bin of an installed one: up, and to the libraries.
  CHECK(folders.front().parent_path().parent_path().string().starts_with(own.parent_path().string()));
  CHECK(folders.front().filename() == "iap");
  CHECK(folders.back().string().starts_with("/usr/"));
}
