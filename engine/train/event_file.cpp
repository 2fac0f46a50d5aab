module;
#include <isa-l.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <limits>
#include <protozero/pbf_reader.hpp>
#include <protozero/pbf_writer.hpp>
#include <protozero/version.hpp>
#include <string>
#include <string_view>
#include <vector>
module iap.train;
import iap.core;
import :metrics_logs;

namespace iap {
namespace {

constexpr double none = std::numeric_limits<double>::quiet_NaN();
constexpr std::size_t length_bytes = 8, sum_bytes = 4;

// Fields of TensorFlow's event.proto and summary.proto.
namespace event {
constexpr protozero::pbf_tag_type wall_time = 1, step = 2, file_version = 3, summary = 5;
}
namespace summary {
constexpr protozero::pbf_tag_type value = 1;
}
namespace value {
constexpr protozero::pbf_tag_type tag = 1, simple_value = 2;
}

template <typename Number>
std::string little_endian(Number number) {
  std::string bytes;
  for (std::size_t i = 0; i < sizeof number; ++i) bytes += static_cast<char>(number >> (8 * i) & 0xff);
  return bytes;
}

/// CRC-32C, turned and shifted as TFRecord does.
std::uint32_t masked_sum(std::string_view bytes) {
  std::string copy(bytes);  // the library asks for bytes that may change
  const std::uint32_t sum = ~crc32_iscsi(reinterpret_cast<unsigned char*>(copy.data()), static_cast<int>(copy.size()), 0xffffffffU);
  return (sum >> 15 | sum << 17) + 0xa282ead8U;
}

std::string record(const std::string& data) {
  const std::string length = little_endian<std::uint64_t>(data.size());
  return length + little_endian(masked_sum(length)) + data + little_endian(masked_sum(data));
}

}  // namespace

LibraryVersions train_versions() {
  return {{"isa-l", version_text(ISAL_MAJOR_VERSION, ISAL_MINOR_VERSION, ISAL_PATCH_VERSION)},
          {"protozero", PROTOZERO_VERSION_STRING}};
}

std::string event_head(double start) {
  std::string data;
  protozero::pbf_writer writer(data);
  writer.add_double(event::wall_time, start);
  writer.add_string(event::file_version, "brain.Event:2");
  return record(data);
}

std::string event_row(const MetricsRow& row, double start) {
  std::string values;
  protozero::pbf_writer summary_writer(values);
  for (std::size_t i = 0; i < row.names.size(); ++i) {
    double number = none;
    if (row.names[i] == "iteration" || !read_cell(row.cells[i], number) || std::isnan(number)) continue;
    protozero::pbf_writer writer(summary_writer, summary::value);
    writer.add_string(value::tag, row.names[i]);
    writer.add_float(value::simple_value, static_cast<float>(number));
  }
  const double seconds = row.value("seconds");
  std::string data;
  protozero::pbf_writer writer(data);
  writer.add_double(event::wall_time, std::isfinite(seconds) ? start + seconds : start);
  writer.add_int64(event::step, static_cast<std::int64_t>(row.value("iteration")));
  writer.add_message(event::summary, values);
  return record(data);
}

double event_start(std::string_view file) {
  constexpr std::size_t head = length_bytes + sum_bytes, longest = 64;
  if (file.size() < head) return none;
  const auto length = static_cast<std::size_t>(static_cast<unsigned char>(file[0]));
  const std::string_view data = file.substr(head, length);
  if (length > longest || file.size() < head + length + sum_bytes ||
      file.substr(0, head + length + sum_bytes) != record(std::string(data)))
    return none;
  try {
    protozero::pbf_reader reader(data.data(), data.size());
    return reader.next(event::wall_time) ? reader.get_double() : none;
  } catch (const std::exception&) {
    return none;
  }
}

}  // namespace iap
