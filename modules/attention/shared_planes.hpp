#pragma once
#include <memory>

// Include it after `import iap.attention`.
namespace iap {
extern "C++" {

/// For whoever has several scorers look at the same pictures through the same patches: what they take a picture apart into before
/// they multiply is kept here, so that it is made once. Changes no bit of what they say.
class SharedPlanes {
 public:
  SharedPlanes();
  ~SharedPlanes();
  SharedPlanes(const SharedPlanes&) = delete;
  SharedPlanes& operator=(const SharedPlanes&) = delete;

  /// While it lives, all that this thread has look at a picture share, and the picture stays as it is. No two of one SharedPlanes
  /// at a time.
  class Look {
   public:
    explicit Look(SharedPlanes& shared);
    ~Look();
    Look(const Look&) = delete;
    Look& operator=(const Look&) = delete;

   private:
    void* outer_;
  };

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};
}
}  // namespace iap
