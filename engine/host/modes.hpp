#pragma once
// The modes in which the library computes, whatever those of the host.
#include <locale.h>

#include <cfenv>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace iap::host {

/// While it lives, this thread rounds to nearest, keeps subnormal numbers, traps nothing and writes numbers with a point; threads
/// of `parallel_for` take that over. Then its modes, and the exceptions that had been raised, are the host's again.
class OwnModes {
 public:
  OwnModes() noexcept : locale_(::uselocale(plain_locale())) {
#if defined(__x86_64__)
    // fesetenv takes a tenth of a microsecond, which every call would pay; few hosts change the x87.
    unsigned short x87 = 0;
    __asm__ volatile("fnstcw %0" : "=m"(x87));
    sse_ = _mm_getcsr();
    unusual_ = x87 != usual_x87;
    if (unusual_) set_all();
    _mm_setcsr(usual_sse);
#else
    set_all();
#endif
  }
  ~OwnModes() {
#if defined(__x86_64__)
    if (unusual_) std::fesetenv(&all_);
    _mm_setcsr(sse_);
#else
    std::fesetenv(&all_);
#endif
    ::uselocale(locale_);
  }
  OwnModes(const OwnModes&) = delete;
  OwnModes& operator=(const OwnModes&) = delete;

 private:
  static locale_t plain_locale() noexcept {
    static const locale_t plain = ::newlocale(LC_ALL_MASK, "C", nullptr);
    return plain;
  }
  void set_all() noexcept {
    std::fegetenv(&all_);
    std::fesetenv(FE_DFL_ENV);
  }

  locale_t locale_;
  std::fenv_t all_;
#if defined(__x86_64__)
  static constexpr unsigned short usual_x87 = 0x037f;
  static constexpr unsigned usual_sse = 0x1f80;
  unsigned sse_;
  bool unusual_;
#endif
};

}  // namespace iap::host
