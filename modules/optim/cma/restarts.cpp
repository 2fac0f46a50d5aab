module;
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>
module iap.optim;
import iap.core;
import :cma_restarts;

namespace iap {
namespace {

constexpr std::int64_t usual_growths = 9;

}  // namespace

Restarts::Restarts(Options& options, std::size_t population, double sigma)
    : first_population_(population),
      first_sigma_(sigma),
      spread_(options.number_in("restart_spread", 0, 1e6, sigma)),
      population_(population),
      sigma_(sigma) {
  const std::string name = options.choice("restarts", {"none", "ipop", "bipop"}, "none");
  policy_ = name == "ipop" ? Policy::ipop : name == "bipop" ? Policy::bipop : Policy::none;
  max_growths_ = static_cast<std::uint32_t>(options.integer_in("max_restarts", 0, 19, usual_growths));
  if (policy_ != Policy::none) return;
  // Defaults pass: they stand in every file, which has to rebuild.
  const char* idle = max_growths_ != usual_growths ? "max_restarts" : spread_ != sigma ? "restart_spread" : nullptr;
  if (idle)
    throw OptionError(text(options.owner(), ": option '", idle, "' is ", options.value(idle).describe(),
                           ", but without restarts it does nothing; set restarts = \"ipop\" or \"bipop\", or take it out"));
}

bool Restarts::next(Random& random) {
  if (policy_ == Policy::none) return false;
  // The first run, of the default population, belongs to neither regime.
  const std::uint64_t spent_small = spent_small_ + (small_ ? used_ : 0),
                      spent_large = spent_large_ + (!small_ && count_ > 0 ? used_ : 0);
  const bool small = policy_ == Policy::bipop && count_ > 0 && spent_small < spent_large;
  if (!small && growths_ == max_growths_) return false;
  if (!small_) last_large_ = used_;
  spent_small_ = spent_small;
  spent_large_ = spent_large;
  small ? shrink(random) : grow();
  small_ = small;
  used_ = 0;
  ++count_;
  return true;
}

void Restarts::grow() {
  ++growths_;
  population_ = first_population_ << growths_;
  sigma_ = first_sigma_;
  limit_ = 0;
}

void Restarts::shrink(Random& random) {
  const double ratio = 0.5 * static_cast<double>(first_population_ << growths_) / static_cast<double>(first_population_);
  const double share = random.uniform();
  population_ = static_cast<std::uint64_t>(static_cast<double>(first_population_) * std::pow(ratio, share * share));
  sigma_ = first_sigma_ * std::pow(10, -2 * random.uniform());
  limit_ = std::max<std::uint64_t>(population_, last_large_ / 2);
}

void Restarts::save(Writer& writer) const {
  for (const std::uint64_t value : {population_, used_, limit_, spent_large_, spent_small_, last_large_}) writer.put(value);
  writer.put(sigma_);
  writer.put(count_);
  writer.put(growths_);
  writer.put(static_cast<std::uint8_t>(small_));
}

void Restarts::load(Reader& reader) {
  for (std::uint64_t* value : {&population_, &used_, &limit_, &spent_large_, &spent_small_, &last_large_})
    *value = reader.get<std::uint64_t>();
  sigma_ = reader.get<double>();
  count_ = reader.get<std::uint32_t>();
  growths_ = reader.get<std::uint32_t>();
  small_ = reader.get<std::uint8_t>() != 0;
  if (!is_reachable())
    throw Error(text(reader.source(), ": holds a run of ", population_, " members after ", growths_, " of at most ",
                     policy_ == Policy::none ? 0 : max_growths_, " growths, which this schedule never has; the file is damaged"));
}

bool Restarts::is_reachable() const {
  if (!std::isfinite(sigma_) || sigma_ < 0) return false;
  if (policy_ == Policy::none) return population_ == first_population_ && growths_ == 0 && count_ == 0 && limit_ == 0 && !small_;
  if (growths_ > max_growths_ || growths_ > count_) return false;
  const std::uint64_t large = first_population_ << growths_;
  if (!small_) return population_ == large && limit_ == 0;
  return policy_ == Policy::bipop && population_ >= 2 && population_ <= large;
}

}  // namespace iap
