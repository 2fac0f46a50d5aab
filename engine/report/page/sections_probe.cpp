module;
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>
module iap.report;
import iap.core;
import iap.policy;
import :html;
import :media;
import :probe;
import :sections;

namespace iap {
namespace {

/// The style sheet's, for bars.
constexpr std::size_t colours = 8;

std::string cell(double r2, std::size_t colour) {
  if (std::isnan(r2)) return "<td class=\"readout\">–</td>";
  const double shown = std::max(r2, 0.0);
  return text("<td class=\"readout c", colour % colours, "\"><div>", fixed_text(shown, 2),
              "<span><i style=\"width:", fixed_text(100 * shown, 1), "%\"></i></span></div></td>");
}

std::string table(const ProbeResult& probe) {
  std::string html = "<div class=\"scroll\"><table class=\"readouts\">\n<tr><th>state</th>";
  for (std::size_t i = 0; i < probe.blocks.size(); ++i)
    html += text("<th><i class=\"swatch c", i % colours, "\"></i>", escaped(probe.blocks[i].path), " <small>",
                 counted(probe.blocks[i].outputs, "output"), "</small></th>");
  html += "</tr>\n";
  for (std::size_t k = 0; k < probe.variables.size(); ++k) {
    html += text("<tr><td class=\"name\">", escaped(probe.variables[k]), "</td>");
    for (std::size_t i = 0; i < probe.blocks.size(); ++i) html += cell(probe.blocks[i].r2[k], i);
    html += "</tr>\n";
  }
  html += "<tr class=\"total\"><td>mean</td>";
  for (std::size_t i = 0; i < probe.blocks.size(); ++i) html += cell(probe.blocks[i].mean, i);
  return html + "</tr>\n</table></div>\n";
}

/// A vector may hold velocities.
bool sees_images_alone(const Policy& policy) { return policy.observation().vector == 0; }

}  // namespace

std::string probe_section(const ReportMedia& media, const Policy& policy, const std::string& name) {
  const std::string heading = name.empty() ? "What it knows of the state" : "What it knows of the state: " + name;
  if (!media.probe) return section(heading, "", text("<p>Not measured: ", escaped(media.no_probe), ".</p>\n"));
  const ProbeResult& probe = *media.probe;
  return section(
      heading,
      text("How much of each variable of the simulator's state is a linear function of what a block hands over: R² of a ridge "
           "regression on episodes it was not fitted to (",
           counted(probe.fitted_episodes, "episode"), " and ", counted(static_cast<double>(probe.fitted_rows), "decision"),
           " fitted, ", probe.tested_episodes, " and ", figure(static_cast<double>(probe.tested_rows)),
           " tested; the policy acts). 1: all of it; 0: no more than its mean.",
           sees_images_alone(policy)
               ? " No single frame shows a velocity: what a block without memory explains of one follows from "
                 "the pose that goes with it."
               : ""),
      table(probe));
}

}  // namespace iap
