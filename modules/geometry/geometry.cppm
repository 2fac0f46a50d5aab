/// iap.geometry: vectors, rotations and frames in three dimensions, and the masses of bodies that stand in them.
export module iap.geometry;
export import :frames;
export import :masses;
