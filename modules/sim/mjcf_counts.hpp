// What all texts of a model make together. Include after `module iap.sim;`, with <cstddef>, <optional>, <span>, <string> and
// <string_view> before it.
#pragma once

namespace iap {

// How MuJoCo finds out between which lengths actuators can move (<lengthrange>), as far as it is written.
struct MjcfLengthRange {
  std::string_view mode;
  std::optional<double> total, step;  // in seconds
};

// Elements cost memory and time out of all proportion to their text, and MuJoCo multiplies some of these numbers as integers of 32
// bits. What adds to a count returns what is wrong with it, or "".
class MjcfCounts {
 public:
  double height_bytes = 0;  // of height fields
  double user = 0;          // numbers of the user that each body, geom ... has, at most

  std::string add_element(std::string_view element);
  std::string add_reference();  // an attribute that names a file
  std::string add_body();
  std::string add_geom();
  // `type` is "" where it is not written. What stands in a <default> says what joints without one are, those before it, too.
  std::string add_joint(std::string_view type, bool in_default);
  std::string add_composite(std::string_view type, std::span<const double> count);
  std::string add_length_range(const MjcfLengthRange& range);
  // One of its length is computed where it is a muscle, which a default may have made of it.
  void add_actuator(bool muscle, bool in_default);

  // What is wrong with all texts together, or "".
  std::string complaint() const;
  double user_bytes() const;

 private:
  std::string freedom_complaint() const;

  std::size_t elements_ = 0, defaults_ = 0, keys_ = 0, references_ = 0, actuators_ = 0;
  double bodies_ = 0, geoms_ = 0;
  // Of joints whose type is written and of composites; of each that has none.
  double freedom_ = 0, untyped_joints_ = 0, freedom_of_untyped_ = 1;
  // MuJoCo's own, until a text says otherwise.
  double range_total_ = 10, range_step_ = .01;
  bool muscles_ = false, ranges_of_all_ = false, ranges_of_muscles_ = false, ranges_of_none_ = false;
};

// What is wrong with a height field of so many heights, or "".
std::string heights_complaint(double rows, double columns);

}  // namespace iap
