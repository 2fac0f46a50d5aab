module;
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <vector>
module iap.optim;
import iap.core;
import :memory;
import :turn;

namespace iap {

std::string current_optimizer_name(std::string_view name);

Turn::Turn(std::string_view name, std::size_t parameters, std::size_t population)
    : name_(name), parameters_(parameters), population_(population) {
  require_memory(name, text("a population of ", population, " x ", parameters, " parameters"),
                 sizeof(float) * static_cast<double>(population) * static_cast<double>(parameters), "lower population");
}

void Turn::ask(std::size_t size) {
  if (size != population_ * parameters_)
    throw Error(text(name_, ": ask needs room for ", population_, " x ", parameters_, " values, got ", size));
  asked_ = true;
}

void Turn::check_member(std::size_t k, std::size_t size) const {
  if (k >= population_) throw Error(text(name_, ": there is no member ", k, ", the population has ", population_));
  if (size != parameters_) throw Error(text(name_, ": a member has ", parameters_, " values, got room for ", size));
}

void Turn::check_tell(std::size_t size) const {
  if (!asked_) throw Error(text(name_, ": tell without a population; call ask first"));
  if (size != population_) throw Error(text(name_, ": tell needs the fitness of ", population_, " members, got ", size));
}

void Turn::told() {
  asked_ = false;
  ++iteration_;
}

void Turn::save(Writer& writer) const {
  writer.put_string(name_);
  writer.put(std::uint64_t{population_});
  writer.put(iteration_);
  writer.put(static_cast<std::uint8_t>(asked_));
}

void Turn::load(Reader& reader) {
  if (const auto kind = reader.get_string(); current_optimizer_name(kind) != name_)
    throw Error(text(reader.source(), ": holds the state of the optimizer '", kind, "', not of '", name_, "'"));
  if (const auto members = reader.get<std::uint64_t>(); members != population_)
    throw Error(text(reader.source(), ": holds a population of ", members, ", this optimizer has ", population_));
  iteration_ = reader.get<std::uint32_t>();
  asked_ = reader.get<std::uint8_t>() != 0;
}

void order_best_first(std::string_view owner, std::span<const double> fitness, std::vector<std::uint32_t>& order) {
  if (std::ranges::all_of(fitness, [](double value) { return std::isnan(value); }))
    throw Error(text(owner, ": the fitness of all ", fitness.size(), " members is NaN"));
  order.resize(fitness.size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::sort(order, [&](std::uint32_t a, std::uint32_t b) {
    const bool a_nan = std::isnan(fitness[a]), b_nan = std::isnan(fitness[b]);
    if (a_nan != b_nan) return b_nan;
    if (!a_nan && fitness[a] != fitness[b]) return fitness[a] > fitness[b];
    return a < b;
  });
}

void round_parameters(std::string_view owner, std::span<const double> values, std::span<float> out, std::string_view remedy) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    out[i] = static_cast<float>(values[i]);
    if (!std::isfinite(out[i])) throw Error(text(owner, ": parameter ", i + 1, " diverged to ", values[i], "; ", remedy));
  }
}

double norm(std::span<const double> values) {
  double square = 0;
  for (const double value : values) square += value * value;
  return std::sqrt(square);
}

}  // namespace iap
