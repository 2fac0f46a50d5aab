module;
#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>
module iap.sim;
import iap.core;
#include "mjcf_text.hpp"
#include "model_mesh.hpp"
#include "model_png.hpp"
#include "packed_file.hpp"

namespace iap {
namespace {

namespace fs = std::filesystem;

/// Gives the content of the file `name`. @throws Error.
using Fetch = std::function<std::string(const std::string& name)>;

struct Entry {
  std::string name;     // relative to the model's folder
  std::string content;  // as it was read
  MjcfText text;        // of those that are MJCF
};

bool is_model_text(const std::string& model) { return model.find('<') != std::string::npos; }
constexpr const char* inline_name = "model.xml";

// Where there are many processors MuJoCo looks for length ranges in threads of its own. Nobody there catches what its errors throw,
// nor is told of a thread that there is no room for. Of several <compiler> the last word counts.
constexpr const char* one_thread = R"(<compiler usethread="false"/>)";

std::string lower_case(std::string name) {
  std::ranges::transform(name, name.begin(), [](char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); });
  return name;
}

// MuJoCo's folder in memory knows files by the last part of their names, whatever the case.
std::string key_of(const std::string& name) { return lower_case(fs::path(name).filename().string()); }

/// MuJoCo looks at the last characters of a name without counting them.
void check_length(const std::string& name, std::size_t shortest, std::string_view what) {
  if (key_of(name).size() < shortest)
    throw Error(text(name, ": MuJoCo looks at the last ", shortest, " characters of a ", what, "'s name; give it a longer one"));
}

/// Of a texture or height field. What is not called .png is in MuJoCo's own format, which begins with the sides: integers of 32
/// bits, of which MuJoCo makes the size that the file must have in 32 bits, too.
PictureSides picture_sides(const std::string& name, std::string_view content) {
  constexpr std::size_t shortest = 4, head = 8;
  check_length(name, shortest, "picture");
  const bool called_png = lower_case(name).ends_with(".png");
  check_kind(name, content, called_png);
  if (called_png) return png_sides(content);
  if (content.size() < head) return {};
  const auto number = [content](std::size_t at) {
    double value = 0;
    for (std::size_t i = 4; i-- > 0;) value = 256 * value + static_cast<unsigned char>(content[at + i]);
    return value;
  };
  const PictureSides sides{number(0), number(4)};
  try {
    check_sides(name, sides);
  } catch (const Error& error) {
    throw Error(text(error.what(), " (not being called .png, it was read as MuJoCo's own format)"));
  }
  return sides;
}

/// Follows a model's references.
class Assembly {
 public:
  Assembly(std::string name, std::string content, const Fetch& fetch) : fetch_(fetch) {
    folder_ = fs::path(name).parent_path();
    add(std::move(name), std::move(content), MjcfPlace());
    if (entries_.front().text.root != "mujoco")
      throw Error(text(entries_.front().name, ": begins with <", entries_.front().text.root,
                       ">; give an MJCF, which begins with <mujoco>"));
    // Includes may include.
    for (std::size_t i = 0; i < entries_.size(); ++i)
      for (const auto& reference : entries_[i].text.references)
        if (reference.element == "include") include(entries_[i], reference);
    read_folders(entries_.front().text);
    if (const std::string complaint = counts_.complaint(); !complaint.empty())
      throw Error(text(entries_.front().name, ": ", complaint));
    check_memory(text(entries_.front().name, ": the model, with the 'nuser_' of <size>,"), counts_.user_bytes());
    for (std::size_t i = 0, texts = entries_.size(); i < texts; ++i)
      for (const auto& reference : entries_[i].text.references)
        if (reference.element != "include") take(i, reference);
  }

  std::deque<Entry> entries() && { return std::move(entries_); }

