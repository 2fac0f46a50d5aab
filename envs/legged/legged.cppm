/// iap.envs.legged: robots on four legs.
export module iap.envs.legged;
export import :robots;
export import :locomotion;
export import :footholds;
