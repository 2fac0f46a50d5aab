#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "cases.hpp"

namespace {

// Bytes that end where unreadable memory begins, or begin where it ends: one read outside and the test dies.
class Guarded {
 public:
  Guarded(const void* data, std::size_t size, bool at_end) {
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    size_ = (size + page - 1) / page * page + 2 * page;
    base_ = static_cast<std::byte*>(mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    REQUIRE(base_ != MAP_FAILED);
    data_ = at_end ? base_ + size_ - page - size : base_ + page;
    std::memcpy(data_, data, size);
    REQUIRE(mprotect(base_, page, PROT_NONE) == 0);
    REQUIRE(mprotect(base_ + size_ - page, page, PROT_NONE) == 0);
  }
  ~Guarded() { munmap(base_, size_); }
  Guarded(const Guarded&) = delete;
  Guarded& operator=(const Guarded&) = delete;
  const void* data() const { return data_; }

 private:
  std::byte *base_ = nullptr, *data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace

TEST_CASE("no kernel reads outside the image, whatever its shape") {
  Random random(91);
  for (int round = 0; round < 200; ++round) {
    const auto pick = [&](int low, int high) { return low + static_cast<int>(random.below(high - low + 1)); };
    const int size = pick(1, 6), stride = pick(1, 8);
    const ImageShape shape{pick(size, 40), pick(size, 150), pick(1, 4), round % 2 ? PixelType::uint8 : PixelType::float32};
    const Case c = make_case(shape, size, stride, 3, false, 0.3F, random.bits());
    const std::size_t bytes = shape.count() * (round % 2 ? 1 : sizeof(float));
    for (const bool at_end : {true, false}) {
      const Guarded guarded(c.image.view().data, bytes, at_end);
      ImageView view = c.image.view();
      view.data = guarded.data();
      for (const char* kernel : {"relu", "hybrid", "softmax"}) {
        if (std::string(kernel) == "softmax" && c.grid.count() > 500) continue;
        const Config config = Config::Map{{"kernel", kernel}};
        Options options("test", config);
        const auto scorer = make_scorer(options, c.grid, c.d);
        scorer->bind(c.head());
        std::vector<float> scores(c.grid.count());
        scorer->score(view, -0.5F, scores);
        REQUIRE(scores == scores_of(c, config, -0.5F));
      }
    }
  }
}
