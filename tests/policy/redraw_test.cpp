// Random projections that change with the episode, as a policy's blocks have them.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "helpers.hpp"

using namespace iap;

TEST_CASE("every head of every block draws its projections anew in each episode, the same for the same seed") {
  for (const std::string block :
       {"'kind': 'rank', 'top': 1, 'heads': 2", "'kind': 'rank', 'top': 1, 'heads': 2, 'selection': 'sample'",
        "'kind': 'trans', 'tokens': 2, 'heads': 2", "'kind': 'cross', 'top': 1"})
    for (const std::string redraw : {"'never'", "'episode'"}) {
      CAPTURE(block, redraw);
      Policy policy(config("{'kind': 'sequence', 'blocks': [{" + block +
                           ", 'patch': 4, 'd': 4, 'kernel': 'exp', 'm': 3, 'redraw': " + redraw + "}, {'kind': 'linear'}]}"),
                    image_spec(16, 16), 1);
      policy.initialise(1);
      const Frame frame(policy.observation(), 2);
      const auto scores = [&](std::uint64_t seed) {
        policy.reset(seed);
        act(policy, frame);
        std::vector<std::vector<float>> all;
        for (const auto& view : policy.views()) all.emplace_back(view.scores.begin(), view.scores.end());
        return all;
      };
      // Seeds differ in their lower and in their upper halves.
      const auto first = scores(1), second = scores(2), third = scores(1 + (std::uint64_t{1} << 32));
      CHECK(scores(1) == first);
      for (std::size_t head = 0; head < first.size(); ++head) {
        CHECK((first[head] == second[head]) == (redraw == "'never'"));
        CHECK((first[head] == third[head]) == (redraw == "'never'"));
      }
    }
}
