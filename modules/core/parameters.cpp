module;
#include <cstddef>
#include <string>
#include <vector>
module iap.core;

namespace iap {
namespace {

constexpr std::size_t most_parameters = std::size_t{1} << 28;
/// A name is compared with all before it.
constexpr std::size_t most_slices = std::size_t{1} << 14;

}  // namespace

std::size_t ParameterLayout::add(std::string name, std::vector<int> shape) {
  std::size_t size = 1;
  for (const int extent : shape) {
    if (extent <= 0) throw Error(text("parameter '", name, "': every size must be positive, got ", extent));
    if (size > most_parameters / static_cast<std::size_t>(extent))
      size = most_parameters + 1;
    else
      size *= static_cast<std::size_t>(extent);
  }
  if (size > most_parameters - size_)
    throw Error(text("policy: with '", name, "' it needs more than the ", most_parameters,
                     " parameters that are allowed; make its layers smaller"));
  if (slices_.size() >= most_slices)
    throw Error(text("policy: with '", name, "' it has more than the ", most_slices,
                     " arrays of parameters that are allowed; take fewer blocks, layers or heads"));
  for (const auto& slice : slices_)
    if (slice.name == name) throw Error(text("parameter '", name, "' is declared twice; give the blocks different names"));
  slices_.push_back({std::move(name), std::move(shape), size_, size});
  size_ += size;
  return slices_.back().offset;
}

}  // namespace iap
