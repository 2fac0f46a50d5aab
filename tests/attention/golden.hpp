// The estimators of the softmax kernel by their formulas, without any feature map.
#pragma once
#include <cmath>
#include <vector>
import iap.core;
import iap.attention;

using namespace iap;

// The three estimators as sums over projections, without any feature.
struct Golden {
  double exp = 0, trig = 0, angular = 0;
  double hybrid() const { return (1 - angular) / 2 * exp + (1 + angular) / 2 * trig; }
};

inline Golden golden(const Projections& projections, const std::vector<double>& x, const std::vector<double>& y) {
  Golden result;
  const int d = projections.d;
  double lengths = 0;
  for (int k = 0; k < d; ++k) lengths += (x[k] * x[k] + y[k] * y[k]) / 2;
  for (int i = 0; i < projections.m; ++i) {
    double of_sum = 0, of_difference = 0;
    for (int k = 0; k < d; ++k) {
      of_sum += projections.omega[i * d + k] * (x[k] + y[k]);
      of_difference += projections.omega[i * d + k] * (x[k] - y[k]);
    }
    result.exp += std::exp(of_sum - lengths) / projections.m;
    result.trig += std::exp(lengths) * std::cos(of_difference) / projections.m;
  }
  for (int j = 0; j < projections.r; ++j) {
    double a = 0, b = 0;
    for (int k = 0; k < d; ++k) {
      a += projections.xi[j * d + k] * x[k];
      b += projections.xi[j * d + k] * y[k];
    }
    result.angular += ((a < 0) == (b < 0) ? 1.0 : -1.0) / projections.r;
  }
  return result;
}
