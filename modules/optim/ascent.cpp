module;
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>
module iap.optim;
import iap.core;
import :ascent;
import :turn;

namespace iap {
namespace {

class Adam : public Ascent {
 public:
  Adam(Options& options, std::size_t parameters)
      : beta1_(options.number_in("beta1", 0, 0.999999, 0.9)),
        beta2_(options.number_in("beta2", 0, 0.999999999, 0.999)),
        epsilon_(options.number_in("epsilon", 1e-300, 1, 1e-8)),
        first_(parameters),
        second_(parameters) {}

  void step(std::span<const double> gradient, double learning_rate, std::span<double> parameters) override {
    ++steps_;
    const double bias1 = 1 - std::pow(beta1_, static_cast<double>(steps_));
    const double bias2 = 1 - std::pow(beta2_, static_cast<double>(steps_));
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      first_[i] = beta1_ * first_[i] + (1 - beta1_) * gradient[i];
      second_[i] = beta2_ * second_[i] + (1 - beta2_) * gradient[i] * gradient[i];
      parameters[i] += learning_rate * (first_[i] / bias1) / (std::sqrt(second_[i] / bias2) + epsilon_);
    }
  }

  void save(Writer& writer) const override {
    writer.put(steps_);
    writer.put_all(std::span<const double>(first_));
    writer.put_all(std::span<const double>(second_));
  }

  void load(Reader& reader) override {
    steps_ = reader.get<std::uint64_t>();
    reader.get_into(std::span<double>(first_));
    reader.get_into(std::span<double>(second_));
  }

 private:
  double beta1_, beta2_, epsilon_;
  std::uint64_t steps_ = 0;
  std::vector<double> first_, second_;
};

class Sgd : public Ascent {
 public:
  Sgd(Options& options, std::size_t parameters)
      : momentum_(options.number_in("momentum", 0, 0.999999, 0.9)), velocity_(parameters) {}

  void step(std::span<const double> gradient, double learning_rate, std::span<double> parameters) override {
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      velocity_[i] = momentum_ * velocity_[i] + (1 - momentum_) * gradient[i];
      parameters[i] += learning_rate * velocity_[i];
    }
  }

  void save(Writer& writer) const override { writer.put_all(std::span<const double>(velocity_)); }
  void load(Reader& reader) override { reader.get_into(std::span<double>(velocity_)); }

 private:
  double momentum_;
  std::vector<double> velocity_;
};

// Toklu, Liskowski, Srivastava 2020, "ClipUp: a simple and powerful optimizer for distribution-based policy evolution",
// algorithm 1.
class ClipUp : public Ascent {
 public:
  ClipUp(Options& options, std::size_t parameters)
      : momentum_(options.number_in("momentum", 0, 0.999999, 0.9)),
        max_speed_(options.number_in("max_speed", 1e-6, 1e6, 2)),
        velocity_(parameters) {}

  void step(std::span<const double> gradient, double learning_rate, std::span<double> parameters) override {
    const double length = norm(gradient);
    const double scale = length > 0 ? learning_rate / length : 0;
    for (std::size_t i = 0; i < parameters.size(); ++i) velocity_[i] = momentum_ * velocity_[i] + scale * gradient[i];
    const double speed = norm(velocity_), limit = max_speed_ * learning_rate;
    const double clip = speed > limit ? limit / speed : 1;
    for (std::size_t i = 0; i < parameters.size(); ++i) parameters[i] += velocity_[i] *= clip;
  }

  void save(Writer& writer) const override { writer.put_all(std::span<const double>(velocity_)); }
  void load(Reader& reader) override { reader.get_into(std::span<double>(velocity_)); }

 private:
  double momentum_, max_speed_;
  std::vector<double> velocity_;
};

}  // namespace

void copy_moments(const Ascent& before, Ascent& ascent) {
  Writer writer;
  before.save(writer);
  const std::string state = writer.bytes();
  Reader reader(state, "ascent");
  ascent.load(reader);
}

const std::vector<std::string>& ascent_names() {
  static const std::vector<std::string> names = {"adam", "sgd", "clipup"};
  return names;
}

/// @lua options optim.step
/// The gradient step of es and pgpe.
/// @option optimizer "adam"|"sgd"|"clipup" = "adam" - how the mean follows the gradient; clipup: Toklu et al. 2020
/// @option beta1 number 0..0.999999 = 0.9 - of adam
/// @option beta2 number 0..0.999999999 = 0.999 - of adam
/// @option epsilon number 1e-300..1 = 1e-8 - of adam
/// @option momentum number 0..0.999999 = 0.9 - of sgd and clipup
/// @option max_speed number 1e-6..1e6 = 2 - of clipup: longest step, in learning rates
std::unique_ptr<Ascent> make_ascent(const std::string& name, Options& options, std::size_t parameters) {
  for (const char* of_adam : {"beta1", "beta2", "epsilon"}) options.goes_with(of_adam, "optimizer = \"adam\"");
  options.goes_with("momentum", "optimizer = \"sgd\" or \"clipup\"");
  options.goes_with("max_speed", "optimizer = \"clipup\"");
  if (name == "adam") return std::make_unique<Adam>(options, parameters);
  if (name == "clipup") return std::make_unique<ClipUp>(options, parameters);
  return std::make_unique<Sgd>(options, parameters);
}

}  // namespace iap
