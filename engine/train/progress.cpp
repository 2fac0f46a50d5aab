module;
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <vector>
module iap.train;
import iap.core;
import :progress;
import :types;

namespace iap {
namespace {

std::string duration(double seconds) {
  const std::int64_t whole = std::lround(std::clamp(seconds, 0.0, 1e9));
  const std::string rest = ":" + zero_padded(whole % 60, 2);
  if (whole < 3600) return text(whole / 60, rest);
  return text(whole / 3600, ":", zero_padded(whole / 60 % 60, 2), rest);
}

void print(const std::string& line) {
  std::fwrite(line.data(), 1, line.size(), stderr);
  std::fflush(stderr);
}

std::string told(const std::string& line) { return one_line(line) + "\n"; }

class Quiet : public Progress {
 public:
  void start(std::uint32_t, int) override {}
  void update(const IterationReport&, double) override {}
  void end() override {}
  void note(const std::string&) override {}
  void warn(const std::string& line) override { print(told(line)); }
};

/// What is left out first where a line is too narrow, from the least on.
enum class Weight : std::uint8_t { speed, best, eval, bar, eta, best_eval, mean, count };

/// A part of the line; half a number would be another one.
struct Figure {
  std::string text;
  Weight weight;
};

std::string joined(const std::vector<Figure>& figures) {
  std::string line;
  for (const Figure& figure : figures)
    // The bar and the count that it shows stand together.
    line += (line.empty() ? "" : line.back() == ']' ? " " : "  ") + figure.text;
  return line;
}

/// The figures that both kinds of progress show, and the time that is left.
class Figures : public Progress {
 public:
  void start(std::uint32_t iteration, int iterations) override {
    first_ = iteration;
    iterations_ = static_cast<std::uint32_t>(iterations);
    begin_ = Clock::now();
  }

 protected:
  /// What there is to show, as it stands in the line.
  std::vector<Figure> figures(const IterationReport& report, double best_eval) {
    if (report.evaluated) eval_ = short_number(report.eval_mean);
    const std::uint32_t done = report.iteration - first_, left = iterations_ - std::min(report.iteration, iterations_);
    const bool played = report.iteration > 0;
    std::vector<Figure> shown;
    if (played) shown.push_back({"return " + short_number(report.return_mean), Weight::mean});
    if (played) shown.push_back({"best " + short_number(report.return_best), Weight::best});
    if (!eval_.empty()) shown.push_back({"eval " + eval_, Weight::eval});
    if (!eval_.empty()) shown.push_back({"best eval " + short_number(best_eval), Weight::best_eval});
    if (played) shown.push_back({short_number(report.steps_per_second) + " steps/s", Weight::speed});
    if (played && left && done) shown.push_back({"ETA " + duration(seconds_since(begin_) / done * left), Weight::eta});
    return shown;
  }
  std::string count(std::uint32_t iteration) const { return text(iteration, "/", iterations_); }
  double share(std::uint32_t iteration) const {
    return iterations_ ? std::min(1.0, static_cast<double>(iteration) / static_cast<double>(iterations_)) : 1;
  }

 private:
  std::uint32_t first_ = 0, iterations_ = 0;
  Clock::time_point begin_;
  std::string eval_;
};

class Terminal : public Figures {
 public:
  ~Terminal() override { Terminal::end(); }
  void start(std::uint32_t iteration, int iterations) override {
    Figures::start(iteration, iterations);
    draw(iteration, {});
  }
  void update(const IterationReport& report, double best_eval) override { draw(report.iteration, figures(report, best_eval)); }
  void end() override {
    if (open_) print("\n");
    open_ = false;
  }
  void note(const std::string& line) override { print((open_ ? "\r\x1b[K" : "") + told(line) + (open_ ? line_ : "")); }

 private:
  static std::size_t columns() {
    winsize size{};
    return ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1 ? size.ws_col - 1U : std::string::npos;
  }

  Figure bar(std::uint32_t iteration, std::size_t length) const {
    const auto full = static_cast<std::size_t>(share(iteration) * static_cast<double>(length));
    return {"[" + std::string(full, '#') + std::string(length - full, '-') + "]", Weight::bar};
  }

  void draw(std::uint32_t iteration, std::vector<Figure> shown) {
    constexpr std::size_t long_bar = 20, short_bar = 10;
    const std::size_t most = columns();
    shown.insert(shown.begin(), {bar(iteration, long_bar), {count(iteration), Weight::count}});
    if (joined(shown).size() > most) shown.front() = bar(iteration, short_bar);
    while (joined(shown).size() > most) shown.erase(std::ranges::min_element(shown, {}, &Figure::weight));
    line_ = joined(shown);
    print("\r" + line_ + "\x1b[K");
    open_ = true;
  }

  bool open_ = false;
  std::string line_;
};

class Plain : public Figures {
 public:
  void update(const IterationReport& report, double best_eval) override {
    constexpr double quiet_seconds = 5;
    const std::string line = joined(figures(report, best_eval));
    if (!report.evaluated && printed_ && seconds_since(last_) < quiet_seconds) return;
    print("iteration " + count(report.iteration) + "  " + line + "\n");
    printed_ = true;
    last_ = Clock::now();
  }
  void end() override {}
  void note(const std::string& line) override { print(told(line)); }

 private:
  bool printed_ = false;
  Clock::time_point last_;
};

/// A terminal that says of itself that it is dumb, or does not say what it is, may be unable to erase what it shows.
bool can_draw_again() {
  const char* kind = std::getenv("TERM");
  return ::isatty(STDERR_FILENO) && kind && *kind && std::string_view(kind) != "dumb";
}

}  // namespace

std::string short_number(double value) {
  return std::abs(value) >= 1000 && std::abs(value) < 1e7 ? fixed_text(value, 0) : general_text(value, 4);
}

std::unique_ptr<Progress> make_progress(bool quiet) {
  if (quiet) return std::make_unique<Quiet>();
  if (can_draw_again()) return std::make_unique<Terminal>();
  return std::make_unique<Plain>();
}

}  // namespace iap
