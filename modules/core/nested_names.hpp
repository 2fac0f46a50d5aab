#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

// Include it after `import iap.core`.
namespace iap {
extern "C++" {

/// Of which objects in Lua the names in the tables inside their options are judged.
enum class JudgedNames : std::uint8_t {
  none,   ///< of none: a run that goes on has what it began with
  files,  ///< of those whose text is read from a file; what is only loaded keeps what it has
  all     ///< of those whose text is stored, too: of options that somebody may just have changed
};

/// Of which this thread judges them: `files`, unless NestedNamesJudged says otherwise.
JudgedNames judged_names() noexcept;
/// Whether the option at `place` ("physics.strength"), one around it or one inside it was set by itself, as `--set` does: unless
/// none are judged, that one is, whatever the object.
bool is_set_place(std::string_view place) noexcept;

/// What this thread judges while it lives.
class NestedNamesJudged {
 public:
  explicit NestedNamesJudged(JudgedNames judged);
  /// `set`: places in the options of whatever is built.
  NestedNamesJudged(JudgedNames judged, std::vector<std::string> set);
  ~NestedNamesJudged();
  NestedNamesJudged(const NestedNamesJudged&) = delete;
  NestedNamesJudged& operator=(const NestedNamesJudged&) = delete;

 private:
  JudgedNames names_before_;
  std::vector<std::string> places_before_;
};
}
}  // namespace iap
