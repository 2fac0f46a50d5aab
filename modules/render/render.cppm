export module iap.render;
export import :scene;
export import :draw;
export import :picture;
