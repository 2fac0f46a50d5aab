module;
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>
module iap.policy;
import iap.core;
import iap.attention;
import :attention_parts;
import :internal;

namespace iap {

std::string read_encoding(Options& options) { return options.choice("encoding", {"none", "sinusoidal", "learned"}, "none"); }

PositionEncoding::PositionEncoding(Options& options, const PatchGrid& grid, const std::string& path, ParameterLayout& layout)
    : name_(read_encoding(options)) {
  options.goes_with("encoding_scale", "encoding = \"sinusoidal\"");
  const std::size_t size = static_cast<std::size_t>(grid.count()) * grid.values();
  if (name_ == "sinusoidal") {
    const auto scale = static_cast<float>(options.number_in("encoding_scale", 0, 1e6, 1));
    check_memory(path + ": its encoding", sizeof(float) * static_cast<double>(size));
    fixed_.resize(size);
    sinusoidal_encoding(grid, fixed_);
    for (float& value : fixed_) value *= scale;
    table_ = fixed_;
  } else if (name_ == "learned") {
    size_ = size;
    offset_ = layout.add(path + ".encoding", {grid.count(), grid.values()});
  }
}

// As in ViT: small beside the pixels.
void PositionEncoding::initialise(std::span<float> parameters, Random& random) const {
  fill_normal(parameters.subspan(offset_, size_), 0.02, random);
}

void PositionEncoding::bind(std::span<const float> parameters) {
  if (size_ > 0) table_ = parameters.subspan(offset_, size_);
}

void PositionEncoding::collect_grids(const PatchGrid& grid, std::vector<GridParameters>& grids) const {
  if (size_ == 0) return;
  grids.push_back(grid_parameters(grid, offset_));
  grids.back().values = grid.values();
}

HeadParameters::HeadParameters(const PatchGrid& grid, int d, bool bias, bool query_weights, const std::string& path, int head,
                               int heads, ParameterLayout& layout)
    : c_(grid.values()),
      matrix_(static_cast<std::size_t>(grid.values()) * d),
      bias_(bias ? static_cast<std::size_t>(d) : 0),
      query_weight_count_(query_weights ? static_cast<std::size_t>(grid.count()) : 0) {
  const auto add = [&](const char* name, std::vector<int> shape) {
    return layout.add(path + "." + head_name(name, head, heads), std::move(shape));
  };
  query_ = add("query", {c_, d});
  key_ = add("key", {c_, d});
  if (bias) {
    query_bias_ = add("query_bias", {d});
    key_bias_ = add("key_bias", {d});
  }
  if (query_weights) query_weights_ = add("query_weights", {grid.count()});
}

void HeadParameters::initialise(std::span<float> parameters, Random& random) const {
  const double deviation = 1 / std::sqrt(c_);
  fill_normal(parameters.subspan(query_, matrix_), deviation, random);
  fill_normal(parameters.subspan(key_, matrix_), deviation, random);
  std::ranges::fill(parameters.subspan(query_weights_, query_weight_count_), 1.0F);
}

void HeadParameters::collect_grids(const PatchGrid& grid, std::vector<GridParameters>& grids) const {
  if (query_weight_count_ > 0) grids.push_back(grid_parameters(grid, query_weights_));
}

HeadWeights HeadParameters::weights(std::span<const float> parameters, std::span<const float> encoding) const {
  return {.query = parameters.subspan(query_, matrix_),
          .key = parameters.subspan(key_, matrix_),
          .query_bias = parameters.subspan(query_bias_, bias_),
          .key_bias = parameters.subspan(key_bias_, bias_),
          .query_weights = parameters.subspan(query_weights_, query_weight_count_),
          .encoding = encoding};
}

}  // namespace iap
