module;
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>
module iap.ranks;
import iap.core;
import iap.policy;
import iap.rollout;
import :build_id;
import :messages;
import :types;

namespace iap {
namespace {

constexpr const char* source = "message of another rank";

/// How a task ended, in a byte.
enum class Ending : std::uint8_t { failed, played, interrupted };

template <typename T>
void put_vector(Writer& writer, const std::vector<T>& values) {
  writer.put_all(std::span<const T>(values));
}

void put(Writer& writer, const Welcome& welcome) { writer.put(welcome.instruction_sets); }
void put(Writer& writer, const Refusal& refusal) { writer.put_string(refusal.why); }
void put(Writer& writer, const PoolOpened& opened) {
  writer.put(opened.pool);
  put(writer, opened.setup);
  put(writer, opened.safeguards);
  put_vector(writer, opened.threads);
  writer.put(std::uint64_t{opened.files.size()});
  for (const auto& [name, content] : opened.files)
    for (const auto* line : {&name, &content}) writer.put_string(*line);
}
void put(Writer& writer, const PoolClosed& closed) { writer.put(closed.pool); }
void put(Writer& writer, const Round& round) {
  writer.put(round.round);
  writer.put(round.pool);
  put(writer, round.moments);
  writer.put(static_cast<std::uint8_t>(round.derivation.has_value()));
  if (round.derivation) {
    writer.put_string(to_json(round.derivation->optimizer));
    writer.put(round.derivation->seed);
    writer.put_string(round.derivation->state);
  }
  writer.put(round.parameters);
  put_vector(writer, round.vector);
}
void put(Writer& writer, const RoundEnded& ended) { writer.put(ended.round); }
void put(Writer&, const JobEnded&) {}

void get(Reader& reader, Welcome& welcome) { welcome.instruction_sets = reader.get<std::int64_t>(); }
void get(Reader& reader, Refusal& refusal) { refusal.why = reader.get_string(); }
void get(Reader& reader, PoolOpened& opened) {
  opened.pool = reader.get<std::uint64_t>();
  get(reader, opened.setup);
  get(reader, opened.safeguards);
  opened.threads = reader.get_all<std::int32_t>();
  for (auto left = reader.get<std::uint64_t>(); left > 0; --left) {
    std::string name = reader.get_string();
    opened.files[std::move(name)] = reader.get_string();
  }
}
void get(Reader& reader, PoolClosed& closed) { closed.pool = reader.get<std::uint64_t>(); }
void get(Reader& reader, Round& round) {
  round.round = reader.get<std::uint64_t>();
  round.pool = reader.get<std::uint64_t>();
  get(reader, round.moments);
  if (reader.get<std::uint8_t>() != 0) {
    Derivation& derivation = round.derivation.emplace();
    derivation.optimizer = parse_json(reader.get_string(), source);
    derivation.seed = reader.get<std::uint64_t>();
    derivation.state = reader.get_string();
  }
  round.parameters = reader.get<std::uint64_t>();
  round.vector = reader.get_all<float>();
}
void get(Reader& reader, RoundEnded& ended) { ended.round = reader.get<std::uint64_t>(); }
void get(Reader&, JobEnded&) {}

template <std::size_t kind>
void get_kind(Reader& reader, std::size_t wanted, Announcement& announcement) {
  if constexpr (kind < std::variant_size_v<Announcement>) {
    if (kind == wanted)
      get(reader, announcement.emplace<kind>());
    else
      get_kind<kind + 1>(reader, wanted, announcement);
  } else {
    throw Error(text(source, ": is of the unknown kind ", wanted));
  }
}

}  // namespace

std::string encode(const Hello& hello) {
  Writer writer;
  for (const auto* line : {&hello.host, &hello.build, &hello.cores}) writer.put_string(*line);
  writer.put(hello.threads);
  writer.put(hello.instruction_sets);
  writer.put(std::uint64_t{hello.task.words.size()});
  for (const auto& word : hello.task.words) writer.put_string(word);
  writer.put_string(hello.task.trouble);
  writer.put_string(hello.libraries);
  writer.put(hello.mathematics);
  return writer.bytes();
}

Hello decode_hello(std::string_view bytes) {
  Reader beginning(bytes, source);
  Hello stranger{.host = beginning.get_string(), .build = beginning.get_string(), .cores = {}};
  // Another build may say the rest in other words.
  if (stranger.build != build_id()) return stranger;
  return decode_all(bytes, source, [](Reader& reader) {
    Hello hello;
    for (auto* line : {&hello.host, &hello.build, &hello.cores}) *line = reader.get_string();
    hello.threads = reader.get<std::int32_t>();
    hello.instruction_sets = reader.get<std::int64_t>();
    for (auto left = reader.get<std::uint64_t>(); left > 0; --left) hello.task.words.push_back(reader.get_string());
    hello.task.trouble = reader.get_string();
    hello.libraries = reader.get_string();
    hello.mathematics = reader.get<std::uint32_t>();
    return hello;
  });
}

std::string encode(const Announcement& announcement) {
  Writer writer;
  writer.put(static_cast<std::uint8_t>(announcement.index()));
  std::visit([&writer](const auto& content) { put(writer, content); }, announcement);
  return writer.bytes();
}

Announcement decode_announcement(std::string_view bytes) {
  return decode_all(bytes, source, [](Reader& reader) {
    Announcement announcement;
    get_kind<0>(reader, reader.get<std::uint8_t>(), announcement);
    return announcement;
  });
}

std::string encode(const Lease& lease) {
  Writer writer;
  writer.put(lease.round);
  writer.put(std::uint64_t{lease.tasks.size()});
  for (const auto& task : lease.tasks) {
    writer.put(task.task);
    writer.put(task.vector);
    writer.put(task.seed);
    put(writer, task.noise);
    writer.put(static_cast<std::uint8_t>(task.keep_actions));
  }
  put_vector(writer, lease.numbers);
  put_vector(writer, lease.vectors);
  return writer.bytes();
}

Lease decode_lease(std::string_view bytes) {
  return decode_all(bytes, source, [](Reader& reader) {
    Lease lease{.round = reader.get<std::uint64_t>()};
    for (auto left = reader.get<std::uint64_t>(); left > 0; --left) {
      LeasedTask& task = lease.tasks.emplace_back();
      task.task = reader.get<std::uint64_t>();
      task.vector = reader.get<std::uint32_t>();
      task.seed = reader.get<std::uint64_t>();
      get(reader, task.noise);
      task.keep_actions = reader.get<std::uint8_t>() != 0;
    }
    lease.numbers = reader.get_all<std::uint32_t>();
    lease.vectors = reader.get_all<float>();
    return lease;
  });
}

std::string encode(const Result& result) {
  Writer writer;
  writer.put(result.round);
  writer.put(result.task);
  writer.put(result.seconds);
  const Ending ending = result.episode ? Ending::played : result.interrupted ? Ending::interrupted : Ending::failed;
  writer.put(static_cast<std::uint8_t>(ending));
  if (ending == Ending::played) put(writer, *result.episode);
  if (ending == Ending::failed) writer.put_string(result.error);
  if (ending == Ending::interrupted) writer.put(result.signal);
  return writer.bytes();
}

Result decode_result(std::string_view bytes) {
  return decode_all(bytes, source, [](Reader& reader) {
    Result result{.round = reader.get<std::uint64_t>(), .task = reader.get<std::uint64_t>(), .seconds = reader.get<double>()};
    const auto ending = static_cast<Ending>(reader.get<std::uint8_t>());
    result.interrupted = ending == Ending::interrupted;
    if (ending == Ending::played) get(reader, result.episode.emplace());
    if (ending == Ending::failed) result.error = reader.get_string();
    if (result.interrupted) result.signal = reader.get<std::int32_t>();
    return result;
  });
}

}  // namespace iap
