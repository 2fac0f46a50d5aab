module;
#include <mujoco/mujoco.h>

#include <algorithm>
#include <array>
#include <clocale>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <locale>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/fork_mutex.hpp"
module iap.sim;
import iap.core;
#include "c_random.hpp"
#include "mujoco_internal.hpp"
#include "mujoco_memory.hpp"

namespace iap {
namespace {

using ModelPointer = std::unique_ptr<mjModel, DeleteMujoco>;

struct DeleteFiles {
  void operator()(mjVFS* files) const {
    mj_deleteVFS(files);
    delete files;
  }
};

void add_file(mjVFS& files, const MujocoFile& file) {
  const std::string name(file.name);
  const MujocoCall call;
  if (mj_makeEmptyFileVFS(&files, name.c_str(), static_cast<int>(file.content.size())) != 0)
    throw Error(text("cannot hand '", name, "' to MuJoCo: its name is empty, too long or used twice"));
  std::memcpy(files.filedata[mj_findFileVFS(&files, name.c_str())], file.content.data(), file.content.size());
}

std::string in_one_line(std::string message) {
  while (message.ends_with('\n')) message.pop_back();
  for (auto at = message.find('\n'); at != std::string::npos; at = message.find('\n', at))
    message.replace(at, message.find_first_not_of('\n', at) - at, "; ");
  return message;
}

/// MuJoCo reads numbers through streams, which follow the host's std::locale::global. While it lives, new streams of the process
/// read numbers with a point.
class PointStreams {
 public:
  PointStreams() {
    const std::locale now;
    const auto& numbers = std::use_facet<std::numpunct<char>>(now);
    if (numbers.decimal_point() == '.' && numbers.grouping().empty()) return;
    // It has no name, so that the C library's locale stays; giving back one with a name sets that, too.
    c_ = std::setlocale(LC_ALL, nullptr);
    before_ = std::locale::global(std::locale(now, new std::numpunct<char>));
    changed_ = true;
  }
  ~PointStreams() {
    if (!changed_) return;
    std::locale::global(before_);
    std::setlocale(LC_ALL, c_.c_str());
  }
  PointStreams(const PointStreams&) = delete;
  PointStreams& operator=(const PointStreams&) = delete;

 private:
  std::locale before_;
  std::string c_;
  bool changed_ = false;
};

/// Options under which nothing moves, nothing holds, nothing is a number soon, or episodes do not repeat.
void check_options(const mjModel& model, const std::string& name) {
  const mjOption& option = model.opt;
  const auto fail = [&](const char* what, double value, const char* remedy) {
    throw Error(text(name, ": <option>: '", what, "' is ", value, "; ", remedy));
  };
  constexpr double shortest = 1e-9;
  if (!(option.timestep >= shortest && std::isfinite(option.timestep)))
    fail("timestep", option.timestep, "give the seconds of a step, such as 0.002; at least 1e-09 is taken");
  if (!(option.impratio > 0 && std::isfinite(option.impratio)))
    fail("impratio", option.impratio, "contacts hold nothing with it; give a number above 0, such as 1");
  if (option.iterations < 1 && !(option.disableflags & mjDSBL_CONSTRAINT) && may_hold(model))
    fail("iterations", option.iterations,
         "contacts, limits and equalities hold nothing with it; give at least 1, or write <flag constraint=\"disable\"/>");
  const std::span<const mjtNum> noises(model.sensor_noise, static_cast<std::size_t>(model.nsensor));
  if ((option.enableflags & mjENBL_SENSORNOISE) && std::ranges::any_of(noises, [](double noise) { return noise > 0; }))
    throw Error(text(
        name, ": <flag sensornoise=\"enable\"/>: MuJoCo draws this noise from rand(), which all threads of the process share, so ",
        "that episodes would not follow from their seeds; leave it out, and add noise by math.random, which an episode seeds"));
  const auto check = [&](const char* what, std::span<const mjtNum> values) {
    for (const double value : values)
      if (!(std::abs(value) <= mjMAXVAL)) fail(what, value, "give a number of at most 1e10 either way");
  };
  check("gravity", option.gravity);
  check("wind", option.wind);
  check("magnetic", option.magnetic);
  check("density", {&option.density, 1});
  check("viscosity", {&option.viscosity, 1});
  check("tolerance", {&option.tolerance, 1});
}

/// Where faces of skins point, which MuJoCo compiles as they are and draws.
void check_skins(const mjModel& model, const std::string& name) {
  for (int skin = 0; skin < model.nskin; ++skin) {
    const std::span faces(model.skin_face + std::size_t{3} * model.skin_faceadr[skin], std::size_t{3} * model.skin_facenum[skin]);
    for (const int corner : faces)
      if (corner < 0 || corner >= model.skin_vertnum[skin])
        throw Error(text(name, ": a face of skin ", skin + 1, " has the vertex ", corner, "; there are ", model.skin_vertnum[skin],
                         ", counted from 0"));
  }
}

/// What is not finite, or so far away that sums of squares are no floats, makes pictures and contacts of what is no number.
class Places {
 public:
  Places(const mjModel& model, const std::string& name) : model_(model), name_(name) {}

