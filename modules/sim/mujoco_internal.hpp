// What the MuJoCo sources of iap.sim share; inside a module, members are inline only where they say so.
// Include after `module iap.sim;`, with <array>, <cstddef>, <cstdint>, <memory>, <span>, <string>, <utility>, <vector> and mujoco.h
// before it.
#pragma once

namespace iap {

struct DeleteMujoco {
  inline void operator()(mjModel* model) const { mj_deleteModel(model); }
  inline void operator()(mjData* data) const { mj_deleteData(data); }
};

// The forces of the contacts that the last step was solved with. A step ends by finding contacts anew, so that MuJoCo's own answer
// goes by numbers that may mean other contacts by then.
class SolvedContacts {
 public:
  // What one contact takes of the memory that `reserve` asks for.
  static constexpr double bytes_a_contact = 104;

  // So that nothing is allocated afterwards.
  void reserve(int most);
  // The forces are those of `data` as it stands, from here on.
  inline void forget() { kept_ = false; }
  // Before contacts are found anew.
  void keep(const mjModel& model, const mjData& data);
  // Along the normal, in newtons: of the solved contact between the same geoms that is nearest, 0 for a new contact.
  double force(const mjModel& model, const mjData& data, int index);

 private:
  struct Contact {
    std::uint64_t pair;
    std::array<double, 3> position;
    double force;
    int index;
    bool taken;
  };

  void match(const mjData& data);
  void match_pair(std::span<Contact> solved, std::span<Contact> present);

  std::vector<Contact> solved_, present_;
  std::vector<double> forces_;
  bool kept_ = false, matched_ = false;
};

// The model of one world: its own but for pictures, meshes, height fields and skins, which are most of a model, are the compiled
// model's and are never written to.
class WorldModel {
 public:
  explicit WorldModel(std::shared_ptr<const mjModel> compiled);
  WorldModel(const WorldModel&) = delete;
  WorldModel& operator=(const WorldModel&) = delete;

  // To be written to, but for what is shared.
  inline mjModel& operator*() { return model_; }
  inline const mjModel& operator*() const { return model_; }
  inline mjModel* operator->() { return &model_; }
  inline const mjModel* operator->() const { return &model_; }
  inline mjModel* get() { return &model_; }
  inline const mjModel* get() const { return &model_; }
  // As the text has it; worlds of one text have the same.
  inline const std::shared_ptr<const mjModel>& compiled() const { return compiled_; }
  // What it takes beside the compiled model.
  static double bytes(const mjModel& compiled);

 private:
  std::shared_ptr<const mjModel> compiled_;
  mjModel model_;
  std::vector<std::unique_ptr<std::byte[]>> arrays_;
};

struct MujocoWorld::Impl {
  inline explicit Impl(std::shared_ptr<const mjModel> compiled) : model(std::move(compiled)) {}

  WorldModel model;
  std::unique_ptr<mjData, DeleteMujoco> data;
  SolvedContacts solved;
  std::string name;      // of the text that it was compiled from
  bool spoiled = false;  // a step since the reset had more contacts or constraints than there was room for
  // Two worlds alive or dead never share one: what is cached for a world can tell whose it is.
  std::shared_ptr<const char> identity = std::make_shared<const char>();
};

// Contacts of a geom that moves which are not many, spheres and the like being round.
int likely_contacts_of(bool round);

// What <size> of a robot's MJCF says.
struct RobotRoom {
  int contacts, rows;
};
// For so many likely contacts of its shapes, each of three rows, and so many joints.
RobotRoom robot_room(double contacts, double joints);

// Whether there can be contacts or other constraints.
bool may_hold(const mjModel& model);

// Where the model has MuJoCo's own room for contacts and rows of constraints, enlarges it by what moves in it, or leaves room for
// as many rows as there can be, where these are few: nothing may later let more touch or hold. That changes no bit of what had room
// before.
void make_room(mjModel& model);
// Whether there were more of them than there is room for, since the last reset. MuJoCo leaves those out that come last.
bool is_full(const mjData& data);
void forget_full(mjData& data);
// Says so where it is, once in the process of each model; `remedy` stands in place of <size>.
void note_full(const std::string& name, const mjModel& model, const mjData& data, const char* remedy = nullptr);

// Makes MuJoCo's fatal errors throw iap::Error and its warnings silent, in our calls of it: others' go to the handlers that there
// were. Needed before anything of MuJoCo runs; cheap to repeat.
void install_mujoco_handlers();

// While it lives, MuJoCo calls in this thread none of the functions that a host gave it for its own models (mjcb_...,
// mjCOLLISIONFUNC); in the host's threads it does.
class OwnCallbacks {
 public:
  OwnCallbacks() noexcept;
  ~OwnCallbacks();
  OwnCallbacks(const OwnCallbacks&) = delete;
  OwnCallbacks& operator=(const OwnCallbacks&) = delete;

 private:
  bool taken_;
};

// While it lives, what this thread does with MuJoCo is ours: to be around each call in which an error, a warning or a callback may
// come, but for those of a WeighedMemory.
class MujocoCall {
 public:
  MujocoCall() noexcept;
  ~MujocoCall();
  MujocoCall(const MujocoCall&) = delete;
  MujocoCall& operator=(const MujocoCall&) = delete;

 private:
  OwnCallbacks callbacks_;
};

// The compiled model of `files`, never null: the same for all that ask while it is among the last ones asked for. Throws Error with
// MuJoCo's message.
std::shared_ptr<const mjModel> compiled_model(std::span<const MujocoFile> files);

}  // namespace iap
