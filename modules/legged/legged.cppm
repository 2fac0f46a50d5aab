/// iap.legged: what makes four legs walk: kinematics, gaits, trajectory generators, foot placement, model predictive control.
/// SI units; x forward, y left, z up; legs in the order front right, front left, rear right, rear left.
export module iap.legged;
import iap.core;
export import :legs;
export import :robots;
export import :leg_kinematics;
export import :composite_body;
export import :trajectory_generator;
export import :gait;
export import :foot_placement;
export import :swing;
export import :quadratic_program;
export import :body_dynamics;
export import :condensed_stance;
export import :stance_mpc;

export namespace iap {

/// Of the library behind this module's door.
LibraryVersions legged_versions();

}  // namespace iap
