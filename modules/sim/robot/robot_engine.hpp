// What RobotWorld asks of a physics engine. Include after `module iap.sim;`, with <array>, <memory>, <span>, <string>, <vector>.
#pragma once

namespace iap {

// Links joined by fixed joints, as one rigid body in the frame of the first of them (its root link).
struct RobotBody {
  int root = 0;
  int parent = -1;  // number of a body
  Placement joint;  // the root's frame in the parent body's at angle 0
  double mass = 0;
  std::array<double, 3> centre{};
  std::array<double, 9> inertia{};  // about the centre
  std::vector<int> links;           // of the description, ascending
};

// A description as engines take it.
struct RobotModel {
  std::vector<RobotBody> bodies;      // parents first, [0] is the base
  std::vector<int> link_body;         // per link
  std::vector<Placement> link_place;  // per link: its frame in its body's
};

// Throws Error if a body would move without mass or inertia.
RobotModel make_model(const RobotDescription& robot);

// What the body of a link is called in MJCF: as the link, but for what is the world's own name there.
std::string mjcf_body_name(const std::string& link);

struct EngineSetup {
  const RobotDescription& robot;
  const RobotModel& model;
  const RobotWorldOptions& options;
  const std::vector<int>& joint_body;  // per joint of the world: the body that it moves
};

// Belongs to no module: the compiler would write its tables into every source that sees it.
extern "C++" {
class RobotEngine {
 public:
  virtual ~RobotEngine() = default;
  // Takes effect with the next reset; `terrain` lives as long.
  virtual void set_terrain(const Terrain& terrain) = 0;
  virtual void reset(const RobotState& start) = 0;
  virtual void step(std::span<const double> torques, int steps) = 0;
  // Whether it met a bad number that the state no longer shows.
  virtual bool failed() const = 0;
  // Writes the whole state, its arrays having their sizes.
  virtual void read(RobotState& state) = 0;
  virtual void placements(std::span<Placement> bodies) = 0;
  virtual void contacts(std::vector<RobotContact>& found) = 0;
  virtual std::vector<RigidBody> bodies() const = 0;
};
}

std::unique_ptr<RobotEngine> make_bullet_engine(const EngineSetup& setup);
std::unique_ptr<RobotEngine> make_mujoco_engine(const EngineSetup& setup);

}  // namespace iap
