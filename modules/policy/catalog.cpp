module;
#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>
module iap.policy;
import iap.core;
import :internal;

namespace iap {

MadeBlock make_sequence(Options& options, const BlockContext& context, ParameterLayout& layout);
MadeBlock make_concat(Options& options, const BlockContext& context, ParameterLayout& layout);
MadeBlock make_observation(Options& options, const BlockContext& context, ParameterLayout& layout);
MadeBlock make_linear(Options& options, const BlockContext& context, ParameterLayout& layout);
MadeBlock make_mlp(Options& options, const BlockContext& context, ParameterLayout& layout);
MadeBlock make_rank(Options& options, const BlockContext& context, ParameterLayout& layout);
MadeBlock make_trans_block(Options& options, const BlockContext& context, ParameterLayout& layout);
MadeBlock make_cross(Options& options, const BlockContext& context, ParameterLayout& layout);
MadeBlock make_look(Options& options, const BlockContext& context, ParameterLayout& layout);
MadeBlock make_hierarchy(Options& options, const BlockContext& context, ParameterLayout& layout);
MadeBlock make_lstm(Options& options, const BlockContext& context, ParameterLayout& layout);
MadeBlock make_script(Options& options, const BlockContext& context, ParameterLayout& layout);
MadeBlock make_cnn(Options& options, const BlockContext& context, ParameterLayout& layout);
MadeBlock make_clock(Options& options, const BlockContext& context, ParameterLayout& layout);
MadeBlock make_delta(Options& options, const BlockContext& context, ParameterLayout& layout);
MadeBlock make_stack(Options& options, const BlockContext& context, ParameterLayout& layout);
MadeBlock make_product(Options& options, const BlockContext& context, ParameterLayout& layout);
MadeBlock make_normalise(Options& options, const BlockContext& context, ParameterLayout& layout);
MadeBlock make_mirror(Options& options, const BlockContext& context, ParameterLayout& layout);
MadeBlock make_rnn(Options& options, const BlockContext& context, ParameterLayout& layout);
MadeBlock make_attention_agent(Options& options, const BlockContext& context, ParameterLayout& layout);

namespace {

constexpr int most_units = 1 << 24;
/// Blocks inside each other; each keeps a table that holds those of all blocks inside it.
constexpr int deepest = 16;
constexpr std::size_t longest_name = 100;

/// What messages call the block at `path`.
std::string owner_of(const std::string& path) { return path == "policy" ? path : "policy." + path; }

std::vector<std::string> kinds() {
  std::vector<std::string> names;
  for (const auto& entry : block_catalog()) names.push_back(entry.name);
  return names;
}

bool is_plain_name(std::string_view name) {
  if (name.empty() || name.size() > longest_name || std::isdigit(static_cast<unsigned char>(name.front()))) return false;
  for (const char c : name)
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '_' && c != '-') return false;
  return true;
}

/// What is wrong with the option `name` of a block, or "".
std::string name_flaw(const Config& name) {
  if (name.is_null() || (name.string() && is_plain_name(*name.string()))) return "";
  return text("has the name ", name.describe(), "; a name is at most ", longest_name,
              " letters, digits, '_' and '-', and begins with no digit");
}

/// Counts the block that is about to be built, and looks for an interrupt now and then; small policies are built to their end.
void count_block(const BlockContext& context) {
  constexpr int some = 1 << 8;
  const auto refuse = [&](const auto&... words) { throw Error(text(owner_of(context.path), ": ", words...)); };
  if (context.depth > deepest)
    refuse("stands inside ", context.depth - 1, " other blocks, at most ", deepest - 1, " are allowed; take some of them out");
  if (++*context.built > most_blocks) refuse("there are more than the ", most_blocks, " blocks that a policy may have; take fewer");
  if (*context.built % some == 0) check_interrupt();
}

}  // namespace

