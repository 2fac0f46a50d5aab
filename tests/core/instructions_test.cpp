#include <hwy/targets.h>

#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <cstdint>
#include <string>
import iap.core;

using namespace iap;

TEST_CASE("to ask which instructions are in use changes them for nobody") {
  const std::int64_t all = instruction_sets();
  const std::string best = best_instruction_set(all);
  const auto in_force = [] { return hwy::GetChosenTarget().GetIndex(); };
  const std::size_t before = in_force();

  choose_instructions("portable");
  const std::size_t portable = in_force();
  CHECK(best_instruction_set(instruction_sets()) == "SSSE3");
  CHECK(in_force() == portable);
  CHECK(chosen_instructions() == "portable");

  use_instruction_sets(all);
  choose_instructions("SSE4");
  const std::size_t sse4 = in_force();
  CHECK(sse4 != portable);
  CHECK(chosen_instructions() == "SSE4");
  CHECK(in_force() == sse4);

  choose_instructions("portable");
  use_instruction_sets(all);
  CHECK(instruction_sets() == all);
  choose_instructions(best);
  CHECK(chosen_instructions() == best);
  CHECK(in_force() == before);
}
