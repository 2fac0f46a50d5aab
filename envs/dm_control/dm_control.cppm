// The inside of DM Control's tasks, for their own bodies and their tests.
export module iap.envs.dm_control;
export import iap.envs.mujoco;
export import :models;
export import :task;
