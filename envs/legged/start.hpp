// The start of a course of footholds. Include after `module iap.envs.legged;` and its imports.
#pragma once

namespace iap {

/// Reads the options of these names into `course`. @throws Error naming the option, and both where the robot, which stands at
/// x = 0, would have no start below it.
template <typename Course>
void read_start(Options& options, Course& course) {
  constexpr double least = .05, most = 20;
  course.least_start = options.number_in("least_start", least, most, course.least_start);
  course.most_start = options.number_in("most_start", course.least_start, most, course.most_start);
  course.behind = options.number_in("behind", 0, most, course.behind);
  if (course.behind >= course.least_start)
    options.fail(text("a start of least_start = ", course.least_start, " m that begins behind = ", course.behind,
                      " m behind the robot does not reach below it; make least_start longer than behind"));
}

}  // namespace iap
