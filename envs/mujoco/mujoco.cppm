// What tasks on MuJoCo's models share, whoever writes their rewards.
export module iap.envs.mujoco;
export import :task;
export import :tolerance;
