// OpenGL contexts without a window. Include after `module iap.sim;`, with <memory> and <string> before it.
#pragma once

namespace iap {

// An OpenGL context of its own. Libraries are loaded when the first one is made, so that nothing else needs them.
class EglContext {
 public:
  // Throws Error if there is no EGL, no platform without a window, or no OpenGL.
  EglContext();
  ~EglContext();
  EglContext(const EglContext&) = delete;
  EglContext& operator=(const EglContext&) = delete;

  // Binds the context to the calling thread for as long as the object lives; what the thread had current before, a host's, is
  // current again afterwards. A context serves one thread at a time.
  class Current {
   public:
    explicit Current(const EglContext& context);
    ~Current();
    Current(const Current&) = delete;
    Current& operator=(const Current&) = delete;

   private:
    void *context_, *display_, *draw_, *read_;
    unsigned api_;
  };

  // Whether what draws is a GPU. @throws Error as the constructor.
  static bool on_gpu();
  // An OpenGL function, or nullptr.
  static void* function(const char* name);

 private:
  void* context_ = nullptr;
};

}  // namespace iap
