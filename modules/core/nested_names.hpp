#pragma once

// Include it after `import iap.core`.
namespace iap {
extern "C++" {

/// Whether objects in Lua whose text is stored are judged by the names in the tables inside their options, as those of a file are.
bool judges_nested_names() noexcept;
/// From now on this thread judges them, or does not. Returns what it did before.
bool judge_nested_names(bool judges) noexcept;

/// Judges them while it lives, or does not: where options that somebody may just have changed are built. What is only loaded keeps
/// what it has.
class NestedNamesJudged {
 public:
  explicit NestedNamesJudged(bool judges = true) : before_(judge_nested_names(judges)) {}
  ~NestedNamesJudged() { judge_nested_names(before_); }
  NestedNamesJudged(const NestedNamesJudged&) = delete;
  NestedNamesJudged& operator=(const NestedNamesJudged&) = delete;

 private:
  bool before_;
};
}
}  // namespace iap
