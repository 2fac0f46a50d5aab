// What a model's PNG unpacks to. Include after `module iap.sim;`, with <string> and <string_view> before it.
#pragma once

namespace iap {

struct PictureSides {
  double width = 0, height = 0;
};

// Throws Error naming the file and both sides where MuJoCo has no room for so many pixels.
void check_sides(const std::string& name, const PictureSides& sides);

// Of a PNG, what its header says; of other files nothing.
PictureSides png_sides(std::string_view content);

// Of a texture or height field: refuses what is a PNG under another name, or another kind of picture, which MuJoCo would read as
// its own format. Throws Error naming the file, what it is, and how to make a PNG of it.
void check_kind(const std::string& name, std::string_view content, bool called_png);

// A PNG of few bytes can stand for many pixels, and for more than its header tells; MuJoCo unpacks them all before it compares.
// Other files are taken as they are. Throws Error naming the file where they are too many or cannot be unpacked, and where it has
// more than one colour profile.
void check_png(const std::string& name, std::string_view content);

}  // namespace iap
