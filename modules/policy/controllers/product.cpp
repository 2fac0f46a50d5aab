module;
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>
module iap.policy;
import iap.core;
import :internal;

namespace iap {
namespace {

/// What the options say, read before the base class needs the number of outputs: the pairs i < j of inputs in different groups,
/// ordered by i and then by j; then, with `squares`, each input with itself.
struct Products {
  Products(Options& options, const BlockContext& context)
      : squares(options.boolean("squares", false)),
        keep(options.boolean("keep", true)),
        scale(options.number_in("scale", 0, 1e6, 1)) {
    require_inputs(options, context);
    const std::int64_t inputs = context.inputs;
    std::int64_t left = inputs, count = (squares ? inputs : 0) + (keep ? inputs : 0);
    if (options.has("groups")) {
      groups = options.integers("groups");
    } else {
      checked_outputs(options, count + inputs * (inputs - 1) / 2);
      groups = options.integers("groups", std::vector<std::int64_t>(static_cast<std::size_t>(inputs), 1));
    }
    for (const std::int64_t size : groups) {
      if (size < 1 || size > left) options.fail(wrong_groups(options, inputs));
      left -= size;
      count += size * left;
    }
    if (left != 0) options.fail(wrong_groups(options, inputs));
    outputs = checked_outputs(options, count);
    if (count == 0) options.fail("has nothing to hand over: one group has no pairs; divide it, or take squares or keep");
    const auto kept = static_cast<std::size_t>(count - (keep ? inputs : 0));
    check_memory(text(options.owner(), ": what it multiplies"), static_cast<double>(kept * sizeof pairs.front()));
    pairs.reserve(kept);
    std::size_t i = 0, end = 0;
    const auto all = static_cast<std::size_t>(inputs);
    for (const std::int64_t size : groups)
      for (end += static_cast<std::size_t>(size); i < end; ++i)
        for (std::size_t j = end; j < all; ++j) pairs.emplace_back(i, j);
    for (i = 0; squares && i < all; ++i) pairs.emplace_back(i, i);
  }

  bool squares, keep;
  double scale;
  std::vector<std::int64_t> groups;
  std::vector<std::pair<std::size_t, std::size_t>> pairs;
  int outputs = 0;

 private:
  static std::string wrong_groups(Options& options, std::int64_t inputs) {
    return text("option 'groups' must be sizes of at least 1 that add up to the ", inputs, " inputs, got ",
                options.value("groups").describe());
  }
};

/// Its inputs unless `keep` is false, then products of two of them each. Options: groups (sizes of neighbouring groups; each input
/// by itself), squares (false), keep (true), scale (1).
class Product final : public Block {
 public:
  Product(Products products, const BlockContext& context) : Block(context, products.outputs), products_(std::move(products)) {}
  std::string_view kind() const override { return "product"; }
  std::string memory() const override { return ""; }
  std::string describe() const override {
    return text("products ", products_.pairs.size(), ", scale ", products_.scale, products_.keep ? ", beside the inputs" : "");
  }
  void forward(const Observation&, std::span<const float> in, std::span<float> out) override {
    if (products_.keep) {
      std::ranges::copy(in, out.begin());
      out = out.subspan(in.size());
    }
    constexpr double most = std::numeric_limits<float>::max();  // no input makes it infinite
    auto next = out.begin();
    for (const auto& [i, j] : products_.pairs)
      *next++ = static_cast<float>(std::clamp(products_.scale * static_cast<double>(in[i]) * in[j], -most, most));
  }

 private:
  Products products_;
};

}  // namespace

/// @lua function iap.policy.product
/// Hands over its input, then the products of two inputs each: what is linear behind it can weigh a torque, which is a cross
/// product of two places.
/// @option groups integer[] = (each input by itself) - sizes of neighbouring groups into which the inputs are divided; products are
/// of inputs of different groups, { 2, 2 }: of each of the first two with each of the last two
/// @option squares boolean = false - also of each input with itself
/// @option keep boolean = true - whether its input comes first
/// @option scale number 0..1e6 = 1 - of the products: those of places in [-1, 1] are small where hands must react strongly
/// @use policy.block
/// @return blueprint - without parameters
/// @example iap.policy.product { squares = true }
/// @see controllers.md#products
MadeBlock make_product(Options& options, const BlockContext& context, ParameterLayout&) {
  return std::make_unique<Product>(Products(options, context), context);
}

}  // namespace iap
