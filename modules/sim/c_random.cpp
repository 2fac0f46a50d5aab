module;
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
module iap.sim;
#include "c_random.hpp"

namespace iap {

BorrowedRandom::BorrowedRandom() : before_(initstate(1, own_.data(), own_.size())) {}

BorrowedRandom::~BorrowedRandom() {
  // Another thread may have set a state of its own meanwhile.
  if (char* last = setstate(before_); last != own_.data()) setstate(last);
}

std::size_t BorrowedRandom::drawn(unsigned seed, std::size_t most) const {
  alignas(std::int32_t) std::array<char, sizeof own_> again{};
  random_data sequence{};
  initstate_r(seed, again.data(), again.size(), &sequence);
  // What comes first is where the sequence stands, which is written down only when another one takes its place.
  constexpr std::size_t head = sizeof(std::int32_t);
  for (std::size_t count = 0; count <= most; ++count) {
    if (std::memcmp(again.data() + head, own_.data() + head, own_.size() - head) == 0) return count;
    std::int32_t number = 0;
    random_r(&sequence, &number);
  }
  return most + 1;
}

}  // namespace iap
