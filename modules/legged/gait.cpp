module;
#include <cmath>
module iap.legged;
import iap.core;

namespace iap::legged {

Gait::Gait(const GaitOptions& options) : options_(options) {
  for (int leg = 0; leg < leg_count; ++leg) {
    if (!(options.stance[leg] > 0 && std::isfinite(options.stance[leg])))
      throw Error(text("gait: leg ", leg_names[leg], " stands for ", options.stance[leg], " s; it must be longer than 0"));
    if (!(options.duty[leg] > 0 && options.duty[leg] < 1))
      throw Error(text("gait: leg ", leg_names[leg], " has a duty of ", options.duty[leg], "; it must be between 0 and 1"));
    if (!std::isfinite(options.offsets[leg]))
      throw Error(text("gait: leg ", leg_names[leg], " has the offset ", options.offsets[leg], "; it must be finite"));
  }
  reset();
}

void Gait::reset() { update(0, {true, true, true, true}); }

void Gait::update(double time, const PerLeg<bool>& contacts) {
  for (int leg = 0; leg < leg_count; ++leg) {
    const double duty = options_.duty[leg];
    const double cycles = time * duty / options_.stance[leg] + options_.offsets[leg];
    const double cycle = cycles - std::floor(cycles);
    const bool stands = cycle < duty;
    desired_[leg] = states_[leg] = stands ? LegState::stance : LegState::swing;
    phases_[leg] = stands ? cycle / duty : (cycle - duty) / (1 - duty);
    if (phases_[leg] < options_.contact_phase) continue;
    if (!stands && contacts[leg]) states_[leg] = LegState::early_contact;
    if (stands && !contacts[leg]) states_[leg] = LegState::lost_contact;
  }
}

PerLeg<double> Gait::feet() const {
  PerLeg<double> values{};
  for (int leg = 0; leg < leg_count; ++leg) switch (states_[leg]) {
      case LegState::stance: values[leg] = 1; break;
      case LegState::swing: values[leg] = 0; break;
      case LegState::early_contact: values[leg] = 0.5; break;
      case LegState::lost_contact: values[leg] = -0.5; break;
    }
  return values;
}

}  // namespace iap::legged
