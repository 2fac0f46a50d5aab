module;
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>
/// What every optimizer that takes turns keeps and checks in the same way.
module iap.optim:turn;
import iap.core;

namespace iap {

/// Counts the turns of ask and tell and refuses calls that do not fit.
class Turn {
 public:
  /// `name` is the catalog's and starts every message. @throws Error if this machine cannot hold the population.
  Turn(std::string_view name, std::size_t parameters, std::size_t population);

  std::string_view name() const { return name_; }
  std::size_t parameters() const { return parameters_; }
  std::size_t population() const { return population_; }
  std::uint32_t iteration() const { return iteration_; }

  /// For a population that grows between turns.
  void set_population(std::size_t population) { population_ = population; }
  /// @throws Error unless `size` is population x parameters.
  void ask(std::size_t size);
  /// @throws Error unless `k` is a member and `size` is that of one.
  void check_member(std::size_t k, std::size_t size) const;
  /// @throws Error unless a population was asked for and `size` is its number of members.
  void check_tell(std::size_t size) const;
  /// Counts on from where another one stands, between two turns.
  void go_on_from(const Turn& before) { iteration_ = before.iteration_; }
  /// Ends the turn.
  void told();

  void save(Writer& writer) const;
  /// @throws Error if the state belongs to an optimizer of another kind or population.
  void load(Reader& reader);

 private:
  std::string_view name_;
  std::size_t parameters_, population_;
  std::uint32_t iteration_ = 0;
  bool asked_ = false;
};

/// Fills `order` with the members from the best to the worst. Equal fitness keeps the members' order; NaN stands behind all else.
/// @throws Error starting with `owner` if every fitness is NaN.
void order_best_first(std::string_view owner, std::span<const double> fitness, std::vector<std::uint32_t>& order);

/// Writes the values as the policy takes them. @throws Error starting with `owner` that names the first one beyond float's range
/// and advises `remedy`.
void round_parameters(std::string_view owner, std::span<const double> values, std::span<float> out, std::string_view remedy);

/// The Euclidean norm.
double norm(std::span<const double> values);

}  // namespace iap
