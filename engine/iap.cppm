/// The umbrella module for C++ hosts: `import iap;`.
export module iap;
export import iap.core;
export import iap.plugin;
export import iap.attention;
export import iap.policy;
export import iap.ranks;
export import iap.optim;
export import iap.env;
export import iap.contract;
export import iap.render;
export import iap.geometry;
export import iap.sim;
export import iap.legged;
export import iap.envs;
export import iap.rollout;
export import iap.train;
export import iap.npz;
export import iap.report;
export import iap.bench;
export import iap.script;

namespace iap {

/// Who imports the whole engine can load what is written in Lua.
[[maybe_unused]] const bool lua_is_registered = (register_lua(), true);

}  // namespace iap