std::span<const BlockEntry> block_catalog() {
  static const std::array entries{
      BlockEntry{"sequence", "blocks one after the other; each reads what the one before wrote",
                 R"({"blocks": [{"kind": "linear", "units": 4, "activation": "relu"}, {"kind": "linear", "units": 3}]})",
                 make_sequence},
      BlockEntry{"concat", "blocks side by side on the same input; their outputs are joined",
                 R"({"blocks": [{"kind": "rank", "patch": 4, "top": 2}, {"kind": "observation"}]})", make_concat},
      BlockEntry{"observation", "the observation's vector", R"({})", make_observation},
      BlockEntry{"rank", "IAP-rank: what the patches with the highest attention scores show",
                 R"({"patch": 4, "d": 4, "top": 3, "values": ["position", "content"], "motion": true})", make_rank, true},
      BlockEntry{
          "trans", "IAP-trans: the image compressed by attention to a few rows of values",
          R"({"patch": 4, "d": 4, "tokens": 3, "dv": 5, "kernel": "exp", "heads": 2, "encoding": "learned", "layer_norm": true})",
          make_trans_block, true},
      BlockEntry{"cross", "IAP-rank as cross-attention: queries of every frame choose patches of a frame that changes less often",
                 R"({"patch": 4, "d": 4, "top": 3, "every": 2, "ranking": "hash", "kernel": "trig", "input": "normalised",)"
                 R"( "key_patch": 3, "key_stride": 2, "values": ["position", "content"]})",
                 make_cross, true},
      BlockEntry{"look", "attention whose queries are made of the numbers before it: what patches show near a place, say",
                 R"({"patch": 4, "d": 4, "queries": 2, "bias": true, "values": ["position", "content"]})", make_look, true},
      BlockEntry{"linear", "one dense layer with an activation", R"({"units": 5, "activation": "tanh"})", make_linear},
      BlockEntry{"mlp", "dense layers with activations", R"({"hidden": [8, 6], "units": 5})", make_mlp},
      BlockEntry{"delta", "its input and the scaled difference to the frame before", R"({"scale": 2})", make_delta},
      BlockEntry{"stack", "the last n inputs, newest first", R"({"n": 2})", make_stack},
      BlockEntry{"product", "its input and the products of two inputs each, for what is no sum", R"({"squares": true})",
                 make_product},
      BlockEntry{"normalise", "its input less its mean, over its deviation, both since the start of the episode or over training",
                 R"({"over": "training", "clip": 5})", make_normalise},
      BlockEntry{"clock", "sine and cosine of a phase with a learned frequency, zero at the start of an episode",
                 R"({"frequency": 1.5, "harmonics": 2, "dt": 0.04})", make_clock},
      BlockEntry{
          "cnn", "convolutions over an image, with activations and pooling",
          R"({"layers": [{"channels": 3, "pool": 2}, {"channels": 2, "stride": 2, "padding": "same", "pooling": "average"}],)"
          R"( "activation": "tanh"})",
          make_cnn},
      BlockEntry{"hierarchy", "a high level that chooses a latent and for how long, a low level that acts on it",
                 R"({"high": {"kind": "sequence", "blocks": [{"kind": "rank", "patch": 4, "top": 2}, {"kind": "linear"}]},)"
                 R"( "low": {"kind": "linear", "units": 3}, "duration": [1, 3], "latent": 2})",
                 make_hierarchy},
      BlockEntry{"mirror", "a block that treats left and right alike: asked of the picture and of its mirror image",
                 R"({"block": {"kind": "cnn", "layers": [{"channels": 2}]}, "odd": [1]})", make_mirror},
      BlockEntry{"lstm", "long short-term memory, zero at the start of an episode", R"({"units": 4})", make_lstm},
      BlockEntry{"script", "a block written in Lua; the slowest, for ideas",
                 R"lua({"file": "example.lua", "gain": 2, "source": "return function(options, shapes) )lua"
                 R"lua(return {parameters = 2, outputs = 3, forward = function(self, p, x) )lua"
                 R"lua(return {p[1], p[2] * options.gain, x[1]} end} end"})lua",
                 make_script},
      BlockEntry{"rnn", "plain recurrent layer, zero at the start of an episode", R"({"units": 4})", make_rnn},
      BlockEntry{"attention_agent",
                 "AttentionAgent: rank by exact softmax attention, an LSTM of 16 units, a linear layer with tanh",
                 R"({"rank": {"patch": 4, "top": 3}, "lstm_units": 5, "units": 4})", make_attention_agent},
  };
  return entries;
}

bool is_attention_block(std::string_view kind) {
  const auto entries = block_catalog();
  const auto row = std::ranges::find(entries, kind, &BlockEntry::name);
  return row != entries.end() && row->attention;
}