  /// The name under which the bundle has what `reference` means.
  std::string resolve(const MjcfReference& reference) const {
    fs::path path(reference.path);
    if (reference.element != "include") {
      if (folders_.strip.value_or(false)) path = path.filename();
      const auto& own = reference.element == "texture" ? folders_.textures : folders_.meshes;
      if (path.is_relative()) path = fs::path(own.value_or(folders_.assets.value_or(""))) / path;
    }
    return (path.is_relative() ? folder_ / path : path).lexically_normal().generic_string();
  }

 private:
  void include(const Entry& asking, const MjcfReference& reference) {
    std::string name = resolve(reference);
    // MuJoCo refuses it by the spelling of its path, and one that is spelled in many ways would be nested in itself.
    if (known_.contains(name))
      throw Error(text(asking.name, ":", reference.line, ": includes '", name,
                       "' once more; MuJoCo takes each text once, so copy it under another name"));
    std::string content = fetched(asking, reference, name);
    add(std::move(name), std::move(content), reference.place);
  }

  /// As MuJoCo does, which puts what is included in the place of the include: the last <compiler> of all texts counts.
  void read_folders(const MjcfText& text) {
    auto part = text.folders.begin();
    override_folders(*part);
    for (const auto& reference : text.references) {
      if (reference.element != "include") continue;
      read_folders(entries_[known_.at(resolve(reference))].text);
      override_folders(*++part);
    }
  }

  void override_folders(const MjcfFolders& later) {
    const auto override_with = [](auto& known, const auto& by) {
      if (by) known = by;
    };
    override_with(folders_.meshes, later.meshes);
    override_with(folders_.textures, later.textures);
    override_with(folders_.assets, later.assets);
    override_with(folders_.strip, later.strip);
  }

  void take(std::size_t asking, const MjcfReference& reference) {
    const std::string name = resolve(reference);
    if (!known_.contains(name)) add(name, fetched(entries_[asking], reference, name), std::nullopt);
    const Entry& file = entries_[known_.at(name)];
    check_picture(asking, reference, file);
    if (reference.element == "mesh" || reference.element == "skin") count_mesh(file, reference.element);
  }

  /// MuJoCo makes an object of each that names the file.
  void count_mesh(const Entry& file, std::string_view element) {
    constexpr std::size_t shortest = 3;
    check_length(file.name, shortest, element);
    constexpr double most_named = 256 << 20;
    // With what pictures keep, an OBJ's triangle of five bytes takes 256, an STL's of 50 bytes 900, and an MSH's vertex of 12 bytes
    // 520 where it is on the hull.
    constexpr double bytes_a_byte_of_obj = 52, bytes_a_byte_of_msh = 44, bytes_a_byte = 18;
    const auto size = static_cast<double>(file.content.size());
    named_bytes_ += size;
    const auto key = key_of(file.name);
    mesh_bytes_ += size * (key.ends_with(".obj")   ? bytes_a_byte_of_obj
                           : key.ends_with(".msh") ? bytes_a_byte_of_msh
                                                   : bytes_a_byte);
    if (named_bytes_ > most_named)
      throw Error(text(file.name, ": with it the model names meshes and skins of ", memory_text(named_bytes_),
                       ", each as often as it is named; at most ", memory_text(most_named), " are taken, so name each once"));
    check_memory(text(file.name, ": the model, with it,"), mesh_bytes_);
  }

  std::string fetched(const Entry& asking, const MjcfReference& reference, const std::string& name) const {
    try {
      return fetch_(name);
    } catch (const Error& error) {
      throw Error(text(asking.name, ":", reference.line, ": ", error.what()));
    }
  }

  /// What a file takes as a texture or height field follows from who asks for it.
  void check_picture(std::size_t asking, const MjcfReference& reference, const Entry& file) {
    const bool texture = reference.element == "texture";
    if (!texture && reference.element != "hfield") return;
    const auto [width, height] = picture_sides(file.name, file.content);
    if (!texture) {
      check_heights(file, width, height);
      counts_.height_bytes += bytes_a_height * width * height;
      return check_memory(text(file.name, ": the model"), counts_.height_bytes);
    }
    const double face = std::min(width, height);
    const double bytes = texture_colours * (reference.unfolds ? cube_faces * face * face : width * height);
    // The files of one texture are as large as each other, or refused.
    const std::pair element(asking, reference.after_element);
    if (element != std::exchange(texture_, element)) texture_bytes_of_one_ = 0;
    const double more = std::max(bytes - texture_bytes_of_one_, 0.0);
    texture_bytes_of_one_ += more;
    count_textures(file.name, more);
  }

