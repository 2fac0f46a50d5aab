// What is asked of a URDF text before a parser descends into it. Include after `module iap.sim;`, with <cstddef>, <string> and
// <string_view> before it.
#pragma once

namespace iap {

// Links, and joints, of a robot. urdfdom frees the links of a robot that it refuses by recursion along their chains.
constexpr std::size_t most_links = 2000;

// What all links have of <collision> and <visual> together: engines build and place them one by one, deaf to interrupts.
constexpr std::size_t most_shapes = 5000;

// Reads `urdf`, which messages call `source`, as the library's XML parsers do, without recursion. Throws Error where its elements
// are nested too deeply, where it has more links, joints or shapes than that, at a NUL, at what wants xacro, at what would be a
// format where urdfdom prints it, and at whatever those parsers may read otherwise than it is read here.
void check_urdf_text(std::string_view urdf, const std::string& source);

}  // namespace iap
