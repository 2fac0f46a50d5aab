// What a model's meshes say of their own corners, which MuJoCo believes. Include after `module iap.sim;`, with <string> and
// <string_view> before it.
#pragma once

namespace iap {

// A mesh or skin of a model in a file: OBJ, MuJoCo's own format (MSH), SKN; others have no corners by number. Throws Error naming
// the file and what it says of vertices or normals that are not there.
void check_mesh_file(const std::string& name, std::string_view content);

// Of a mesh that stands in an MJCF: the numbers of its attributes `vertex` and `face`. What is wrong with them, or "".
std::string mesh_complaint(std::string_view vertices, std::string_view faces);

}  // namespace iap
