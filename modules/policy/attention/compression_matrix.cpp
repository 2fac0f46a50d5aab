module;
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>
module iap.policy;
import iap.core;
import iap.attention;
import :attention_parts;
import :compression;
import :internal;

namespace iap {

Compression::Compression(Options& options, int patches, int tokens, const std::string& path, int head, int heads,
                         ParameterLayout& layout)
    : name_(options.choice("compression", {"learned", "average", "random"}, "learned")),
      factor_(1 / std::sqrt(static_cast<float>(patches))) {
  options.goes_with("compression_seed", "compression = \"random\"");
  const std::size_t length = patches, size = length * static_cast<std::size_t>(tokens);
  if (name_ == "learned") {
    learned_ = size;
    offset_ = layout.add(path + "." + head_name("compression", head, heads), {tokens, patches});
  }
  check_memory(path + ": its compression", (head == 0 ? heads : 1) * bytes(patches, tokens));  // of all that are still to come
  matrix_.resize(size);
  if (name_ == "average") {
    for (std::size_t i = 0; i < static_cast<std::size_t>(tokens); ++i) {
      const std::size_t first = i * length / tokens, end = (i + 1) * length / tokens;
      std::fill_n(matrix_.begin() + i * length + first, end - first, 1.0F / static_cast<float>(end - first));
    }
  } else if (name_ == "random") {
    const auto seed = options.integer_in("compression_seed", 0, std::numeric_limits<std::int64_t>::max(), 0);
    Random random(
        {.seed = static_cast<std::uint64_t>(seed), .member = static_cast<std::uint32_t>(head), .purpose = Purpose::policy});
    constexpr std::size_t work = 16;  // of a random number
    Looks looks;
    for (std::size_t first = 0; first < size; first += length) {
      if (looks.due(work * length)) check_interrupt();
      fill_normal(std::span(matrix_).subspan(first, length), factor_, random);
    }
  }
}

void Compression::initialise(std::span<float> parameters, Random& random) const {
  fill_normal(parameters.subspan(offset_, learned_), 1, random);
}

void Compression::collect_grids(const PatchGrid& grid, std::vector<GridParameters>& grids) const {
  if (name_ == "average") return;
  grids.push_back(grid_parameters(grid, name_ == "random" ? drawn_table : offset_));
  grids.back().tables = static_cast<int>(matrix_.size() / static_cast<std::size_t>(grid.count()));
  grids.back().weights = true;
}

std::span<const float> Compression::bind(std::span<const float> parameters) {
  for (std::size_t i = 0; i < learned_; ++i) matrix_[i] = factor_ * parameters[offset_ + i];
  return matrix_;
}

}  // namespace iap
