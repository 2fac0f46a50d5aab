// The inside of car-racing, for its own bodies and its tests.
export module iap.envs.car_racing;
export import :canvas;
export import :frames;
export import :picture;
export import :track;
export import :world;
