// Include <algorithm>, <cstddef>, <map>, <string> and <vector> first.
#pragma once

namespace iap {

/// Labels as `cut` shortens them, which keeps a label's beginning and its end. Those that this makes alike begin where they part.
template <typename Cut>
std::vector<std::string> cut_apart(const std::vector<std::string>& labels, const Cut& cut) {
  constexpr std::size_t most_before = 24, least_before = 6;  // bytes of what they share: a name begins whole, if it is short
  std::vector<std::string> shown;
  std::map<std::string, std::vector<std::size_t>> alike;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    shown.push_back(cut(labels[i]));
    alike[shown.back()].push_back(i);
  }
  for (const auto& [words, places] : alike) {
    const std::string& first = labels[places.front()];
    std::size_t common = first.size();
    bool differ = false;
    for (const std::size_t i : places) {
      common = std::min(common, static_cast<std::size_t>(std::ranges::mismatch(first, labels[i]).in1 - first.begin()));
      differ = differ || labels[i] != first;
    }
    if (!differ) continue;
    const auto mark = first.substr(0, common).find_last_of("/, ");
    std::size_t begin =
        mark != std::string::npos && common - mark <= most_before ? mark + 1 : common - std::min(common, least_before);
    while (begin > 0 && (static_cast<unsigned char>(first[begin]) & 0xC0) == 0x80) --begin;  // never within a letter
    for (const std::size_t i : places) shown[i] = cut("…" + labels[i].substr(begin));
  }
  return shown;
}

}  // namespace iap
