module;
export module iap.legged:gait;
import :legs;

export namespace iap::legged {

enum class LegState {
  stance,
  swing,
  early_contact,  ///< due to swing, but already on the ground: it stands
  lost_contact    ///< due to stand, but in the air
};

struct GaitOptions {
  PerLeg<double> stance{0.3, 0.3, 0.3, 0.3};  ///< seconds that a leg stands
  PerLeg<double> duty{0.6, 0.6, 0.6, 0.6};    ///< the part of its cycle, in (0, 1)
  PerLeg<double> offsets{0, 0.5, 0.5, 0};     ///< the part of its cycle that a leg has done at time 0; a trot
  double contact_phase = 0.4;  ///< the part of a swing or stance that has to be over before contacts change a leg's state
};

/// When each leg is due to stand and to swing: its cycle of stance / duty seconds begins with stance. Contacts overrule the time
/// table within the later part of a swing or stance: a foot that touches down early stands, one that finds no ground has lost it.
class Gait {
 public:
  /// @throws Error where a duration is not positive or a duty is not inside (0, 1).
  explicit Gait(const GaitOptions& options = {});

  /// Time 0: as after construction, with no leg in the air that is due to stand.
  void reset();
  /// Where the legs are `time` seconds into the episode, given which feet touch the ground.
  void update(double time, const PerLeg<bool>& contacts);

  /// What the time table alone says: stance or swing.
  const PerLeg<LegState>& desired() const { return desired_; }
  const PerLeg<LegState>& states() const { return states_; }
  /// The part of its present swing or stance (by the time table) that each leg has done, in [0, 1).
  const PerLeg<double>& phases() const { return phases_; }
  /// Whether a leg bears the robot: standing, or early on the ground.
  bool bears(int leg) const { return states_[leg] == LegState::stance || states_[leg] == LegState::early_contact; }
  /// What a policy is told of the feet: 1 stance, 0 swing, .5 early contact, -.5 lost contact.
  PerLeg<double> feet() const;
  double stance_duration(int leg) const { return options_.stance[leg]; }
  double swing_duration(int leg) const { return options_.stance[leg] / options_.duty[leg] - options_.stance[leg]; }

 private:
  GaitOptions options_;
  PerLeg<LegState> desired_{}, states_{};
  PerLeg<double> phases_{};
};

}  // namespace iap::legged
