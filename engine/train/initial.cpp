module;
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
module iap.train;
import iap.core;
import iap.policy;
import :checkpoint;
import :initial;
import :types;

namespace iap {
namespace {

/// FNV-1a in 64 bits over the parameters' and the moments' bytes.
std::string content_of(const Policy& policy) {
  Writer writer;
  writer.put_all(policy.parameters());
  for (const auto& [count, mean, squares] : policy.moments())
    for (const double value : {count, mean, squares}) writer.put(value);
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : writer.bytes()) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  std::string digits;
  for (int shift = 60; shift >= 0; shift -= 4) digits += "0123456789abcdef"[hash >> shift & 15];
  return digits;
}

Initial initial_of(PolicyFile file, std::string place) {
  std::string bytes = save_policy(file.policy, Config::Map{}), content = content_of(file.policy);
  return {std::move(file), std::move(bytes), std::move(content), std::move(place)};
}

/// What a resumed run kept of it.
std::optional<Initial> kept_initial(const TrainOptions& options, const std::string& place) {
  if (!options.resume || options.out.empty()) return {};
  const auto found = find_checkpoint(options.out);
  if (!found || found->checkpoint.initial.empty()) return {};
  return initial_of(load_policy(found->checkpoint.initial, place), place);
}

std::string path_of(const TrainOptions& options, std::string& content) {
  if (const auto* path = options.init.string()) return *path;
  Options reader("train: option 'init'", options.init);
  std::string path = reader.string("path", "");
  content = reader.string("content", "");
  reader.finish();
  return path;
}

/// A file's complaint; `init` has no trust to pass, nor has the run's command line.
std::string with_own_remedy(const std::string& complaint) {
  const auto asked = trust_asked(complaint);
  if (asked == std::string::npos) return complaint;
  return text(complaint.substr(0, complaint.rfind("; ", asked)),
              "; if you trust it, write init = iap.policy.load(PATH, { trust = true })");
}

}  // namespace

std::string::size_type trust_asked(const std::string& complaint) { return complaint.find("--trust"); }

std::optional<Initial> read_initial(const TrainOptions& options) {
  if (options.init_policy) {
    const Policy& given = options.init_policy->policy;
    return initial_of({given.clone(), options.init_policy->metadata}, "the policy given");
  }
  if (options.init.is_null()) return {};
  std::string content;
  const std::string path = path_of(options, content);
  std::optional<Initial> initial;
  try {
    if (path.empty()) throw Error("names no file");
    initial = initial_of(open_policy(path), path);
  } catch (const Error& error) {
    initial = kept_initial(options, path);
    if (!initial) throw Error(text("train: option 'init': ", with_own_remedy(error.what())));
  }
  if (!content.empty() && content != initial->content)
    throw Error(text("train: option 'init': '", path, "' holds a policy with the content ", initial->content, ", not ", content,
                     "; give it the policy that the run began at"));
  return initial;
}

}  // namespace iap