  /// MuJoCo's own format begins with the rows.
  static void check_heights(const Entry& file, double first, double second) {
    const bool png = lower_case(file.name).ends_with(".png");
    if (const std::string complaint = heights_complaint(png ? second : first, png ? first : second); !complaint.empty())
      throw Error(text(file.name, ": a height field of ", complaint));
    if (png) return;
    // MuJoCo divides them by the difference of the farthest.
    constexpr float most = 1e10F;
    for (std::size_t at = 2 * sizeof(std::int32_t); at + sizeof(float) <= file.content.size(); at += sizeof(float)) {
      float height = 0;
      std::memcpy(&height, file.content.data() + at, sizeof height);
      if (!(std::abs(height) <= most))
        throw Error(text(file.name, ": a height is ", height, "; at most ", most, " up or down is taken"));
    }
  }

  void count_textures(const std::string& name, double bytes) {
    texture_bytes_ += bytes;
    if (!(texture_bytes_ < most_texture_bytes))
      throw Error(text(name, ": with it the model's textures take ", memory_text(texture_bytes_),
                       "; MuJoCo has room for less than ", memory_text(most_texture_bytes), ", so make them smaller"));
    check_memory(text(name, ": the model with its textures"), texture_copies * texture_bytes_);
  }

  /// Of an MJCF text `place` is where it is included; other files have none.
  void add(std::string name, std::string content, const std::optional<MjcfPlace>& place) {
    constexpr std::size_t most_files = 1900;  // MuJoCo's folder in memory has room for 2000
    bytes_ += content.size();
    if (bytes_ > MujocoBundle::most_bytes)
      throw Error(text("the model's files take more than ", MujocoBundle::most_bytes >> 20, " MB (with '", name,
                       "'); they travel in every policy file, so make meshes and textures smaller"));
    if (entries_.size() >= most_files)
      throw Error(text("the model has more than ", most_files, " files; join meshes, or leave some out"));
    check_png(name, content);
    check_mesh_file(name, content);
    MjcfText found;
    if (place) found = read_mjcf_text(content, name, *place, counts_);
    count_textures(name, found.texture_bytes);
    known_.emplace(name, entries_.size());
    entries_.push_back({std::move(name), std::move(content), std::move(found)});
  }

  const Fetch& fetch_;
  fs::path folder_;
  std::deque<Entry> entries_;  // which stay in place while their references are followed
  std::map<std::string, std::size_t> known_;
  MjcfFolders folders_;
  MjcfCounts counts_;
  std::size_t bytes_ = 0;
  double texture_bytes_ = 0, texture_bytes_of_one_ = 0, named_bytes_ = 0, mesh_bytes_ = 0;
  std::pair<std::size_t, std::size_t> texture_{};  // the last one: its file and its place there
};

std::string read_part(const fs::path& path) {
  std::error_code error;
  const auto size = fs::file_size(path, error);
  if (!error && size > MujocoBundle::most_bytes)
    throw Error(text("'", path.string(), "' has ", size >> 20, " MB; a model's files may take ", MujocoBundle::most_bytes >> 20,
                     " MB together, as they travel in every policy file"));
  check_file(path);
  return read_file(path);
}

}  // namespace

struct MujocoBundle::Impl {
  std::deque<Entry> entries;
  std::vector<std::string> names, contents;  // as MuJoCo gets them
  std::vector<MujocoFile> files;

