#pragma once
#include <filesystem>
#include <string>

namespace iap::cli {

/// Episodes that failed and count as `failed_return` in a run's figures.
struct FailedEpisodes {
  double training = 0, best = 0, confirmed = 0;  ///< in its populations, its best evaluation and that one's confirmation

  bool any() const { return training > 0 || best > 0 || confirmed > 0; }
  FailedEpisodes& operator+=(const FailedEpisodes& other);
  /// "12 in training, 3 in best evaluations": those that there are.
  std::string places() const;
};

/// Of the first `iterations` iterations of a run. None where its files tell of none, or cannot be read.
FailedEpisodes failed_episodes(const std::filesystem::path& folder, int iterations);

}  // namespace iap::cli
