#pragma once
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

/// What reads the files and texts of strangers, one function each: it takes any bytes, and what it cannot read must end in
/// iap::Error. Anything else - another exception, a signal, a report of a sanitizer, an end of the process - is a defect.
namespace fuzz {

struct Target {
  std::string_view name;
  void (*play)(std::string_view input);
};

/// All of them, by name. Their seeds and what was found lie in tests/corpus/NAME.
std::span<const Target> targets();
/// Null for a name that is none.
const Target* find_target(std::string_view name);

void play_policy(std::string_view input);
void play_checkpoint(std::string_view input);
void play_json(std::string_view input);
void play_table(std::string_view input);
void play_options(std::string_view input);
void play_run(std::string_view input);
void play_set(std::string_view input);
void play_npz(std::string_view input);
void play_wad(std::string_view input);
void play_metrics(std::string_view input);
void play_mjcf(std::string_view input);
void play_urdf(std::string_view input);
void play_picture(std::string_view input);
void play_obj(std::string_view input);
void play_capi(std::string_view input);

/// A file of this process in memory that holds `content`; the same one for the same name.
std::filesystem::path scratch_file(const std::string& name, std::string_view content);

/// `file` with what `changes` says: where, in two bytes; how many bytes more than one, in three bits of a byte; and those.
std::string edited(std::string file, std::string_view changes);

/// A sealed file whose length and checksum fit whatever was done to the rest, so that what lies behind them is reached.
std::string resealed(std::string_view file);

}  // namespace fuzz
