module;
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>
module iap.train;
import iap.core;
import iap.optim;
import iap.policy;
import :checkpoint;
import :run_state;
#include "core/there.hpp"

namespace iap {
namespace {

constexpr std::string_view magic = "IAPCHECK";
/// The second version ends with the policy that the run began at and with moments, the third besides with the failed episodes of
/// the best evaluation; each run writes the first that holds what it has, which older programs read.
constexpr std::uint32_t version = 1, longer_version = 2, longest_version = 3;
constexpr const char* newest_name = "checkpoint.iap";
constexpr const char* previous_name = "checkpoint.previous.iap";

/// Makes checkpoint.iap known as checkpoint.previous.iap too, without a moment in which either name is missing.
void keep_previous(const std::filesystem::path& folder) {
  const auto newest = folder / newest_name, previous = folder / previous_name;
  if (!is_there(newest)) return;
  std::error_code error;
  // Of no longer name than the files have, as those are known to fit.
  const auto link = folder / "checkpoint.part";
  std::filesystem::remove(link, error);
  // Of a symbolic link the file, not the link once more.
  const auto file = std::filesystem::canonical(newest, error);
  if (!error) std::filesystem::create_hard_link(file, link, error);
  // File systems without hard links take the rename: for a moment the previous checkpoint is the only one.
  std::filesystem::rename(error ? newest : link, previous, error);
  if (error) throw Error(text("cannot write '", previous.string(), "': ", error.message()));
  // Renaming one link of a file onto another link of the same file does nothing and leaves both.
  std::filesystem::remove(link, error);
}

void put_moments(Writer& writer, const std::vector<Moment>& moments) {
  std::vector<double> numbers;
  for (const auto& [count, mean, squares] : moments) numbers.insert(numbers.end(), {count, mean, squares});
  writer.put_all(std::span<const double>(numbers));
}

std::vector<Moment> get_moments(Reader& reader) {
  const auto numbers = reader.get_all<double>();
  std::vector<Moment> moments;
  moments.reserve(numbers.size() / 3);
  for (std::size_t i = 0; i + 2 < numbers.size(); i += 3) moments.push_back({numbers[i], numbers[i + 1], numbers[i + 2]});
  return moments;
}

/// Behind the magic of a sealed file.
std::uint32_t version_of(std::string_view file, const std::string& source) {
  return file.size() < magic.size() + sizeof(std::uint32_t) ? 0 : Reader(file.substr(magic.size()), source).get<std::uint32_t>();
}

/// What is in a sealed file of a version.
struct Payload {
  std::string bytes;
  std::uint32_t written_as;
};

Payload payload_of(std::string_view file, const std::string& source) {
  const std::uint32_t found = version_of(file, source);
  const std::uint32_t read = found == version || found == longer_version ? found : longest_version;
  return {unseal(file, magic, read, source), read};
}

Checkpoint decode(const Payload& payload, const std::string& source) {
  Reader reader(payload.bytes, source);
  Checkpoint checkpoint;
  checkpoint.identity = parse_json(reader.get_string(), source);
  if (const Config* optimizer = checkpoint.identity.find("optimizer"))
    checkpoint.identity["optimizer"] = current_optimizer(*optimizer);
  checkpoint.iteration = reader.get<std::uint32_t>();
  checkpoint.steps = reader.get<std::uint64_t>();
  checkpoint.first_eval = reader.get<double>();
  checkpoint.last_eval = reader.get<double>();
  checkpoint.best_eval = reader.get<double>();
  checkpoint.best_iteration = reader.get<std::uint32_t>();
  checkpoint.best_parameters = reader.get_all<float>();
  checkpoint.optimizer = reader.get_string();
  if (payload.written_as != version) {
    checkpoint.initial = reader.get_string();
    checkpoint.moments = get_moments(reader);
    checkpoint.best_moments = get_moments(reader);
  }
  if (payload.written_as == longest_version) checkpoint.best_failed = reader.get<std::uint32_t>();
  if (!reader.at_end()) throw Error(text(source, ": has bytes after its end; the file is damaged"));
  return checkpoint;
}

/// @throws Error naming `path` as check_file does, too.
Checkpoint read_checkpoint(const std::filesystem::path& path) {
  // What is in the file, and of its longest part two more copies while that is read.
  constexpr double copies = 3;
  check_file(path, UINTMAX_MAX, copies);
  const std::string source = path.string();
  std::string file = read_file(path);
  const Payload payload = payload_of(file, source);
  std::string().swap(file);
  return decode(payload, source);
}

}  // namespace

std::string encode_checkpoint(const Checkpoint& checkpoint) {
  Writer writer;
  writer.put_string(to_json(checkpoint.identity));
  writer.put(checkpoint.iteration);
  writer.put(checkpoint.steps);
  writer.put(checkpoint.first_eval);
  writer.put(checkpoint.last_eval);
  writer.put(checkpoint.best_eval);
  writer.put(checkpoint.best_iteration);
  writer.put_all(std::span<const float>(checkpoint.best_parameters));
  writer.put_string(checkpoint.optimizer);
  const bool counts = checkpoint.best_failed > 0;
  if (checkpoint.initial.empty() && checkpoint.moments.empty() && !counts) return seal(magic, version, writer.bytes());
  writer.put_string(checkpoint.initial);
  put_moments(writer, checkpoint.moments);
  put_moments(writer, checkpoint.best_moments);
  if (counts) writer.put(checkpoint.best_failed);
  return seal(magic, counts ? longest_version : longer_version, writer.bytes());
}

void write_checkpoint(const std::filesystem::path& folder, std::string_view file) {
  keep_previous(folder);
  write_file_atomic(run_file(folder, newest_name), file);
}

void restore_newest(const std::filesystem::path& folder, const Checkpoint& checkpoint) {
  std::error_code missing;
  std::filesystem::rename(folder / newest_name, folder / "checkpoint.damaged.iap", missing);
  write_file_atomic(run_file(folder, newest_name), encode_checkpoint(checkpoint));
}

std::optional<FoundCheckpoint> find_checkpoint(const std::filesystem::path& folder) {
  std::string troubles;
  bool any = false, unreadable = false;
  for (const char* name : {newest_name, previous_name}) {
    const auto path = run_file(folder, name);
    if (!is_there(path)) {
      troubles += text(troubles.empty() ? "" : "; ", path.string(), ": is missing");
      continue;
    }
    any = true;
    try {
      return FoundCheckpoint{read_checkpoint(path), std::exchange(troubles, "")};
    } catch (const Error& error) {
      troubles += text(troubles.empty() ? "" : "; ", error.what());
      unreadable |= !std::ifstream(path);
    }
  }
  if (!any) return {};
  const std::string remedy = unreadable ? "see to it that they can be read" : text("remove '", folder.string(), "' to begin anew");
  throw Error(text("cannot resume '", folder.string(), "': ", troubles, "; ", remedy,
                   ", or choose another folder with --out (out = FOLDER)"));
}

}  // namespace iap
