#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstdint>
#include <vector>
import iap.core;
import iap.attention;

using namespace iap;

namespace {

// Mean of a stream of numbers, in units of its own standard error from `expected`.
struct Moment {
  double sum = 0, square = 0;
  int count = 0;
  void add(double value) {
    sum += value;
    square += value * value;
    ++count;
  }
  double z(double expected) const {
    const double mean = sum / count;
    return (mean - expected) / std::sqrt((square / count - mean * mean) / count);
  }
};

}  // namespace

TEST_CASE("orthogonal rows are orthogonal inside their block of d, independent across blocks") {
  for (const int d : {1, 2, 4, 7, 16}) {
    const int m = 2 * d + (d + 1) / 2;
    const Projections drawn = draw_projections(Ensemble::orthogonal, d, m, 0, 9);
    for (int i = 0; i < m; ++i)
      for (int j = 0; j < i; ++j) {
        double product = 0, norm_i = 0, norm_j = 0;
        for (int k = 0; k < d; ++k) {
          const double a = drawn.omega[i * d + k], b = drawn.omega[j * d + k];
          product += a * b;
          norm_i += a * a;
          norm_j += b * b;
        }
        const double cosine = product / std::sqrt(norm_i * norm_j);
        if (i / d == j / d)
          REQUIRE(std::abs(cosine) < 1e-6);
        else
          REQUIRE(std::abs(cosine) > 1e-6);
      }
  }
}

TEST_CASE("every row of either ensemble is marginally N(0, I)") {
  const int d = 4, m = 6, draws = 40000;
  for (const Ensemble ensemble : {Ensemble::iid, Ensemble::orthogonal}) {
    std::vector<Moment> first(m * d), second(m * d), fourth(m * d), mixed(m), squared_norm(m), squared_norm_variance(m);
    for (int n = 0; n < draws; ++n) {
      const Projections drawn = draw_projections(ensemble, d, m, 0, n);
      for (int i = 0; i < m; ++i) {
        const float* row = drawn.omega.data() + i * d;
        double square = 0;
        for (int k = 0; k < d; ++k) {
          const double w = row[k];
          first[i * d + k].add(w);
          second[i * d + k].add(w * w);
          fourth[i * d + k].add(w * w * w * w);
          square += w * w;
        }
        mixed[i].add(row[0] * row[1] + row[2] * row[3]);
        squared_norm[i].add(square);
        squared_norm_variance[i].add((square - d) * (square - d));
      }
    }
    for (int i = 0; i < m * d; ++i) {
      CHECK(std::abs(first[i].z(0)) < 4);
      CHECK(std::abs(second[i].z(1)) < 4);
      CHECK(std::abs(fourth[i].z(3)) < 4);
    }
    for (int i = 0; i < m; ++i) {
      CHECK(std::abs(mixed[i].z(0)) < 4);
      CHECK(std::abs(squared_norm[i].z(d)) < 4);
      CHECK(std::abs(squared_norm_variance[i].z(2.0 * d)) < 4);
    }
  }
}

TEST_CASE("exponential moments see no preferred direction: E exp(w . z) = exp(|z|^2 / 2) along every axis, both ways") {
  const int d = 4, draws = 100000;
  std::vector<Moment> moments(2 * d * d);
  for (int n = 0; n < draws; ++n) {
    const Projections drawn = draw_projections(Ensemble::orthogonal, d, d, 0, n);
    for (int i = 0; i < d; ++i)
      for (int k = 0; k < d; ++k) {
        moments[2 * (i * d + k)].add(std::exp(drawn.omega[i * d + k]));
        moments[2 * (i * d + k) + 1].add(std::exp(-drawn.omega[i * d + k]));
      }
  }
  for (const Moment& moment : moments) CHECK(std::abs(moment.z(std::exp(0.5))) < 4);
}

TEST_CASE("projections are a function of their seed; omega and xi differ; fewer rows are a prefix") {
  const Projections a = draw_projections(Ensemble::orthogonal, 5, 12, 12, 3),
                    b = draw_projections(Ensemble::orthogonal, 5, 7, 12, 3);
  CHECK(a.omega == draw_projections(Ensemble::orthogonal, 5, 12, 12, 3).omega);
  CHECK(a.omega != draw_projections(Ensemble::orthogonal, 5, 12, 12, 4).omega);
  CHECK(a.omega != a.xi);
  CHECK(a.xi == b.xi);
  CHECK(std::vector<float>(a.omega.begin(), a.omega.begin() + 35) == b.omega);
}
