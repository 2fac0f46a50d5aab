module;
#include <zip.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>
module iap.npz;
import iap.core;

namespace iap {
namespace {

constexpr std::string_view suffix = ".npy";
constexpr zip_uint64_t largest_entry = zip_uint64_t{1} << 31;

struct Discard {
  void operator()(zip_t* archive) const { zip_discard(archive); }
  void operator()(zip_file_t* file) const { zip_fclose(file); }
  void operator()(zip_source_t* source) const { zip_source_free(source); }
};
using Archive = std::unique_ptr<zip_t, Discard>;
using Source = std::unique_ptr<zip_source_t, Discard>;

[[noreturn]] void fail(const std::string& source, zip_error_t& error) {
  const std::string reason = zip_error_strerror(&error);
  zip_error_fini(&error);
  throw Error(text(source, ": is no readable .npz file: ", reason));
}

// An archive over bytes in memory, which it borrows.
Archive open_archive(std::string_view file, const std::string& source) {
  if (file.empty()) throw Error(text(source, ": is empty"));
  zip_error_t error;
  zip_error_init(&error);
  Source bytes(zip_source_buffer_create(file.data(), file.size(), 0, &error));
  if (!bytes) fail(source, error);
  Archive archive(zip_open_from_source(bytes.get(), ZIP_RDONLY | ZIP_CHECKCONS, &error));
  if (!archive) fail(source, error);
  (void)bytes.release();
  zip_error_fini(&error);
  return archive;
}

// What it unpacks to, in bytes; `source` names the entry.
zip_uint64_t entry_size(zip_t* archive, zip_uint64_t index, const std::string& source) {
  zip_stat_t stat;
  if (zip_stat_index(archive, index, 0, &stat) < 0 || !(stat.valid & ZIP_STAT_SIZE))
    throw Error(text(source, ": has no size in the file's index; the file is damaged"));
  if (stat.size > largest_entry) throw Error(text(source, ": is too large (", stat.size, " bytes)"));
  return stat.size;
}

void check_unpacked(const std::string& source, double bytes) {
  constexpr double copies = 3;  // the bytes, and the numbers as doubles
  check_memory(source, copies * bytes);
}

std::string read_entry(zip_t* archive, zip_uint64_t index, const std::string& source) {
  std::string content(entry_size(archive, index, source), '\0');
  const std::unique_ptr<zip_file_t, Discard> file(zip_fopen_index(archive, index, 0));
  if (!file) throw Error(text(source, ": cannot be unpacked: ", zip_strerror(archive)));
  constexpr std::size_t piece = std::size_t{1} << 20;
  std::size_t done = 0;
  // One byte more is asked for, because only the end of an entry checks its checksum.
  for (char beyond; done <= content.size();) {
    check_interrupt();
    char* to = done < content.size() ? content.data() + done : &beyond;
    const auto count = zip_fread(file.get(), to, done < content.size() ? std::min(piece, content.size() - done) : 1);
    if (count < 0) throw Error(text(source, ": cannot be unpacked: ", zip_file_strerror(file.get())));
    if (count == 0) break;
    done += static_cast<std::size_t>(count);
  }
  if (done != content.size()) throw Error(text(source, ": does not have its stated size; the file is damaged"));
  return content;
}

// The names of the archive's entries, which are all arrays.
std::vector<std::string> entry_names(zip_t* archive, const std::string& source) {
  std::vector<std::string> names;
  const auto count = static_cast<zip_uint64_t>(zip_get_num_entries(archive, 0));
  for (zip_uint64_t i = 0; i < count; ++i) {
    const char* stored = zip_get_name(archive, i, 0);
    names.emplace_back(stored ? stored : "");
    if (!names.back().ends_with(suffix))
      throw Error(text(source, ": holds '", names.back(), "', which is no .npy array; .npz files hold nothing else"));
  }
  return names;
}

NpyArray read_array(zip_t* archive, zip_uint64_t index, const std::string& name, const std::string& source) {
  const std::string owner = text(source, ": ", name);
  NpyArray array = parse_npy(read_entry(archive, index, owner), owner);
  array.name = name.substr(0, name.size() - suffix.size());
  return array;
}

}  // namespace

LibraryVersions npz_versions() { return {{"libzip", zip_libzip_version()}}; }

std::vector<NpyArray> parse_npz(std::string_view file, const std::string& source) {
  const Archive archive = open_archive(file, source);
  const auto names = entry_names(archive.get(), source);
  double bytes = 0;
  for (std::size_t i = 0; i < names.size(); ++i)
    bytes += static_cast<double>(entry_size(archive.get(), i, text(source, ": ", names[i])));
  check_unpacked(source, bytes);
  std::vector<NpyArray> arrays;
  for (std::size_t i = 0; i < names.size(); ++i) arrays.push_back(read_array(archive.get(), i, names[i], source));
  return arrays;
}

std::optional<NpyArray> find_npz(std::string_view file, std::string_view name, const std::string& source) {
  const Archive archive = open_archive(file, source);
  const auto names = entry_names(archive.get(), source);
  const auto found = std::ranges::find(names, std::string(name) + std::string(suffix));
  if (found == names.end()) return {};
  const auto index = static_cast<zip_uint64_t>(found - names.begin());
  const std::string owner = text(source, ": ", *found);
  check_unpacked(owner, static_cast<double>(entry_size(archive.get(), index, owner)));
  return read_array(archive.get(), index, *found, source);
}

std::string format_npz(std::span<const NpyArray> arrays) {
  const std::string owner = "writing an .npz file";
  std::vector<std::string> contents;
  for (const auto& array : arrays) contents.push_back(format_npy(array));
  zip_error_t error;
  zip_error_init(&error);
  const Source bytes(zip_source_buffer_create(nullptr, 0, 0, &error));
  if (!bytes) fail(owner, error);
  Archive archive(zip_open_from_source(bytes.get(), ZIP_TRUNCATE, &error));
  if (!archive) fail(owner, error);
  zip_source_keep(bytes.get());
  zip_error_fini(&error);
  const auto check = [&](bool done) {
    if (!done) throw Error(text(owner, ": ", zip_strerror(archive.get())));
  };
  for (std::size_t i = 0; i < contents.size(); ++i) {
    Source content(zip_source_buffer(archive.get(), contents[i].data(), contents[i].size(), 0));
    check(content != nullptr);
    const auto index = zip_file_add(archive.get(), (arrays[i].name + std::string(suffix)).c_str(), content.get(), ZIP_FL_ENC_UTF_8);
    check(index >= 0);
    (void)content.release();
    constexpr zip_uint16_t first_day = 1 << 5 | 1;  // 1 January 1980: the same arrays make the same file at any time
    check(zip_set_file_compression(archive.get(), static_cast<zip_uint64_t>(index), ZIP_CM_STORE, 0) == 0);
    check(zip_file_set_dostime(archive.get(), static_cast<zip_uint64_t>(index), 0, first_day, 0) == 0);
  }
  check(zip_close(archive.get()) == 0);
  (void)archive.release();
  zip_stat_t stat;
  zip_source_open(bytes.get());
  zip_source_stat(bytes.get(), &stat);
  std::string file(stat.size, '\0');
  const auto read = zip_source_read(bytes.get(), file.data(), file.size());
  zip_source_close(bytes.get());
  if (read != static_cast<zip_int64_t>(file.size())) throw Error(text(owner, ": it could not be read back"));
  return file;
}

}  // namespace iap
