// What disturbs DM Control's cameras, for the tasks and the tests.
export module iap.envs.distraction;
export import :camera_motion;
export import :distraction;
export import :disturbance;
export import :scenery;
export import :videos;
export import :walks;
