#pragma once
#include <optional>
#include <string>
import iap.core;

namespace iap {

/// Sets an option of iap.train, or takes it out. What iap keeps of a file goes when another one is named. A name that nobody knows
/// is told: here, or by its reader, for whom what takes out what is not there stays as a null.
/// @throws Error.
void override_training(Config& options, const std::string& path, const std::string& value);

/// Where an override leads in the options of what is written in Lua: "physics.strength" for "env.physics.strength", or "".
std::string place_of_override(const Config& options, const std::string& path);

/// Why iap.train refuses an override.
struct TrainingRefusal {
  std::string message;
  bool unknown = false;  ///< it knows no such option
  bool guessed = false;  ///< and the message says what was perhaps meant
};

/// Of an override that iap.train refuses whatever else it is given. Of what lies deeper, which depends on what the script gives,
/// the name of the option alone counts.
std::optional<TrainingRefusal> training_refusal(const std::string& path, const std::string& value);

}  // namespace iap
