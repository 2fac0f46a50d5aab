module;
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>
module iap.rollout;
import iap.core;
import iap.policy;
import :messages;
import :types;
import :worker;

namespace iap {
namespace {

constexpr const char* source = "message between a run and its worker";

}  // namespace

std::string encode(const WorkerOrder& order) {
  Writer writer;
  put(writer, order.setup);
  writer.put(order.instruction_sets);
  writer.put(order.memory);
  return writer.bytes();
}

WorkerOrder decode_order(std::string_view bytes) {
  return decode_all(bytes, source, [](Reader& reader) {
    WorkerOrder order;
    get(reader, order.setup);
    order.instruction_sets = reader.get<std::int64_t>();
    order.memory = reader.get<std::int32_t>();
    return order;
  });
}

std::string encode(const RolloutTask& task) {
  Writer writer;
  writer.put_all(task.parameters);
  put(writer, std::vector<Moment>(task.moments.begin(), task.moments.end()));
  writer.put(task.seed);
  put(writer, task.noise);
  writer.put(static_cast<std::uint8_t>(task.keep_actions));
  return writer.bytes();
}

std::unique_ptr<KeptTask> decode_task(std::string_view bytes) {
  return decode_all(bytes, source, [](Reader& reader) {
    auto kept = std::make_unique<KeptTask>();
    kept->parameters = reader.get_all<float>();
    get(reader, kept->moments);
    kept->task = {.parameters = std::span<const float>(kept->parameters), .moments = std::span<const Moment>(kept->moments)};
    kept->task.seed = reader.get<std::uint64_t>();
    get(reader, kept->task.noise);
    kept->task.keep_actions = reader.get<std::uint8_t>() != 0;
    return kept;
  });
}

std::string encode(const WorkerAnswer& answer) {
  Writer writer;
  writer.put_string(answer.error);
  put(writer, answer.episode);
  writer.put_string(answer.files);
  return writer.bytes();
}

WorkerAnswer decode_answer(std::string_view bytes) {
  return decode_all(bytes, source, [](Reader& reader) {
    WorkerAnswer answer;
    answer.error = reader.get_string();
    get(reader, answer.episode);
    answer.files = reader.get_string();
    return answer;
  });
}

}  // namespace iap
