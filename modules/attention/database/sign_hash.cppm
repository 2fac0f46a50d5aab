module;
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>
export module iap.attention:sign_hash;
import iap.core;

export namespace iap {

/// x -> sign(G x), G Gaussian (Theorem 4.3 of v2): two codes differ in a bit with probability angle(x, y) / pi. Bit b of a code
/// is bit b % 64 of word b / 64, set where row b of G has a negative product with x; bits past the last are 0.
class SignHash {
 public:
  /// G (bits x features) is a function of `seed`. @throws Error if a size is not positive, or G would take too much memory.
  SignHash(int features, int bits, std::uint64_t seed);
  /// Bytes that it takes.
  static double bytes(int features, int bits);

  int features() const { return features_; }
  int bits() const { return bits_; }  ///< m'
  int words() const { return words_of(bits_); }
  /// The code of x in words() words.
  void encode(std::span<const float> x, std::span<std::uint64_t> code) const;
  /// Codes of `count` vectors, feature f of vector j at planes[f * pitch + j], word w of its code at codes[w * code_pitch + j].
  /// O(count features bits).
  void encode_all(const float* planes, std::size_t pitch, int count, std::uint64_t* codes, std::size_t code_pitch) const;

 private:
  static int words_of(int bits) { return (bits + 63) / 64; }

  int features_, bits_;
  std::vector<float> directions_;  // words x features x 64: 64 rows of G at a time, zero past the last
};

/// Number of bits in which code j differs from `query`; word w of code j stands at codes[w * pitch + j]. Vectorised, dispatched
/// at run time. Reads key_padding words past a row's last, writes as many past distances[count].
void hamming(const std::uint64_t* codes, std::size_t pitch, int count, std::span<const std::uint64_t> query,
             std::span<std::uint64_t> distances);

}  // namespace iap