  void check() const {
    for (int i = 0; i < model_.nbody; ++i) check("body", mjOBJ_BODY, i, "position", model_.body_pos + 3 * i);
    for (int i = 0; i < model_.ngeom; ++i) {
      check("geom", mjOBJ_GEOM, i, "position", model_.geom_pos + 3 * i);
      // To a plane no end is one, too.
      check("geom", mjOBJ_GEOM, i, "size", model_.geom_size + 3 * i, model_.geom_type[i] == mjGEOM_PLANE);
    }
    for (int i = 0; i < model_.nsite; ++i) {
      check("site", mjOBJ_SITE, i, "position", model_.site_pos + 3 * i);
      check("site", mjOBJ_SITE, i, "size", model_.site_size + 3 * i);
    }
    for (int i = 0; i < model_.nlight; ++i) {
      check("light", mjOBJ_LIGHT, i, "position", model_.light_pos + 3 * i);
      check("light", mjOBJ_LIGHT, i, "direction", model_.light_dir + 3 * i);
    }
    for (int i = 0; i < model_.ncam; ++i) check("camera", mjOBJ_CAMERA, i, "position", model_.cam_pos + 3 * i);
    for (int mesh = 0; mesh < model_.nmesh; ++mesh)
      for (int i = 0; i < model_.mesh_vertnum[mesh]; ++i)
        check("mesh", mjOBJ_MESH, mesh, "vertex", model_.mesh_vert + std::ptrdiff_t{3} * (model_.mesh_vertadr[mesh] + i));
  }

 private:
  template <typename T>
  void check(const char* kind, int type, int index, const char* quantity, const T* three, bool endless = false) const {
    constexpr T most = 1e10;
    for (const T value : std::span(three, 3)) {
      if (std::abs(value) <= most || (endless && std::isinf(value))) continue;
      const char* own = mj_id2name(&model_, type, index);
      throw Error(text(name_, ": ", kind, " ", own && *own ? text("'", own, "'") : text(index), " has ", value, " in its ",
                       quantity, "; at most ", most, " in any direction is taken, so make the model smaller"));
    }
  }

