module;
#include <string>
#include <string_view>
#include <vector>
/// The sections of a report, as HTML.
module iap.report:sections;
import iap.core;
import iap.policy;
import :importance;
import :media;
import :run_data;

namespace iap {

/// A card with a heading; `note` (HTML, may be empty) stands under it.
std::string section(std::string_view heading, std::string_view note, std::string_view body);

/// Figures of a single group's runs, as tiles.
std::string tiles_section(const RunGroup& group);
/// One row per group.
std::string comparison_section(const std::vector<RunGroup>& groups);
std::string curves_section(const std::vector<RunGroup>& groups);
/// `name` stands in the heading; may be empty.
std::string watch_section(const ReportMedia& media, const Run& run, const std::string& name, Trust trust);
/// "" of a policy that attends to nothing.
std::string importance_section(const ReportMedia& media, const std::string& name);
/// What the policy's blocks know of the state, or in one line why that is not said.
std::string probe_section(const ReportMedia& media, const Policy& policy, const std::string& name);
std::string parameters_section(const Policy& policy, const std::string& name);
/// All settings, those that differ between the groups first; then the scripts.
std::string settings_section(const std::vector<RunGroup>& groups);

}  // namespace iap
