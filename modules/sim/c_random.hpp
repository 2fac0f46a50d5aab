// The random numbers of the C library, of which a process has one sequence and MuJoCo's compiler makes random marks of textures.
// Include after `module iap.sim;`, with <array>, <cstddef> and <cstdint> before it.
#pragma once

namespace iap {

// While it lives, rand() goes by a sequence of its own; the process's goes on afterwards where it was. One at a time.
class BorrowedRandom {
 public:
  BorrowedRandom();
  ~BorrowedRandom();
  BorrowedRandom(const BorrowedRandom&) = delete;
  BorrowedRandom& operator=(const BorrowedRandom&) = delete;

  // How many numbers were drawn since srand(seed), by whichever thread; most + 1 if there were more.
  std::size_t drawn(unsigned seed, std::size_t most) const;

 private:
  // As large as the one that a process begins with: the same seed gives the same numbers. It stays where it is, as another library
  // that borrows meanwhile, such as a second iap in the process, puts it back as the one that it found.
  alignas(std::int32_t) static inline std::array<char, 128> own_;
  char* before_;
};

}  // namespace iap
