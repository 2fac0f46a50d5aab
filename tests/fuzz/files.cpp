#include <algorithm>
#include <array>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "targets.hpp"
import iap.core;
import iap.env;
import iap.npz;
import iap.policy;
import iap.render;
import iap.report;
import iap.train;

#include "../train/fake_env.hpp"

namespace fuzz {
namespace {

using namespace iap;

constexpr const char* source = "input";
/// Larger pictures are well read, but take longer than there is to learn from them.
constexpr std::size_t most_bytes = std::size_t{1} << 20;

/// Whatever it sees, all zeros, once.
void act_once(Policy& policy) {
  const ObservationSpec& spec = policy.observation();
  std::size_t bytes = 0;
  for (const auto& image : spec.images) bytes += image.shape.bytes();
  if (bytes > most_bytes) return;
  std::vector<Image> images;
  std::vector<ImageView> views;
  for (const auto& image : spec.images) images.emplace_back(image.shape);
  for (const auto& image : images) views.push_back(image.view());
  const std::vector<float> vector(static_cast<std::size_t>(spec.vector));
  policy.reset(1);
  policy.act({views, vector});
}

/// A small training by one of the optimizers.
class Training {
 public:
  explicit Training(unsigned char choice) : optimizer_(choice % std::size(optimizers)) {}

  void run(const std::filesystem::path& folder, int iterations) const {
    TrainOptions options;
    options.make_env = fake_envs();
    options.policy = optimizer_ == 0 ? fake_policy() : parse_json(normalised, "policy");
    options.optimizer = parse_json(optimizers[optimizer_], "optimizer");
    options.iterations = iterations;
    options.eval_episodes = 1;
    options.confirm_episodes = 0;
    options.threads = 1;
    options.seed = 9;
    options.resume = true;
    options.quiet = true;
    options.out = folder;
    train(options);
  }

  /// That of the first iteration.
  const std::string& checkpoint(const std::filesystem::path& folder) const {
    static std::array<std::string, std::size(optimizers)> made;
    std::string& mine = made[optimizer_];
    if (mine.empty()) {
      run(folder, 1);
      mine = read_file(folder / "checkpoint.iap");
      std::filesystem::remove_all(folder);
      std::filesystem::create_directories(folder);
    }
    return mine;
  }

 private:
  static constexpr const char* optimizers[]{
      R"({"population": 4, "learning_rate": 0.1})",
      R"({"population": 4, "optimizer": "clipup", "plateau": {"patience": 1}})",
      R"({"kind": "cma_es", "population": 4, "restarts": "ipop", "max_restarts": 2, "tol_fun": 1000})",
      R"({"kind": "sep_cma_es", "population": 4, "restarts": "bipop", "max_restarts": 2, "tol_fun": 1000})",
      R"({"kind": "cma_es", "population": 4})",
      R"({"kind": "pgpe", "population": 4})",
      R"({"kind": "ars", "population": 4})",
      R"({"kind": "simple_ga", "population": 4})",
  };
  static constexpr const char* normalised =
      R"({"kind": "sequence", "blocks": [{"kind": "normalise"}, {"kind": "linear", "activation": "tanh"}]})";

  std::size_t optimizer_;
};

}  // namespace

void play_policy(std::string_view input) {
  try {
    load_policy(input, source);
  } catch (const Error&) {
  }
  try {
    PolicyFile file = load_policy(resealed(input), source);
    act_once(file.policy);
    // What was read can be written, and read again.
    load_policy(save_policy(file.policy, file.metadata), "written");
  } catch (const Error&) {
  }
}

/// A text as it is, or a true checkpoint with changes (`edited`); its first byte names the optimizer.
void play_checkpoint(std::string_view input) {
  const auto folder = scratch_file("empty", "").parent_path() / "training";
  const bool whole = input.starts_with("IAP");
  const Training training(input.empty() || whole ? 0 : static_cast<unsigned char>(input.front()));
  std::filesystem::create_directories(folder);
  const std::string checkpoint =
      whole ? std::string(input) : edited(training.checkpoint(folder), input.substr(std::min<std::size_t>(1, input.size())));
  std::ofstream(folder / "checkpoint.iap", std::ios::binary) << resealed(checkpoint);
  try {
    training.run(folder, 3);
  } catch (const Error&) {
  }
  std::filesystem::remove_all(folder);
}

/// The texts of a run's folder, a zero byte between them: config.json, metrics.csv, result.json, experiment.lua.
void play_run(std::string_view input) {
  const auto folder = scratch_file("empty", "").parent_path() / "run";
  std::filesystem::create_directories(folder);
  ObservationSpec seen{.vector = 2};
  write_policy_file(folder / "best.iap", Policy(fake_policy(), seen, 2), {});
  for (const char* name : {"config.json", "metrics.csv", "result.json", "experiment.lua"}) {
    const auto end = std::min(input.find('\0'), input.size());
    std::ofstream(folder / name, std::ios::binary) << input.substr(0, end);
    input.remove_prefix(std::min(end + 1, input.size()));
  }
  const std::vector<std::filesystem::path> runs{folder};
  try {
    write_report(runs, folder / "report.html", {.pictures = false});
  } catch (const Error&) {
  }
  try {
    (void)run_state(folder);
  } catch (const Error&) {
  }
  std::filesystem::remove_all(folder);
}

void play_npz(std::string_view input) {
  try {
    const auto arrays = parse_npz(input, source);
    const auto written = format_npz(arrays);
    parse_npz(written, "written");
    for (const auto& array : arrays) (void)find_npz(written, array.name, "written");
  } catch (const Error&) {
  }
  try {
    parse_npy(format_npy(parse_npy(input, source)), "written");
  } catch (const Error&) {
  }
}

void play_metrics(std::string_view input) {
  try {
    const Table table = read_table(scratch_file("metrics.csv", input));
    for (const auto& column : table.columns) table.column(column);
  } catch (const Error&) {
  }
}

void play_picture(std::string_view input) {
  for (const char* name : {"picture.png", "picture.jpg"}) try {
      (void)read_image(scratch_file(name, input));
    } catch (const Error&) {
    }
}

}  // namespace fuzz
