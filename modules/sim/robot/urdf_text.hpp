// What is asked of a URDF text before a parser descends into it. Include after `module iap.sim;`, with <string> and <string_view>
// before it.
#pragma once

namespace iap {

// Reads `urdf`, which messages call `source`, as the library's XML parsers do, without recursion. Throws Error where its elements
// are nested too deeply, at a NUL, at what wants xacro, at what would be a format where urdfdom prints it, and at whatever those
// parsers may read otherwise than it is read here.
void check_urdf_text(std::string_view urdf, const std::string& source);

}  // namespace iap
