module;
#include <string>
#include <vector>
module iap.core;

namespace iap {

std::size_t ParameterLayout::add(std::string name, std::vector<int> shape) {
  std::size_t size = 1;
  for (const int extent : shape) {
    if (extent <= 0) throw Error(text("parameter '", name, "': every size must be positive, got ", extent));
    size *= static_cast<std::size_t>(extent);
  }
  for (const auto& slice : slices_)
    if (slice.name == name) throw Error(text("parameter '", name, "' is declared twice; give the blocks different names"));
  slices_.push_back({std::move(name), std::move(shape), size_, size});
  size_ += size;
  return slices_.back().offset;
}

}  // namespace iap
