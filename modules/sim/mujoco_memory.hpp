// What MuJoCo takes while it compiles a model. Include after `module iap.sim;`, with <cstddef>, <string> and <unordered_map> before
// it.
#pragma once

namespace iap {

// While it lives, all that MuJoCo asks for in this thread is weighed together before it is there, and refused where it is too much:
// a model's data and its stack, which MuJoCo makes to try a step, grow with squares of what the text says.
class WeighedMemory {
 public:
  // `what` is for messages.
  explicit WeighedMemory(std::string what);
  ~WeighedMemory();
  WeighedMemory(const WeighedMemory&) = delete;
  WeighedMemory& operator=(const WeighedMemory&) = delete;

  // nullptr where there is no room for so many bytes more.
  void* take(std::size_t bytes);
  void forget(void* block);
  // Why there was none, or "".
  std::string refusal() const;

 private:
  void refuse(const char* why);

  std::string what_, refusal_;
  bool refused_ = false;
  double taken_ = 0;                               // bytes, less what was given back
  std::unordered_map<void*, std::size_t> blocks_;  // MuJoCo loses some where it got no more
  WeighedMemory* outer_;
};

}  // namespace iap
