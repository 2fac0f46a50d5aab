module;
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>
module iap.report;
import iap.core;
import iap.policy;
import iap.render;
import :axis;
import :histogram;
import :html;
import :importance;
import :media;
import :run_data;
import :sections;
import :viewer;

namespace iap {
namespace {

std::string titled(std::string_view title, const std::string& name) {
  return name.empty() ? std::string(title) : text(title, ": ", name);
}

std::string pictures(const std::vector<std::string>& webps, std::string_view kind, const std::string& description) {
  std::string html = text("<div class=\"frames", kind, "\">\n");
  for (const auto& webp : webps)
    html += text("<img src=\"", data_address("image/webp", webp), "\" alt=\"", escaped(description), "\">\n");
  return html + "</div>\n";
}

/// The colours of a heat map from the lowest to the highest.
std::string colour_bar() {
  constexpr int steps = 64, step_width = 3, height = 12;
  std::string svg = text("<svg class=\"colours\" width=\"", steps * step_width, "\" height=\"", height, "\" viewBox=\"0 0 ",
                         steps * step_width, " ", height, "\" role=\"img\" aria-label=\"colours of scores\">");
  for (int i = 0; i < steps; ++i) {
    const Rgb8 colour = heat_colour(i / (steps - 1.0));
    svg += text("<rect x=\"", i * step_width, "\" width=\"", step_width + 1, "\" height=\"", height, "\" fill=\"rgb(",
                int{colour[0]}, ",", int{colour[1]}, ",", int{colour[2]}, ")\"/>");
  }
  return svg + "</svg>";
}

std::string percent(double part) { return tick_label(100 * part) + "%"; }

std::string example(const PatchExample& patch) {
  return text("<span><img src=\"", data_address("image/png", encode_png(patch.image.view())),
              "\" alt=\"\"><i style=\"left:", percent(patch.left), ";top:", percent(patch.top), ";width:", percent(patch.size),
              ";height:", percent(patch.size), "\"></i></span>\n");
}

std::string range_rows(const ScoreRange& range, std::size_t colour) {
  std::string html = text("<div class=\"range\"><p><b><i class=\"swatch c", colour, "\"></i>", escaped(range.label), "</b><span>",
                          figure(static_cast<double>(range.count)), range.count == 1 ? " patch" : " patches", ", scores ",
                          figures_between(range.low, range.high), "</span></p>\n<div class=\"patches\">\n");
  for (const PatchExample& patch : range.examples) html += example(patch);
  return html + "</div></div>\n";
}

std::string shape_of(const ParameterSlice& slice) {
  std::string shape;
  for (const int size : slice.shape) shape += text(shape.empty() ? "" : " × ", size);
  return shape;
}

/// The arrays of parameters of each block, by its path.
using BlockSlices = std::map<std::string_view, std::vector<const ParameterSlice*>>;

BlockSlices slices_by_block(const Policy& policy) {
  BlockSlices slices;
  for (const ParameterSlice& slice : policy.layout().slices())
    slices[std::string_view(slice.name).substr(0, slice.name.rfind('.'))].push_back(&slice);
  return slices;
}

void add_block(const Block& block, const Policy& policy, const BlockSlices& slices, std::string& rows) {
  rows += text("<tr class=\"block\"><td class=\"name\"><b>", escaped(block.path()), "</b></td><td class=\"kind\">",
               escaped(block.kind()), block.describe().empty() ? "" : " <small>" + escaped(block.describe()) + "</small>",
               "</td><td class=\"number outputs\">", block.outputs(),
               "</td><td class=\"number\"></td><td class=\"share\"></td></tr>\n");
  const auto own = slices.find(block.path());
  if (own != slices.end())
    for (const ParameterSlice* slice : own->second) {
      const double share = static_cast<double>(slice->size) / static_cast<double>(policy.size());
      rows += text("<tr><td class=\"name\"><small>", escaped(slice->name.substr(slice->name.rfind('.') + 1)),
                   "</small></td><td><small>", shape_of(*slice), "</small></td><td class=\"outputs\"></td><td class=\"number\">",
                   figure(static_cast<double>(slice->size)), "</td><td class=\"share\"><i style=\"width:", percent(share),
                   "\"></i></td></tr>\n");
    }
  for (const auto& child : block.children()) add_block(*child, policy, slices, rows);
}

/// "The best policy of seed 3 (best.iap, iteration 80)".
std::string shown_policy(const Run& run) {
  const Config* iteration = run.policy->metadata.find("iteration");
  return text(run.final ? "The last policy of seed " : "The best policy of seed ", run.seed,
              run.final ? " (final.iap" : " (best.iap",
              iteration && iteration->integer() ? text(", iteration ", *iteration->integer()) : "", ")");
}

bool has_cross(const Block& block) {
  return block.kind() == "cross" || std::ranges::any_of(block.children(), [](const auto& child) { return has_cross(*child); });
}

/// What the squares of the policy's pictures are.
std::string squares(const ReportMedia& media, const Policy& policy) {
  bool chosen = false, weighed = false;
  for (const auto& view : shown_views(policy)) (weighs_all(policy, view.block) ? weighed : chosen) = true;
  constexpr std::string_view seen = "the patches whose positions or contents the rest of the policy sees";
  constexpr std::string_view heaviest = "the patches that weigh most, though all count";
  const std::string colours = coloured_blocks(policy);
  return text(
      " Squares are ", chosen || !weighed ? seen : "", chosen && weighed ? ", and of blocks that choose none " : "",
      weighed ? heaviest : "", "; the ", colours.empty() ? "whiter" : "more opaque", ", the higher their score in the frame.",
      colours.empty()
          ? ""
          : text(" Each block or head has a colour, and stripes of several stand where they meet: ", escaped(colours), "."),
      has_cross(policy.root()) ? " Those of a cross show the frame that its keys came from, and so do its scores." : "",
      media.rested ? " Those of a level that was not asked in a step show the frame that it saw last, and so do its scores." : "");
}

/// How much of its episode the film shows.
std::string shown_part(const ReportMedia& media) {
  if (media.whole) return "All";
  return "The first " + (media.seconds > 0 ? duration(media.seconds) : counted(media.steps, "step"));
}

/// How fast the film is, where steps have a duration.
std::string pace_of(const ReportMedia& media) {
  constexpr double rounding = 1e-5;
  if (std::abs(media.pace - 1) < rounding) return ", in real time";
  return media.pace > 0 ? text(", at ", figure(media.pace), " times the real speed") : "";
}

/// The command that plays an episode of the shown policy.
std::string replay(const ReportMedia& media, const Run& run, Trust trust) {
  return text("iap play ", shell_word(run.folder.string()), run.final ? " --policy final" : "", " --seed ", media.seed,
              media.as_seen.empty() ? "" : " --as-seen", trust == Trust::yes ? " --trust" : "");
}

}  // namespace

std::string watch_section(const ReportMedia& media, const Run& run, const std::string& name, Trust trust) {
  const bool attends = !media.heat.empty();
  const std::string episode =
      text("an episode of return ", figure(media.episode.total), ", ", counted(media.episode.steps, "step"));
  std::string body = text(
      "<div class=\"watch\"><figure class=\"video\"><img src=\"", data_address("image/webp", media.video), "\" width=\"",
      media.width, "\" height=\"", media.height, "\" style=\"height:auto\" alt=\"Video of ", episode, "\"><figcaption>",
      shown_part(media), " of ", episode, pace_of(media),
      media.as_seen.empty() ? "" : text(", in the policy's own pixels: drawn larger, the environment ", escaped(media.as_seen)),
      ". Its own seed is ", media.seed, ": <code>", escaped(replay(media, run, trust)),
      "</code> plays it again.</figcaption></figure>\n<figure>");
  body += pictures(media.frames, "", "A frame of the episode");
  body += text("<figcaption>Frames of that episode, evenly spaced.</figcaption></figure></div>\n");
  const std::string blocks = mapped_blocks(run.policy->policy);
  if (attends)
    body +=
        text("<h3>Scores of all patches", blocks.empty() ? "" : text(" by <code>", escaped(blocks), "</code>"), "</h3>\n<figure>") +
        pictures(media.heat, " row", "The score of every patch") +
        text("<figcaption class=\"scale\">",
             media.rested || has_cross(run.policy->policy.root()) ? "The same steps, in the frames that were scored."
                                                                  : "The same frames.",
             " Lowest score of a frame ", colour_bar(), " its highest</figcaption></figure>\n");
  return section(titled(attends ? "What it attends to" : "What it does", name),
                 text(shown_policy(run), ".", attends ? squares(media, run.policy->policy) : ""), body);
}

std::string importance_section(const ReportMedia& media, const std::string& name) {
  const Importance& importance = media.importance;
  const std::string heading = titled("From scores to patches", name);
  if (importance.ranges.empty())
    return media.heat.empty() || media.no_importance.empty()
               ? ""
               : section(heading, "", text("<p>Not measured: ", escaped(media.no_importance), "</p>\n"));
  Frame frame{.width = 900,
              .height = 240,
              .x_label = scores_label(importance.histogram),
              .y_label = "patches (logarithmic)",
              .description = "Histogram of patch scores"};
  std::string body = text("<figure><div class=\"wide\">", svg_histogram(importance.histogram, frame), "</div>");
  frame.width = 340;
  frame.height = 220;
  body += text("<div class=\"narrow\">", svg_histogram(importance.histogram, frame), "</div></figure>\n");
  for (std::size_t i = 0; i < importance.ranges.size(); ++i) body += range_rows(importance.ranges[i], i);
  return section(heading,
                 text("The scores that <code>", escaped(importance.block), "</code> gave to ",
                      figure(static_cast<double>(importance.patches)), " patches of ", importance.patch, " × ", importance.patch,
                      " pixels in ", counted(static_cast<double>(importance.frames), "frame"), " of ",
                      counted(importance.episodes, "episode"), " (mean return ", figure(importance.mean_return), "). ",
                      importance.weighs_all ? "All of them count, the more the higher their score."
                                            : text("It chooses ", importance.chosen, " per frame."),
                      " Below, patches drawn at random from four ranges, with what surrounds them; patches of equal score are in "
                      "every range that this score lies in."),
                 body);
}

std::string parameters_section(const Policy& policy, const std::string& name) {
  std::string rows;
  add_block(policy.root(), policy, slices_by_block(policy), rows);
  return section(
      titled("Parameters", name), "",
      text(
          "<div class=\"scroll\"><table class=\"blocks\">\n<tr><th>block</th><th>kind</th><th class=\"number outputs\">outputs</th>"
          "<th class=\"number\">parameters</th><th class=\"share\"></th></tr>\n",
          rows, "<tr class=\"total\"><td>total</td><td></td><td class=\"number outputs\">", policy.action_size(),
          "</td><td class=\"number\">", figure(static_cast<double>(policy.size())),
          "</td><td class=\"share\"></td></tr>\n</table></div>\n"));
}

}  // namespace iap
