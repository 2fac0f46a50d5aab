module;
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>
/// What processes that play for each other say about episodes.
export module iap.rollout:messages;
import iap.core;
import iap.env;
import iap.policy;
import :safeguards;
import :types;

export namespace iap {

/// Environment and policy as another process builds them: JSON, as policy files have it.
struct RolloutSetup {
  std::string env, architecture, observation;
  std::int32_t action_size = 0;
};

RolloutSetup setup_of(const Config& env, const Policy& prototype);
/// The parts of `setup`. @throws Error naming `source`, and as Policy for what cannot be built.
Config env_of(const RolloutSetup& setup, const std::string& source);
Policy policy_of(const RolloutSetup& setup, const std::string& source);

void put(Writer& writer, const RolloutSetup& setup);
void put(Writer& writer, const Safeguards& safeguards);
void put(Writer& writer, const std::vector<Moment>& moments);
void put(Writer& writer, const ActionNoise& noise);
void put(Writer& writer, const Episode& episode);

void get(Reader& reader, RolloutSetup& setup);
void get(Reader& reader, Safeguards& safeguards);
void get(Reader& reader, std::vector<Moment>& moments);
void get(Reader& reader, ActionNoise& noise);
void get(Reader& reader, Episode& episode);

/// What `read` makes of all `bytes`. @throws Error naming `source` for bytes that are too few or too many.
template <typename Read>
auto decode_all(std::string_view bytes, const char* source, Read read) {
  Reader reader(bytes, source);
  auto value = read(reader);
  if (!reader.at_end()) throw Error(text(source, ": is longer than it says"));
  return value;
}

}  // namespace iap
