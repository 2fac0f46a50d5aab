module;
#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>
module iap.attention;
import iap.core;
import :features;
import :internal;
import :trans_frame;

namespace iap {
namespace {

std::optional<TransOrder> read_order(Options& options) {
  const std::string order = options.choice("order", {"auto", "values_first", "queries_first"}, "auto");
  if (order == "auto") return {};
  return order == "values_first" ? TransOrder::values_first : TransOrder::queries_first;
}

std::unique_ptr<Trans> make_relu_trans(Options& options, const PatchGrid& grid, const TransShape& shape) {
  LinearOptions wanted;
  wanted.features.epsilon = options.number_in("epsilon", 0, 1, 0);
  wanted.normalise_rows = options.boolean("normalise_rows", false);
  if (options.boolean("brute_force", false))
    return make_exact_trans("relu", ExactKernel::relu, wanted.normalise_rows, {}, static_cast<float>(wanted.features.epsilon), grid,
                            shape);
  wanted.order = read_order(options);
  return make_linear_trans(wanted, grid, shape);
}

std::unique_ptr<Trans> make_softmax_trans(Options& options, const PatchGrid& grid, const TransShape& shape) {
  const bool rows = options.boolean("normalise_rows", true);
  return make_exact_trans("softmax", ExactKernel::softmax_kernel, rows, read_input_form(options, grid.values(), shape.d), 0, grid,
                          shape);
}

std::unique_ptr<Trans> make_feature_trans(Options& options, const PatchGrid& grid, const TransShape& shape, const char* name,
                                          FeatureKind kind) {
  LinearOptions wanted;
  wanted.name = name;
  wanted.relu = false;
  wanted.features = read_feature_options(kind, options, grid.values(), shape.d);
  wanted.normalise_rows = options.boolean("normalise_rows", false);
  if (wanted.features.brute_force)
    return make_exact_trans(name, ExactKernel::softmax_kernel, wanted.normalise_rows, wanted.features.form, 0, grid, shape);
  if (wanted.normalise_rows && kind != FeatureKind::exp)
    options.fail(text("option 'normalise_rows' needs positive features, those of kernel ", name,
                      " may sum to zero or less; use kernel exp, relu or softmax"));
  wanted.order = read_order(options);
  const double sums =
      static_cast<double>(feature_count(kind, wanted.features.m, wanted.features.r)) * std::max(shape.values + 1, shape.tokens);
  if (sums > 1 << 26)
    options.fail(text("would hold ", sums, " sums of features times values; choose a smaller m, r or number of values"));
  return make_linear_trans(wanted, grid, shape);
}

}  // namespace

double trans_cost(TransOrder order, const TransShape& shape, bool normalise_rows, double features, double patches) {
  const double values = shape.values, tokens = shape.tokens, divisors = normalise_rows ? 1 : 0;
  const double compress = tokens * values;
  if (order == TransOrder::values_first) return patches * (2 * features * (values + divisors) + compress);
  return patches * (2 * features * (tokens + divisors) + compress);
}

std::unique_ptr<Trans> make_trans(Options& options, const PatchGrid& grid, const TransShape& shape) {
  std::vector<std::string> names;
  for (const auto& entry : kernel_catalog()) names.push_back(entry.name);
  const std::string kernel = options.choice("kernel", names, "relu");
  if (kernel == "relu") return make_relu_trans(options, grid, shape);
  if (kernel == "softmax") return make_softmax_trans(options, grid, shape);
  if (kernel == "exp") return make_feature_trans(options, grid, shape, "exp", FeatureKind::exp);
  if (kernel == "trig") return make_feature_trans(options, grid, shape, "trig", FeatureKind::trig);
  if (kernel == "hybrid") return make_feature_trans(options, grid, shape, "hybrid", FeatureKind::hybrid);
  options.fail(text("kernel '", kernel, "' only scores patches; use relu, exp, trig, hybrid or softmax"));
}

}  // namespace iap