  const mjModel& model_;
  const std::string& name_;
};

/// Whether somebody else drew from rand() while MuJoCo compiled `model`, which seeds it and draws a number for each pixel of a
/// texture with random marks: these may be others then. Which textures have some a model does not tell.
bool may_have_others_marks(const mjModel& model, const BorrowedRandom& numbers) {
  constexpr unsigned seed = 123;
  constexpr std::size_t most_sums = 100'000;
  std::size_t all = 0;
  std::set<std::size_t> sums{0};
  for (int i = 0; i < model.ntex && sums.size() < most_sums; ++i) {
    const std::size_t pixels = static_cast<std::size_t>(model.tex_width[i]) * static_cast<std::size_t>(model.tex_height[i]);
    all += pixels;
    std::set<std::size_t> with;
    for (const std::size_t sum : sums) with.insert(sum + pixels);
    sums.merge(with);
  }
  return sums.size() < most_sums && !sums.contains(numbers.drawn(seed, all));
}

/// Whether a texture may have random marks (mark="random").
bool may_be_marked(std::span<const MujocoFile> texts) {
  return std::ranges::any_of(texts, [](const MujocoFile& file) {
    return file.content.find("\"random\"") != file.content.npos || file.content.find("'random'") != file.content.npos;
  });
}

bool have_same_textures(const mjModel& one, const mjModel& other) {
  return std::ranges::equal(std::span(one.tex_rgb, static_cast<std::size_t>(one.ntexdata)),
                            std::span(other.tex_rgb, static_cast<std::size_t>(other.ntexdata)));
}

/// As mj_loadXML, but that the process's random numbers go on as before, and that nobody who draws from them meanwhile changes the
/// model. @throws Error where somebody does so all the time.
ModelPointer load(std::span<const MujocoFile> texts, const std::string& name, const mjVFS& files, std::span<char> message) {
  const bool marked = may_be_marked(texts);
  constexpr int most_attempts = 10;
  ModelPointer last;
  for (int attempt = 0; attempt < most_attempts; ++attempt) {
    const BorrowedRandom numbers;
    ModelPointer model(mj_loadXML(name.c_str(), &files, message.data(), static_cast<int>(message.size())));
    // It keeps one text for the process, which the host's mj_saveLastXML would take for its own: that shall be an error.
    mj_freeLastXML();
    if (!model || !marked || !may_have_others_marks(*model, numbers)) return model;
    // Numbers that were drawn before or after the marks change nothing, and those between them never the same twice.
    if (last && have_same_textures(*last, *model)) return model;
    last = std::move(model);
  }
  throw Error(text(name,
                   ": another thread of this program calls rand() all the while, of which MuJoCo makes random marks of textures, ",
                   "so that pictures would be others each time; make the first environment before that thread begins"));
}

ModelPointer compile(std::span<const MujocoFile> texts) {
  const std::unique_ptr<mjVFS, DeleteFiles> files(new mjVFS);
  mj_defaultVFS(files.get());
  for (const auto& file : texts) add_file(*files, file);
  std::array<char, 1000> message{};
  const PointStreams streams;
  const OwnCallbacks callbacks;  // a step is tried
  const std::string name(texts.front().name);
  const WeighedMemory memory(text(name, ": the simulation"));
  ModelPointer model = load(texts, name, *files, message);
  if (const std::string refusal = memory.refusal(); !refusal.empty()) throw Error(refusal);
  if (!model) throw Error(text(name, ": MuJoCo cannot compile it: ", in_one_line(message.data())));
  check_options(*model, name);
  make_room(*model);
  check_skins(*model, name);
  Places(*model, name).check();
  return model;
}

/// The models asked for last. A task that makes its text from options has one for each of them, so that not all can stay.
class Recent {
 public:
  std::shared_ptr<const mjModel> get(std::span<const MujocoFile> files) {
    std::string key;
    for (const auto& file : files) key += text(file.name, '\0', file.content, '\0');
    const std::lock_guard lock(mutex_);
    auto found = std::ranges::find(kept_, key, &Kept::key);
    if (found == kept_.end()) found = kept_.insert(found, Kept{std::move(key), compile(files)});
    std::rotate(found, std::next(found), kept_.end());
    constexpr std::size_t most = 16;
    if (kept_.size() > most) kept_.erase(kept_.begin());
    return kept_.back().model;
  }

 private:
  struct Kept {
    std::string key;
    std::shared_ptr<const mjModel> model;
  };

  ForkMutex mutex_;
  std::vector<Kept> kept_;  // the last one asked for at the end
};

}  // namespace

std::shared_ptr<const mjModel> compiled_model(std::span<const MujocoFile> files) {
  if (files.empty()) throw Error("a MuJoCo world needs at least one MJCF text");
  install_mujoco_handlers();
  // MuJoCo's XML compiler is not reentrant. Compiling costs a hundred milliseconds, copying a few, so models are kept.
  static Recent models;
  return models.get(files);
}

}  // namespace iap
