/// iap.render: what a picture shows, the ray caster that draws it, and picture files, still and moving.
export module iap.render;
import iap.core;
export import :texture;
export import :mesh;
export import :scene;
export import :draw;
export import :picture;
export import :frame_files;
export import :attended;
export import :animation;

export namespace iap {

/// Of the libraries behind this module's doors.
LibraryVersions render_versions();

}  // namespace iap
