#include <cstdint>
#include <filesystem>
#include <iostream>
#include <string>
#include <system_error>

#include "cli/commands.hpp"
#include "cli/interrupts.hpp"
#include "cli/policy_env.hpp"
#include "cli/values.hpp"
import iap.core;
import iap.policy;
import iap.report;
import iap.train;

namespace iap::cli {
namespace {

/// Beside what else a run left, or here under the policy file's name. @throws Error where that is the policy file itself.
std::filesystem::path standard_place(const std::filesystem::path& policy, const char* file, const char* ending) {
  std::error_code ignored;
  if (!std::filesystem::is_directory(policy, ignored)) {
    const auto here = unnamed_place(policy.filename().replace_extension(ending));
    check_outputs({{"--out", here}}, {policy});
    return here;
  }
  const auto place = run_file(policy, text("media/", file));
  make_folder(place.parent_path());
  return place;
}

/// Who asked for patches or scores sees none, and learns why.
void tell_of_attention(const std::string& view, bool attention) {
  if (!attention && view != "raw" && view != "outside")
    std::cerr << "note: the policy attends to no patches of this picture; --view " << view << " shows the environment alone\n";
}

int play_strip(const PlayOptions& options, Policy& policy, const Config& env, const std::string& shown_policy) {
  const auto out = options.out ? *options.out : standard_place(options.source.policy, "strip.png", ".png");
  const VideoOptions& shown = options.video;
  const StripInfo strip = write_strip(out, policy, env,
                                      {.view = picture_view(options.view),
                                       .seed = shown.seed,
                                       .frames = options.strip,
                                       .steps = shown.steps,
                                       .scale = shown.scale,
                                       .redraw = shown.redraw});
  std::cout << "policy   " << shown_policy << "\n"
            << "strip    " << one_line(out.string()) << " (" << strip.width << " x " << strip.height << ", " << strip.pictures
            << (strip.pictures == 1 ? " picture" : " pictures")
            << (strip.pictures < options.strip ? text(" instead of ", options.strip, ", for want of steps, ") : ", ")
            << file_size_text(out) << ")\n"
            << "episode  return " << return_text(strip.episode.total) << ", " << strip.episode.steps << " steps, seed "
            << shown.seed << "\n";
  tell_of_attention(options.view, strip.attention);
  return Exit::success;
}

int play_window(const PlayOptions& options, Policy& policy, const Config& env, const std::string& shown_policy) {
  LiveOptions live{.video = options.video};
  live.video.view = picture_view(options.view);
  live.on_episode = [](const LiveEpisode& episode) {
    std::cout << "episode  return " << return_text(episode.total) << ", " << episode.steps << " steps, seed " << episode.seed;
    if (episode.steered > 0) std::cout << ", of which a person steered " << episode.steered;
    std::cout << (episode.ended ? "" : " (left before its end)") << std::endl;
  };
  std::cout << "policy   " << shown_policy << "\n"
            << "keys     " << LiveControls::help() << std::endl;
  play_live(policy, env, live);
  return Exit::success;
}

}  // namespace

std::string file_size_text(const std::filesystem::path& path) {
  std::error_code failure;
  const auto bytes = std::filesystem::file_size(path, failure);
  if (failure) return "a pipe or a device";
  return bytes < 1'000'000 ? text((bytes + 999) / 1000, " kB") : text(fixed_text(static_cast<double>(bytes) / 1e6, 1), " MB");
}

int play(const PlayOptions& options) {
  catch_interrupts(nullptr);
  catch_termination();
  check_outputs({{"--out", options.out}}, {options.source.policy});
  if (options.strip > 0 && options.out) check_picture_name(*options.out, "a strip");
  OpenedPolicy opened = open_source(options.source);
  const std::string fitted = fit_policy(opened, options.fit);
  const std::string shown = policy_line(opened) + (opened.carried.empty() ? "" : "\nnote     " + opened.carried) +
                            (fitted.empty() ? "" : "\nnote     " + fitted);
  if (options.live) return play_window(options, opened.policy, opened.env, shown);
  if (options.strip > 0) return play_strip(options, opened.policy, opened.env, shown);
  const auto out = options.out ? *options.out : standard_place(options.source.policy, "play.webp", ".webp");
  VideoOptions video = options.video;
  video.view = picture_view(options.view);
  const VideoInfo written = write_video(out, opened.policy, opened.env, video);
  std::cout << "policy   " << shown << "\n"
            << "video    " << one_line(out.string()) << " (" << written.width << " x " << written.height << ", " << written.frames
            << (written.frames == 1 ? " frame, " : " frames, ") << general_text(written.fps, 4) << " a second, "
            << file_size_text(out) << ")\n"
            << "episode  return " << return_text(written.episode.total) << ", " << written.episode.steps << " steps, seed "
            << video.seed << "\n";
  tell_of_attention(options.view, written.attention);
  return Exit::success;
}

}  // namespace iap::cli
