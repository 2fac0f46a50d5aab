module;
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "axes.hpp"
#include "dense.hpp"
module iap.optim;
import iap.core;
import :cma_covariance;
import :memory;

namespace iap {
namespace {

// With the Cholesky factor in place of the symmetric root, A^-1 times a step is the z it was drawn from: the step-size path needs
// no inverse, and a refresh costs n^3 / 3 operations where an eigendecomposition costs about 10 n^3. (Krause, Arbones, Igel 2016,
// "CMA-ES with optimal covariance update and storage complexity", use the same path.)
class FullCovariance : public Covariance {
 public:
  explicit FullCovariance(std::size_t parameters) : n_(parameters), matrix_(n_ * n_), factor_(n_ * n_) { FullCovariance::reset(); }

  void reset() override {
    std::ranges::fill(matrix_, 0.0);
    std::ranges::fill(factor_, 0.0);
    for (std::size_t i = 0; i < n_; ++i) matrix_[i * n_ + i] = factor_[i * n_ + i] = 1;
    axis_ratio_ = 1;
  }

  void transform(std::span<const double> z, std::span<double> y) override {
    dense::multiply_lower(factor_.data(), n_, z.data(), z.size() / n_, y.data(), workspace_);
  }

  void update(double keep, std::span<const double> weights, std::span<const double> y) override {
    dense::update_lower(matrix_.data(), n_, keep, y.data(), weights.data(), weights.size(), workspace_);
  }

  void refresh() override {
    // Rounding can make a matrix of extreme condition indefinite; the smallest lift of its diagonal that helps, keeps it usable.
    for (double lift = 0; !try_refresh(lift); lift = lift == 0 ? 1e-15 : 10 * lift) {
      if (!(lift < 1)) throw Error("cma_es: the covariance matrix is not finite; lower sigma");
    }
    axis_ratio_ = iap::axis_ratio(factor_.data(), n_);
  }

  double refresh_every(double learning_rate) const override { return 1 / (learning_rate * static_cast<double>(n_) * 10); }

  double variance(std::size_t i) const override { return matrix_[i * n_ + i]; }
  double factor(std::size_t row, std::size_t column) const override { return factor_[column * n_ + row]; }

  double axis_ratio() const override { return axis_ratio_; }

  void save(Writer& writer) const override {
    for (const auto* matrix : {&matrix_, &factor_})
      for (std::size_t j = 0; j < n_; ++j) writer.put_all(std::span(*matrix).subspan(j * n_ + j, n_ - j));
  }

  void load(Reader& reader) override {
    for (auto* matrix : {&matrix_, &factor_})
      for (std::size_t j = 0; j < n_; ++j) reader.get_into(std::span(*matrix).subspan(j * n_ + j, n_ - j));
    axis_ratio_ = iap::axis_ratio(factor_.data(), n_);
  }

 private:
  bool try_refresh(double lift) {
    double largest = 0;
    for (std::size_t i = 0; i < n_; ++i) largest = std::max(largest, matrix_[i * n_ + i]);
    for (std::size_t j = 0; j < n_; ++j) {
      matrix_[j * n_ + j] += lift * largest;
      std::copy_n(matrix_.begin() + j * n_ + j, n_ - j, factor_.begin() + j * n_ + j);
    }
    return dense::factor_lower(factor_.data(), n_, workspace_);
  }

  std::size_t n_;
  std::vector<double> matrix_, factor_;  ///< lower triangles, column-major; the strict upper ones are zero
  double axis_ratio_ = 1;                ///< of `factor_`
  dense::Workspace workspace_;
};

}  // namespace

std::unique_ptr<Covariance> make_full_covariance(std::size_t parameters) {
  const auto n = static_cast<double>(parameters);
  require_memory("cma_es", text("a covariance matrix of ", parameters, " parameters and its factor"), 2 * sizeof(double) * n * n,
                 "use sep_cma_es, whose memory grows linearly with the parameters");
  return std::make_unique<FullCovariance>(parameters);
}

}  // namespace iap