  Impl(std::string name, std::string content, const Fetch& fetch) {
    Assembly assembly(std::move(name), std::move(content), fetch);
    const auto resolve = [&](const MjcfReference& reference) { return assembly.resolve(reference); };
    entries = std::move(assembly).entries();
    std::map<std::string, std::string> given;  // what MuJoCo calls each file
    std::set<std::string> taken;
    for (const auto& entry : entries) {
      std::string own = entry.name;
      for (int number = 2; !taken.insert(key_of(own)).second; ++number) own = text(number, "~", key_of(entry.name));
      given.emplace(entry.name, own);
      names.push_back(own);
    }
    for (const auto& entry : entries)
      contents.push_back(rewritten(entry, given, resolve, &entry == &entries.front() ? entry.text.root_end : std::nullopt));
    for (std::size_t i = 0; i < entries.size(); ++i) files.push_back({names[i], contents[i]});
  }

  /// The content with other names for those files that MuJoCo would take for one. An object that is named after its file keeps its
  /// name. Where `model_end` says that the model ends, MuJoCo is kept in the thread that compiles.
  template <typename Resolve>
  static std::string rewritten(const Entry& entry, const std::map<std::string, std::string>& given, const Resolve& resolve,
                               const std::optional<std::size_t> model_end) {
    std::string content;
    std::size_t copied = 0;
    const auto copy_to = [&](std::size_t end) {
      if (model_end && copied <= *model_end && *model_end < end) {
        content.append(entry.content, copied, *model_end - copied);
        content += one_thread;
        copied = *model_end;
      }
      content.append(entry.content, copied, end - copied);
      copied = end;
    };
    const MjcfReference* before = nullptr;
    for (const auto& reference : entry.text.references) {
      const bool first = !before || before->after_element != reference.after_element;
      before = &reference;
      const auto& own = given.at(resolve(reference));
      if (key_of(own) == key_of(reference.path)) continue;
      if (first && !reference.named && reference.element != "include") {
        copy_to(reference.after_element);
        content += text(" name=\"", fs::path(reference.path).stem().string(), "\"");
      }
      copy_to(reference.begin);
      content += own;
      copied = reference.end;
    }
    copy_to(entry.content.size());
    return content;
  }
};

MujocoBundle::MujocoBundle(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}

MujocoBundle MujocoBundle::read(const fs::path& folder, const std::string& model) {
  const Fetch fetch = [&](const std::string& name) { return read_part(folder / name); };
  if (is_model_text(model)) return MujocoBundle(std::make_shared<const Impl>(inline_name, model, fetch));
  const std::string name = fs::path(model).lexically_normal().generic_string();
  return MujocoBundle(std::make_shared<const Impl>(name, fetch(name), fetch));
}

MujocoBundle MujocoBundle::unpack(const std::string& model, const Config& files, const std::string& owner) {
  const auto* entries = files.map();
  if (!entries) throw Error(text(owner, ": a model's files must be a table by name, got ", files.describe()));
  const Fetch fetch = [&](const std::string& name) -> std::string {
    const auto found = entries->find(name);
    if (found == entries->end()) {
      std::vector<std::string> held;
      for (const auto& [key, value] : *entries) held.push_back(key);
      throw Error(text(owner, ": does not hold the model's file '", name, "'", did_you_mean(name, held)));
    }
    auto content = unpacked_file(found->second);
    if (!content) throw Error(text(owner, ": the model's file '", name, "' is damaged: it is neither a text nor {base64 = ...}"));
    return std::move(*content);
  };
  if (is_model_text(model)) return MujocoBundle(std::make_shared<const Impl>(inline_name, model, fetch));
  const std::string name = fs::path(model).lexically_normal().generic_string();
  return MujocoBundle(std::make_shared<const Impl>(name, fetch(name), fetch));
}

Config MujocoBundle::config() const {
  Config::Map files;
  for (const auto& entry : impl_->entries) files.emplace(entry.name, packed_file(entry.content));
  return files;
}

std::span<const MujocoFile> MujocoBundle::files() const { return impl_->files; }

}  // namespace iap