double tree_bytes(const Config& config) {
  constexpr double an_entry = 48;  // of a map, beside its key and value
  const auto bytes_of = [](const std::string& string) { return static_cast<double>(sizeof string + string.size()); };
  double bytes = sizeof(Config);
  if (const auto* string = config.string()) bytes += bytes_of(*string);
  if (const auto* items = config.list())
    for (const Config& item : *items) bytes += tree_bytes(item);
  if (const auto* entries = config.map())
    for (const auto& [key, value] : *entries) bytes += an_entry + bytes_of(key) + tree_bytes(value);
  return bytes;
}

void check_tables(const Options& options, double bytes) {
  constexpr double copies = 2;  // what was read, and the whole table that is made of it
  check_memory(text(options.owner(), ": its table with those of the blocks inside it"), copies * bytes);
}

std::unique_ptr<Block> make_block(const Config& config, const BlockContext& outside, ParameterLayout& layout) {
  int built = 0;
  BlockContext context = outside;
  ++context.depth;
  if (!context.built) context.built = &built;
  count_block(context);
  Options options(owner_of(context.path), config);
  const std::string kind = options.choice("kind", kinds());
  if (const std::string flaw = name_flaw(options.value("name")); !flaw.empty()) options.fail(flaw);
  for (const auto& entry : block_catalog()) {
    if (entry.name != kind) continue;
    // A hundred letters of a file may be a block of megabytes, and a file has many. Tables are held as they were given and as they
    // became, and blocks that are made of others copy them.
    constexpr double usual = 1 << 24, copies = 6;
    check_memory(text("block '", context.path, "'"), usual + copies * tree_bytes(config));
    auto block = entry.make(options, context, layout);
    options.finish();
    block->config_ = options.completed();
    return block;
  }
  options.fail(text("kind '", kind, "' is in no catalog"));
}

/// @lua options policy.block
/// What every block takes.
/// @option name string ? - what paths call the block ("eye" instead of "1.rank"): at most 100 letters, digits, _ and -, no digit
/// first
std::string child_path(const std::string& parent, int index, const Config& child) {
  const std::string prefix = parent == "policy" ? "" : parent + ".";
  const auto* kind = child.find("kind");
  if (const auto* name = child.find("name"); name && !name->is_null()) {
    if (const std::string flaw = name_flaw(*name); !flaw.empty()) throw Error(text(owner_of(parent), ": block ", index, " ", flaw));
    return prefix + *name->string();
  }
  return text(prefix, index, ".", kind && kind->string() ? *kind->string() : "block");
}

int read_units(Options& options, const BlockContext& context) {
  if (!context.last && !options.has("units"))
    options.fail("option 'units' is missing (only the last block of a policy takes the environment's action size)");
  return checked_outputs(options, options.integer_in("units", 1, most_units, context.action_size));
}

int checked_outputs(const Options& options, std::int64_t count) {
  if (count > most_units) options.fail(text("would hand over ", count, " values, at most ", most_units, " are allowed"));
  constexpr double copies = 4;  // in the block, and in those around it
  check_memory(text(options.owner(), ": what it hands over"), copies * sizeof(float) * static_cast<double>(count));
  return static_cast<int>(count);
}

void check_numbers(const Options& options, std::string_view key, std::span<const std::int64_t> numbers, std::int64_t size,
                   std::string_view what) {
  for (const std::int64_t number : numbers)
    if (number < 1 || number > size)
      options.fail(text("option '", key, "' takes numbers of ", what, ", 1 to ", size, ", got ", number));
}

MadeBlock make_inside(Options& options, std::string_view key, const BlockContext& context, ParameterLayout& layout) {
  const Config& block = options.value(key);
  if (!block.map()) options.fail(text("option '", key, "' must be a block, got ", block.is_null() ? "nothing" : block.describe()));
  auto made = make_block(block, context, layout);
  check_tables(options, tree_bytes(made->config()));
  options.complete(key, made->config());
  return made;
}

void require_inputs(const Options& options, const BlockContext& context) {
  if (context.inputs > 0) return;
  options.fail(
      "has no input values: the environment's observation has no vector; put a block that looks at images before it, such as rank");
}

}  // namespace iap
