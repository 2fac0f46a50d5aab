module;
#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
module iap.attention;
import iap.core;
import :features;
import :internal;
import :trans_frame;

namespace iap {

std::optional<TransOrder> read_trans_order(Options& options) {
  const std::string order = options.choice("order", {"auto", "values_first", "queries_first"}, "auto");
  if (order == "auto") return {};
  return order == "values_first" ? TransOrder::values_first : TransOrder::queries_first;
}

namespace {

LinearOptions read_linear_options(const KernelEntry& entry, Options& options, const PatchGrid& grid, const TransShape& shape) {
  LinearOptions wanted;
  wanted.name = entry.name;
  wanted.relu = false;
  wanted.features = read_feature_options(*entry.features, options, grid.values(), shape.d);
  wanted.normalise_rows = options.boolean("normalise_rows", false);
  const FeatureOptions& features = wanted.features;
  if (features.brute_force) {
    options.goes_with("order", "brute_force = false");
    return wanted;
  }
  if (wanted.normalise_rows && features.kind != FeatureKind::exp)
    options.fail(text("option 'normalise_rows' needs positive features, those of kernel ", entry.name,
                      " may sum to zero or less; use kernel relu, exp, favor++ or softmax"));
  const double sums =
      static_cast<double>(feature_count(features.kind, features.m, features.r)) * std::max(shape.values + 1, shape.tokens);
  if (sums > 1 << 26)
    options.fail(text("would hold ", sums, " sums of features times values; choose a smaller m, r or number of values"));
  return wanted;
}

}  // namespace

double transform_bytes_by_features(const KernelEntry& entry, Options& options, const PatchGrid& grid, const TransShape& shape,
                                   bool encoded) {
  const LinearOptions wanted = read_linear_options(entry, options, grid, shape);
  return wanted.features.brute_force ? exact_trans_bytes(ExactKernel::softmax_kernel, grid, shape, encoded)
                                     : linear_trans_bytes(wanted, grid, shape, encoded);
}

std::unique_ptr<Trans> transform_by_features(const KernelEntry& entry, Options& options, const PatchGrid& grid,
                                             const TransShape& shape) {
  LinearOptions wanted = read_linear_options(entry, options, grid, shape);
  const FeatureOptions& features = wanted.features;
  if (features.brute_force)
    return make_exact_trans(entry.name, ExactKernel::softmax_kernel, wanted.normalise_rows, features.form, 0, grid, shape);
  wanted.order = read_trans_order(options);
  return make_linear_trans(wanted, grid, shape);
}

double trans_cost(TransOrder order, const TransShape& shape, bool normalise_rows, double features, double patches) {
  const double values = shape.values, tokens = shape.tokens, divisors = normalise_rows ? 1 : 0;
  const double compress = tokens * values;
  if (order == TransOrder::values_first) return patches * (2 * features * (values + divisors) + compress);
  return patches * (2 * features * (tokens + divisors) + compress);
}

}  // namespace iap
