module;
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>
/// What optimizers that move a mean keep and answer in the same way.
module iap.optim:mean_search;
import iap.core;
import :optimizer;
import :turn;

namespace iap {

/// Takes turns and holds the mean: in double precision for itself, in single precision as policies take it.
class MeanSearch : public Optimizer {
 public:
  std::string_view name() const final { return turn_.name(); }
  std::size_t parameters() const final { return turn_.parameters(); }
  std::size_t population() const final { return turn_.population(); }
  std::uint32_t iteration() const final { return turn_.iteration(); }
  std::span<const float> mean() const final { return std::span<const float>(rounded_); }

 protected:
  MeanSearch(std::string_view name, std::span<const float> initial, std::size_t population)
      : turn_(name, initial.size(), population), mean_(initial.begin(), initial.end()), rounded_(initial.begin(), initial.end()) {}

  /// Makes `mean()` follow `mean_`. @throws Error naming a parameter that diverged and advising `remedy`.
  void round_mean(std::string_view remedy) {
    round_parameters(name(), std::span<const double>(mean_), std::span<float>(rounded_), remedy);
  }
  /// The part of `adopt` that all kinds share: the turn and, for the same parameters, the mean.
  void go_on_from(const MeanSearch& before, bool same_parameters) {
    turn_.go_on_from(before.turn_);
    if (!same_parameters) return;
    mean_ = before.mean_;
    rounded_ = before.rounded_;
  }
  /// `before` as what `adopt` needs. @throws Error for an optimizer of another kind.
  template <typename Kind>
  const Kind& same_kind(const Optimizer& before) const {
    if (const auto* kind = dynamic_cast<const Kind*>(&before)) return *kind;
    throw Error(text(name(), ": cannot go on where an optimizer of the kind ", before.name(), " stands"));
  }
  /// `mean_` and `mean()` as `writer.put_all(mean_)` saved them.
  void load_mean(Reader& reader) {
    reader.get_into(std::span<double>(mean_));
    for (std::size_t i = 0; i < mean_.size(); ++i) rounded_[i] = static_cast<float>(mean_[i]);
  }

  Turn turn_;
  std::vector<double> mean_;

 private:
  std::vector<float> rounded_;
};

}  // namespace iap
