// The inside of take-cover, for its own bodies and its tests.
export module iap.envs.take_cover;
export import :art;
export import :blur;
export import :picture;
export import :text;
export import :view;
export import :wad;
export import :world;
