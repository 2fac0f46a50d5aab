module;
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <ostream>
#include <span>
#include <string>
#include <utility>
#include <vector>
module iap.bench;
import iap.core;
import iap.attention;
#include "attention_bound.hpp"
#include "bench.hpp"

namespace iap {
namespace {

struct Case {
  int height, width, patch, stride;
  PatchGrid grid() const { return PatchGrid({height, width, 3, PixelType::uint8}, patch, stride, "bench"); }
};

struct Kernel {
  std::string label;
  Config options;
};

// The quadratic kernel takes seconds per frame beyond this many patches.
constexpr int largest_quadratic = 20000;

// Every kernel of the catalog, those of random features with their usual numbers of them.
const std::vector<Kernel>& kernels() {
  static const std::vector<Kernel> table = [] {
    std::vector<Kernel> rows;
    for (const auto& entry : kernel_catalog()) {
      Kernel row{entry.name, Config::Map{{"kernel", entry.name}}};
      if (entry.features) {
        row.label += text(" (", entry.features->m, entry.features->kind == FeatureKind::hybrid ? ", 5)" : ")");
        row.options["m"] = entry.features->m;
        if (entry.features->kind == FeatureKind::hybrid) row.options["r"] = 5;
      }
      rows.push_back(std::move(row));
    }
    return rows;
  }();
  return table;
}

KernelWork count_work(const Config& options, const PatchGrid& grid, int d) {
  Options reader("bench", options);
  return kernel_work(reader, grid, d);
}

Timing time_scorer(const PatchGrid& grid, int d, const Config& options, double seconds) {
  Image image(grid.image());
  Random random(1);
  for (auto& byte : image.bytes()) byte = static_cast<std::uint8_t>(random.bits());
  Options reader("bench", options);
  const auto scorer = make_scorer(reader, grid, d);
  const std::size_t size = static_cast<std::size_t>(grid.values()) * d;
  std::vector<float> weights(2 * size), scores(static_cast<std::size_t>(grid.count()));
  random.fill_normal(weights);
  for (float& weight : weights) weight /= std::sqrt(static_cast<float>(grid.values()));
  scorer->bind({std::span(weights).first(size), std::span(weights).last(size), {}, {}});
  return measure(seconds, [&] { scorer->score(image.view(), -0.5f, scores); });
}

void print_rates(std::ostream& out, const MachineRates& rates) {
  out << "one core, best seen: " << fixed_text(2e-9 * rates.fma, 1) << " GFLOP/s of multiply-adds, "
      << fixed_text(1e-9 * rates.exp, 1) << " G exp/s, " << fixed_text(1e-9 * rates.sine_cosine, 1) << " G pairs of sin and cos/s, "
      << fixed_text(1e-9 * rates.bytes, 1) << " GB/s read\n";
}

void print_frame_times(std::ostream& out, const MachineRates& rates) {
  out << left_text("image, patch, stride", 20) << right_text("L", 8) << right_text("d", 4) << right_text("kernel", 16)
      << right_text("median ms", 11) << right_text("p99 ms", 10) << right_text("least cpu ms", 14) << right_text("bound ms", 10)
      << right_text("median/bound", 14) << right_text("least cpu/bound", 17) << "\n";
  std::map<std::string, double> at_19200;
  for (const Case& one : {Case{96, 96, 7, 4}, Case{100, 100, 4, 4}, Case{32, 32, 1, 1}, Case{240, 320, 2, 2}, Case{240, 320, 1, 1},
                          Case{480, 640, 1, 1}})
    for (const int d : {4, 16})
      for (const auto& [label, options] : kernels()) {
        const PatchGrid grid = one.grid();
        if (*options.find("kernel")->string() == "softmax" && grid.count() > largest_quadratic) continue;
        const Timing timing = time_scorer(grid, d, options, 0.5);
        const double bound = least_time(count_work(options, grid, d), rates);
        if (grid.count() == 19200 && d == 4) at_19200[label] = timing.processor;
        out << left_text(text(one.height, " x ", one.width, ", ", one.patch, ", ", one.stride), 20)
            << right_text(text(grid.count()), 8) << right_text(text(d), 4) << right_text(label, 16)
            << right_text(fixed_text(timing.median, 4), 11);
        out << right_text(fixed_text(timing.p99, 4), 10) << right_text(fixed_text(timing.processor, 4), 14)
            << right_text(fixed_text(bound, 4), 10) << right_text(fixed_text(timing.median / bound, 2), 14)
            << right_text(fixed_text(timing.processor / bound, 2), 17) << std::endl;
      }
  out << "L = 19200, d = 4: softmax takes " << fixed_text(at_19200["softmax"] / at_19200["hybrid (10, 5)"], 0)
      << " times as long as hybrid (10, 5)\n";
}

// The slope of log(time) over log(L), by least squares.
double growth_exponent(const std::vector<std::pair<double, double>>& points) {
  double mean_x = 0, mean_y = 0, xy = 0, xx = 0;
  for (const auto& [patches, time] : points) {
    mean_x += std::log(patches) / static_cast<double>(points.size());
    mean_y += std::log(time) / static_cast<double>(points.size());
  }
  for (const auto& [patches, time] : points) {
    xy += (std::log(patches) - mean_x) * (std::log(time) - mean_y);
    xx += (std::log(patches) - mean_x) * (std::log(patches) - mean_x);
  }
  return xy / xx;
}

void print_growth(std::ostream& out) {
  out << "growth of the processor time with L (2 x 2 patches, stride 2, d = 4), as an exponent of L:";
  for (const auto& [label, options] : kernels()) {
    std::vector<std::pair<double, double>> points;
    for (int scale = 1; scale <= 16; scale *= 2) {
      const PatchGrid grid = Case{60 * scale, 80 * scale, 2, 2}.grid();
      if (*options.find("kernel")->string() == "softmax" && grid.count() > largest_quadratic) continue;
      points.emplace_back(grid.count(), time_scorer(grid, 4, options, 0.3).processor);
    }
    out << " " << label << " " << fixed_text(growth_exponent(points), 3) << ";";
  }
  out << "\n";
}

void print_threads(std::ostream& out) {
  out << "threads that share a frame, median ms by the clock:\n";
  for (const Case& one : {Case{240, 320, 2, 2}, Case{480, 640, 1, 1}})
    for (auto [label, options] : kernels()) {
      if (label != "relu" && label != "hybrid (10, 5)") continue;
      out << text(one.height, " x ", one.width, ", ", one.patch, ", ", one.stride, ", d = 4, ", label, ":");
      for (int threads = 1; threads <= std::min(hardware_threads(), 8); threads *= 2) {
        options["threads"] = threads;
        out << "  " << threads << ": " << fixed_text(time_scorer(one.grid(), 4, options, 0.3).median, 3);
      }
      out << "\n";
    }
}

}  // namespace

void bench_attention(std::ostream& out) {
  const MachineRates rates = measure_rates(2);
  print_rates(out, rates);
  print_frame_times(out, rates);
  print_growth(out);
  print_threads(out);
}

}  // namespace iap
