module;
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <span>
#include <vector>
module iap.optim;
import iap.core;
import :cma_covariance;

namespace iap {
namespace {

class DiagonalCovariance : public Covariance {
 public:
  explicit DiagonalCovariance(std::size_t parameters) : variances_(parameters, 1.0), deviations_(parameters, 1.0) {}

  void reset() override {
    std::ranges::fill(variances_, 1.0);
    std::ranges::fill(deviations_, 1.0);
  }

  void transform(std::span<const double> z, std::span<double> y) override {
    for (std::size_t k = 0; k < z.size(); k += variances_.size())
      for (std::size_t i = 0; i < variances_.size(); ++i) y[k + i] = deviations_[i] * z[k + i];
  }

  void update(double keep, std::span<const double> weights, std::span<const double> y) override {
    for (double& variance : variances_) variance *= keep;
    for (std::size_t k = 0; k < weights.size(); ++k) {
      const auto column = y.subspan(k * variances_.size(), variances_.size());
      for (std::size_t i = 0; i < variances_.size(); ++i) variances_[i] += weights[k] * column[i] * column[i];
    }
  }

  void refresh() override {
    for (std::size_t i = 0; i < variances_.size(); ++i) {
      if (!(variances_[i] > 0) || !std::isfinite(variances_[i]))
        throw Error(text("sep_cma_es: the variance of parameter ", i + 1, " became ", variances_[i], "; lower sigma"));
      deviations_[i] = std::sqrt(variances_[i]);
    }
  }

  double refresh_every(double) const override { return 0; }
  double variance(std::size_t i) const override { return variances_[i]; }
  double factor(std::size_t row, std::size_t column) const override { return row == column ? deviations_[row] : 0; }
  double axis_ratio() const override {
    const auto [low, high] = std::ranges::minmax(deviations_);
    return high / low;
  }

  void save(Writer& writer) const override { writer.put_all(std::span<const double>(variances_)); }
  void load(Reader& reader) override {
    reader.get_into(std::span<double>(variances_));
    refresh();
  }

 private:
  std::vector<double> variances_, deviations_;
};

}  // namespace

std::unique_ptr<Covariance> make_diagonal_covariance(std::size_t parameters) {
  return std::make_unique<DiagonalCovariance>(parameters);
}

}  // namespace iap
