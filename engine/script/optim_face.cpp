#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "script/faces.hpp"
#include "script/lua_text.hpp"
#include "script/objects.hpp"
import iap.core;
import iap.optim;

namespace iap {

std::string OptimizerBlueprint::describe() const { return optimizer_to_lua(options); }

std::string OptimizerObject::describe() const {
  return text("search by ", optimizer->name(), " over ", optimizer->parameters(), " parameters, population ",
              optimizer->population(), ", iteration ", optimizer->iteration());
}

namespace {

using lua::Call;
using lua::entry;

constexpr std::int64_t largest = std::numeric_limits<std::int64_t>::max();

std::unique_ptr<OptimizerObject> begin(const Config& options, const std::vector<double>& initial, std::int64_t seed) {
  const std::vector<float> start(initial.begin(), initial.end());
  auto object = std::make_unique<OptimizerObject>();
  object->optimizer = make_optimizer(options, start, static_cast<std::uint64_t>(seed));
  return object;
}

std::span<const float> member(const OptimizerObject& object, std::size_t index) {
  const std::size_t size = object.optimizer->parameters();
  return std::span<const float>(object.population).subspan(index * size, size);
}

/// One body for all constructors: the kind is the last part of the function's name.
int make_blueprint(Call& call) {
  if (!call.absent(2))
    call.fail(text("takes one table of options, got ", lua_gettop(call.state()), " arguments; write ", call.name(),
                   " { ... } with all of them in braces"));
  Config options = call.config(1, "options");
  if (!options.map()) call.refuse(1, "options", "a table with named entries");
  if (options.find("kind")) call.fail("option 'kind' is what the function's name says; leave it out");
  options["kind"] = call.name().substr(call.name().rfind('.') + 1);
  options = current_optimizer(std::move(options));
  try {
    begin(options, {0, 0}, 0);
  } catch (const OptionError&) {
    throw;
  } catch (const Error&) {
    // A matter of the number of parameters, which is known later.
  }
  return call.give(std::make_unique<OptimizerBlueprint>(OptimizerBlueprint{std::move(options)}));
}

/// @lua method optimizer:start
/// Begins a search.
/// @param initial number[] - the parameters to start from
/// @param seed integer 0.. = 0 - of the search
/// @return search - to ask and tell
/// @example iap.optim.es {}:start({ 0, 0 }, 1)
int start(Call& call) {
  const auto& options = call.self<OptimizerBlueprint>().options;
  return call.give(begin(options, call.numbers(1, "initial"), call.integer(2, "seed", 0, largest, 0)));
}

/// @lua method search:ask
/// The members of the next iteration.
/// @return number[][] - lists of parameters, one a member
int ask(Call& call) {
  auto& object = call.self<OptimizerObject>();
  object.optimizer->ask_resized(object.population);
  call.give(Config(Config::Map{}));
  for (std::size_t i = 0; i < object.optimizer->population(); ++i) {
    call.give(member(object, i));
    lua::set_item(call.state(), static_cast<std::int64_t>(i) + 1);
  }
  return 1;
}

/// @lua method search:tell
/// What the members that were asked for are worth.
/// @param fitness number[] - one number a member, in their order; larger is better, NaN is the worst
int tell(Call& call) {
  auto& object = call.self<OptimizerObject>();
  object.optimizer->tell(call.numbers(1, "fitness"));
  return 0;
}

/// @lua method search:mean
/// Where the search is; of simple_ga its elite.
/// @return number[] - parameters

/// @lua method search:iteration
/// How many iterations were told.
/// @return integer - 0 or more

/// @lua method search:stop_reason
/// Why the search ended by itself.
/// @return string - "" while it goes on
int mean(Call& call) { return call.give(call.self<OptimizerObject>().optimizer->mean()); }
int iteration(Call& call) { return call.give(static_cast<std::int64_t>(call.self<OptimizerObject>().optimizer->iteration())); }
int stop_reason(Call& call) { return call.give(call.self<OptimizerObject>().optimizer->stop_reason()); }
/// @lua method search:metrics
/// The optimizer's own figures, the columns of metrics.csv.
/// @return table - numbers by name, such as sigma
int metrics(Call& call) {
  Config::Map values;
  for (auto& [name, value] : call.self<OptimizerObject>().optimizer->metrics()) values.emplace(name, value);
  return call.give(Config(std::move(values)));
}

/// Calls the function at argument 1 with one member's parameters.
double evaluate_member(Call& call, std::span<const float> parameters) {
  check_interrupt();
  lua_State* state = call.state();
  lua::reserve(state, 1);
  lua_pushvalue(state, call.at(1));
  call.give(parameters);
  lua::call(state, 1, 1);
  if (lua_type(state, -1) != LUA_TNUMBER)
    call.fail(text("the function must return its value as a number, got ", lua::describe_value(state, -1)));
  const double value = lua_tonumberx(state, -1, nullptr);
  lua_pop(state, 1);
  return value;
}

/// @lua function iap.optim.maximise
/// Maximises a function of Lua.
/// @param f fun(parameters:number[]):number - what to maximise
/// @param options table - how
/// @option initial number[] - the parameters to start from
/// @option optimizer optimizer|table = iap.optim.es {} - one of iap.optim
/// @option iterations integer 1.. = 100 - at most
/// @option seed integer 0.. = 0 - of the search
/// @return number[] best - the best parameters that were seen
/// @return number value - of the function there
/// @return number[] mean - where the search ended
/// @example iap.optim.maximise(function(x) return -x[1] ^ 2 end, {
///   initial = { 3 }, optimizer = iap.optim.es {}, iterations = 2,
/// })
/// @see training.md#optimizers
int maximise(Call& call) {
  call.function(1, "f");
  const Config config = call.config(2, "options");
  Options options(call.name(), config);
  std::vector<double> initial;
  for (const auto& value : options.list("initial")) {
    if (!value.number()) call.fail(text("option 'initial' must be a list of numbers, got ", value.describe()));
    initial.push_back(*value.number());
  }
  if (initial.empty()) call.fail("option 'initial' is missing; give the list of parameters to start from");
  const Config optimizer = options.value("optimizer");
  const auto iterations = options.integer_in("iterations", 1, largest, 100), seed = options.integer_in("seed", 0, largest, 0);
  options.finish();
  const auto object = begin(optimizer, initial, seed);
  std::vector<double> fitness;
  std::vector<float> best(initial.begin(), initial.end());
  double best_fitness = -std::numeric_limits<double>::infinity();
  for (std::int64_t i = 0; i < iterations && object->optimizer->stop_reason().empty(); ++i) {
    object->optimizer->ask_resized(object->population);
    fitness.resize(object->optimizer->population());
    for (std::size_t j = 0; j < fitness.size(); ++j) {
      fitness[j] = evaluate_member(call, member(*object, j));
      if (!(fitness[j] > best_fitness)) continue;
      best_fitness = fitness[j];
      best.assign(member(*object, j).begin(), member(*object, j).end());
    }
    object->optimizer->tell(fitness);
  }
  return call.give(best) + call.give(best_fitness) + call.give(object->optimizer->mean());
}

constexpr lua::Function functions[] = {{"maximise", entry<maximise>}};
constexpr lua::Function blueprint_methods[] = {{"start", entry<start>}};
constexpr lua::Function methods[] = {{"ask", entry<ask>},         {"tell", entry<tell>},
                                     {"mean", entry<mean>},       {"iteration", entry<iteration>},
                                     {"metrics", entry<metrics>}, {"stop_reason", entry<stop_reason>}};

}  // namespace

/// @lua table iap.optim
/// Optimizers: they ask for members, are told what these are worth, and maximise that.

/// @lua class optimizer
/// An optimizer that is described: for iap.train, or to start.
/// @page optim

/// @lua class search
/// An optimizer at work.
/// @page optim
void open_optim_face(lua_State* state) {
  lua::define_class(state, lua::ClassOf<OptimizerBlueprint>::info, blueprint_methods);
  lua::define_class(state, lua::ClassOf<OptimizerObject>::info, methods);
  lua::push_functions(state, "iap.optim", ".", functions);
  for (const auto& row : optimizer_catalog())
    for (const std::string* name : {&row.name, &row.old_name})
      if (!name->empty()) lua::add_function(state, "iap.optim", ".", {name->c_str(), entry<make_blueprint>});
  lua_setfield(state, -2, "optim");
}

}  // namespace iap
