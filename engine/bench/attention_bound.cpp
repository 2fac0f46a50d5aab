module;
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>
module iap.bench;
import iap.core;
import iap.attention;
#include "attention_bound.hpp"

namespace iap {

FrameWork count_work(const Config& options, const PatchGrid& grid, int d) {
  const auto integer = [&](const char* key) {
    const auto* found = options.find(key);
    return found ? static_cast<double>(found->integer().value_or(0)) : 0.0;
  };
  const double patches = grid.count(), values = grid.values();
  const ImageShape& image = grid.image();
  FrameWork work;
  work.bytes = static_cast<double>(image.count()) * (image.type == PixelType::uint8 ? 1 : sizeof(float)) + patches * sizeof(float);
  const std::string& kernel = *options.find("kernel")->string();
  if (kernel == "relu") {
    work.fma = patches * (2 * d * values + 2 * d);
    return work;
  }
  if (kernel == "softmax") {
    work.fma = patches * (2 * d * values + patches * (d + 2));
    work.exp = patches * patches;
    return work;
  }
  // Queries and keys have no more dimensions than pixel values and a bias give them.
  const double n = std::min<double>(d, values + 1), m = integer("m"), r = integer("r");
  const bool trig = kernel != "exp", exp = kernel != "trig";
  const double features = m * ((trig ? 2 : 0) + (exp ? 1 : 0));
  work.fma = patches * 2 * (n * values + n * (m + r) + n + features * (1 + r));
  work.exp = patches * 2 * ((exp ? m : 0) + (trig ? 1 : 0));
  work.sine_cosine = patches * 2 * (trig ? m : 0);
  return work;
}

double least_time(const FrameWork& work, const MachineRates& rates) {
  const double arithmetic = work.fma / rates.fma + work.exp / rates.exp + work.sine_cosine / rates.sine_cosine;
  return 1e3 * std::max(arithmetic, work.bytes / rates.bytes);
}

}  // namespace iap
