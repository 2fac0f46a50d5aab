#pragma once
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace iap::cli {

/// Input lines: edited, with history and completion, on a terminal; as they come from a pipe. One instance at a time.
class LineEditor {
 public:
  using Complete = std::function<std::vector<std::string>(std::string_view prefix)>;

  /// `history` empty: none is kept between sessions.
  LineEditor(std::filesystem::path history, Complete complete);
  ~LineEditor();
  LineEditor(const LineEditor&) = delete;
  LineEditor& operator=(const LineEditor&) = delete;

  enum class Status { line, interrupted, end };
  Status read(const std::string& prompt, std::string& line);
  /// Adds one input, which may span lines, to the history, and at once to its file, which several programs may add to.
  void remember(const std::string& input);
  bool on_terminal() const { return terminal_; }

 private:
  std::filesystem::path history_;
  bool terminal_;
};

/// Of the library behind it.
std::string line_editor_version();

/// Where the prompt's history is kept: $XDG_STATE_HOME/iap/history, where that is an absolute path, or ~/.local/state/iap/history;
/// "" without a home.
std::filesystem::path history_path();

}  // namespace iap::cli
