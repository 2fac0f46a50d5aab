#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "script/faces.hpp"
#include "script/objects.hpp"
import iap.attention;
import iap.core;

namespace iap {

std::string KeyDatabaseObject::describe() const {
  return text("key_database of ", database.size(), " keys (room for ", database.capacity(), ") of ", database.features(),
              " features", database.bits() > 0 ? text(", codes of ", database.bits(), " bits") : "",
              database.has_tree() ? ", tree" : "");
}

namespace {

using lua::Call;
using lua::entry;

constexpr std::int64_t largest = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t most_values = std::int64_t{1} << 28;

std::vector<float> floats(const Call& call, int argument, const char* what) {
  const auto values = call.numbers(argument, what);
  return {values.begin(), values.end()};
}

/// Numbers of keys as Lua counts them, from 1.
int give_keys(Call& call, const std::vector<int>& keys) {
  Config::List list;
  for (const int key : keys) list.emplace_back(key + 1);
  return call.give(Config(std::move(list)));
}

std::vector<int> room_for(const Call& call, int argument, const KeyDatabase& database, bool repeated = false) {
  const std::int64_t most = repeated ? most_values : database.size();
  return std::vector<int>(static_cast<std::size_t>(call.integer(argument, "count", 0, most)));
}

/// @lua function iap.attention.key_database
/// The database of keys behind iap.attention.cross by itself: vectors that stay, ranked by their product with a query.
/// @option features integer 1.. - numbers of a key
/// @option capacity integer 1.. - keys that there is room for
/// @option bits integer 0..65536 = 0 - of a key's code for ranking by hash; 0: none
/// @option hash_seed integer 0.. = 0 - of the codes' random planes
/// @option lengths boolean = false - scores by codes are multiplied by the keys' lengths; otherwise keys are ranked by angle alone
/// @option tree boolean = false - a tree of sums, for draws
/// @return key_database - empty
/// @example iap.attention.key_database { features = 4, capacity = 100, bits = 64, tree = true }
/// @see attention-database.md
int make(Call& call) {
  const Config config = call.config(1, "options");
  Options options(call.name(), config);
  const auto features = options.integer_in("features", 1, 1 << 24), capacity = options.integer_in("capacity", 1, 1 << 24);
  KeyDatabaseOptions wanted;
  wanted.bits = static_cast<int>(options.integer_in("bits", 0, 1 << 16, 0));
  if (wanted.bits > 0) {
    wanted.hash_seed = static_cast<std::uint64_t>(options.integer_in("hash_seed", 0, largest, 0));
    wanted.lengths = options.boolean("lengths", false) ? KeyLengths::own : KeyLengths::ignored;
  }
  wanted.tree = options.boolean("tree", false);
  options.finish();
  constexpr std::int64_t most_code_bits = std::int64_t{1} << 33;
  if (features * capacity > most_values || features * wanted.bits > most_values || capacity * wanted.bits > most_code_bits)
    options.fail(text("is too large: ", capacity, " keys of ", features, " features and ", wanted.bits, " bits"));
  const auto bytes = static_cast<std::size_t>(features * capacity) * sizeof(float) * (wanted.tree ? 3 : 1);
  return call.give(std::make_unique<KeyDatabaseObject>(
                       KeyDatabaseObject{KeyDatabase(static_cast<int>(capacity), static_cast<int>(features), wanted)}),
                   bytes);
}

/// @lua method key_database:insert
/// Adds a key.
/// @param key number[] - `features` numbers
/// @return integer number - of the key, from 1
int insert(Call& call) { return call.give(call.self<KeyDatabaseObject>().database.insert(floats(call, 1, "key")) + 1); }

/// @lua method key_database:replace
/// Puts another key in a key's place.
/// @param number integer 1.. - of the key
/// @param key number[] - `features` numbers
int replace(Call& call) {
  auto& database = call.self<KeyDatabaseObject>().database;
  const auto number = call.integer(1, "number", 1, largest);
  if (number > database.size()) call.fail(text("has no key ", number, "; it holds ", database.size()));
  database.replace(static_cast<int>(number - 1), floats(call, 2, "key"));
  return 0;
}

/// @lua method key_database:clear
/// Forgets all keys.
int clear(Call& call) {
  call.self<KeyDatabaseObject>().database.clear();
  return 0;
}

/// @lua method key_database:size
/// How many keys there are.
/// @return integer - at most `capacity`
int size(Call& call) { return call.give(call.self<KeyDatabaseObject>().database.size()); }

/// @lua method key_database:scores
/// What every key scores.
/// @param query number[] - `features` numbers
/// @param how "exact"|"hash" = "exact" - products, or what codes say of them
/// @return number[] - one for each key
int scores(Call& call) {
  auto& database = call.self<KeyDatabaseObject>().database;
  const auto query = floats(call, 1, "query");
  const std::string how = call.string(2, "how", "exact");
  std::vector<float> values(static_cast<std::size_t>(database.size()));
  if (how == "exact")
    database.score(query, values);
  else if (how == "hash")
    database.score_hashed(query, values);
  else
    call.refuse(2, "how", "\"exact\" or \"hash\"");
  return call.give(values);
}

/// @lua method key_database:top
/// The keys with the highest scores.
/// @param query number[] - `features` numbers
/// @param count integer 0.. - how many; at most as many as there are
/// @param how "exact"|"hash" = "exact" - by products or by codes
/// @return integer[] numbers - of the keys, best first
int top(Call& call) {
  auto& database = call.self<KeyDatabaseObject>().database;
  const auto query = floats(call, 1, "query");
  auto selected = room_for(call, 2, database);
  const std::string how = call.string(3, "how", "exact");
  if (how == "exact")
    database.top(query, selected);
  else if (how == "hash")
    database.top_hashed(query, selected);
  else
    call.refuse(3, "how", "\"exact\" or \"hash\"");
  return give_keys(call, selected);
}

/// @lua method key_database:sample
/// Draws keys in proportion to their product with the query, which must not be negative; needs a tree.
/// @param query number[] - `features` numbers
/// @param count integer 0.. - how many
/// @param seed integer 0.. - of the draws
/// @param options table ? - how
/// @option replacement boolean = false - whether draws may repeat
/// @return integer[] numbers - of the keys, in the order of the draws
int sample(Call& call) {
  auto& database = call.self<KeyDatabaseObject>().database;
  const auto query = floats(call, 1, "query");
  const auto seed = call.integer(3, "seed", 0, largest);
  const Config config = call.config(4, "options");
  Options options(call.name(), config);
  const bool replacement = options.boolean("replacement", false);
  options.finish();
  auto selected = room_for(call, 2, database, replacement);
  Random random({.seed = static_cast<std::uint64_t>(seed), .purpose = Purpose::user});
  database.draw(query, random, replacement, selected);
  return give_keys(call, selected);
}

constexpr lua::Function functions[] = {{"key_database", entry<make>}};
constexpr lua::Function methods[] = {
    {"insert", entry<insert>}, {"replace", entry<replace>}, {"clear", entry<clear>},   {"size", entry<size>},
    {"scores", entry<scores>}, {"top", entry<top>},         {"sample", entry<sample>},
};

}  // namespace

/// @lua class key_database
/// Keys that stay, and three ways to rank them.
/// @page attention
void open_key_database_face(lua_State* state) {
  lua::define_class(state, lua::ClassOf<KeyDatabaseObject>::info, methods);
  lua_getfield(state, -1, "attention");
  for (const auto& function : functions) lua::add_function(state, "iap.attention", ".", function);
  lua_pop(state, 1);
}

}  // namespace iap
