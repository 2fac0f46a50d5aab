/// iap.render: what a picture shows, the ray caster that draws it, and picture files, still and moving.
export module iap.render;
export import :texture;
export import :mesh;
export import :scene;
export import :draw;
export import :picture;
export import :attended;
export import :animation;
