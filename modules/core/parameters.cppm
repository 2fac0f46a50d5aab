module;
#include <cstddef>
#include <string>
#include <vector>
export module iap.core:parameters;

export namespace iap {

/// A named slice of a policy's flat parameter vector, row-major.
struct ParameterSlice {
  std::string name;        ///< path of the block and the array, such as "rank.query"
  std::vector<int> shape;  ///< rows, columns
  std::size_t offset = 0;
  std::size_t size = 0;
};

/// The slices of one flat float vector, in order and without gaps.
class ParameterLayout {
 public:
  /// Appends a slice and returns its offset. @throws Error if the name is taken or a size is not positive.
  std::size_t add(std::string name, std::vector<int> shape);
  const std::vector<ParameterSlice>& slices() const { return slices_; }
  std::size_t size() const { return size_; }

 private:
  std::vector<ParameterSlice> slices_;
  std::size_t size_ = 0;
};

}  // namespace iap
