// What a search may choose: dimensions with their ranges, and points in them.
//
// A point holds a number for each dimension: the value itself, or the place of the chosen one of a
// dimension of choices; not-a-number where the dimension does not apply (its conditions do not
// hold). Two points are the same configuration exactly when their numbers are equal.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "params/grid_space.h"
#include "params/value.h"

namespace hopper {

using SearchPoint = std::vector<double>;

constexpr double kInactive = std::numeric_limits<double>::quiet_NaN();
// More dimensions are refused.
constexpr size_t kMaxDimensions = 256;

enum class DimensionKind { kFloat, kInteger, kChoice };

// The dimension that has it applies only where another has one of some values.
struct DimensionCondition {
  size_t parent = 0;
  std::vector<double> allowed;  // numbers of a point; empty: those from `low` to `high`
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
};

struct Dimension {
  std::string name;
  DimensionKind kind = DimensionKind::kFloat;
  Scale scale = Scale::kLinear;
  double low = 0;
  double high = 0;
  double step = 0;                             // 0: any number; of integers at least 1
  std::vector<Value> choices;                  // of kChoice; not empty
  std::vector<DimensionCondition> conditions;  // all of them must hold
  bool structural = false;                     // changes the architecture: weights cannot stay
  bool numbered = false;                       // choices are numbers of what stands in a list
  std::vector<std::string> used_in;            // "compile_params", "architecture 3"

  // How many values there are; 0: infinitely many.
  uint64_t Count() const;
  // Steps, whole numbers and choices.
  bool IsDiscrete() const { return kind != DimensionKind::kFloat || step > 0; }
  // The i-th of Count() values.
  double At(uint64_t i) const;
  // The value whose share of the range is u, in (0, 1): uniform on the dimension's scale.
  double FromUnit(double u) const;
  // The place of a value in the range, in [0, 1]: the middle of its share of it.
  double ToUnit(double value) const;
  // The nearest value that the dimension has.
  double Nearest(double value) const;
  Value ValueOf(double value) const;
};

// Why values of a range of numbers cannot be told apart or computed with; "": they can.
std::string RangeProblem(const Dimension& dimension);

// The value on the dimension's scale: its logarithm on a logarithmic one.
double Warped(Scale scale, double value);
double Unwarped(Scale scale, double warped);

// What is tried: texts as hopper.load_model_selection_table takes them.
struct SearchConfiguration {
  int32_t model_id = 0;
  std::string compile_params;
  std::string fit_params;
};

// Where a configuration's texts come from.
class SearchTexts {
 public:
  virtual ~SearchTexts() = default;
  virtual SearchConfiguration Configuration(const std::vector<Dimension>& dimensions,
                                            const SearchPoint& point) const = 0;
  // The architecture's JSON with the parameters in place; "" where it has none of them.
  virtual std::string Architecture(const std::vector<Dimension>& dimensions,
                                   const SearchPoint& point, int32_t model_id) const = 0;
};

class SearchSpace {
 public:
  // Of dimensions whose conditions have no cycle: the parsers below see to it. At most
  // kMaxDimensions.
  explicit SearchSpace(std::vector<Dimension> dimensions,
                       std::shared_ptr<const SearchTexts> texts = nullptr);

  const std::vector<Dimension>& dimensions() const { return dimensions_; }
  size_t size() const { return dimensions_.size(); }
  // Parents before what depends on them.
  const std::vector<size_t>& order() const { return order_; }
  bool IsActive(size_t dimension, const SearchPoint& point) const;
  // It changes the architecture, or whether something applies that does.
  bool ShapesNetwork(size_t dimension) const { return shapes_network_[dimension]; }
  // Numbers where dimensions apply, kInactive elsewhere. `value` gives the number of a dimension
  // that applies.
  template <typename ValueOfDimension>
  SearchPoint Fill(ValueOfDimension value) const {
    SearchPoint point(size(), kInactive);
    for (size_t d : order_) {
      if (IsActive(d, point)) point[d] = value(d);
    }
    return point;
  }
  // Sets in numbers, one a dimension, what must be so that the dimension applies.
  void Activate(size_t dimension, std::vector<double>* numbers) const;
  // The first point of all, and the one after `point`, the last dimension changing fastest; false
  // after the last one. Of spaces with finitely many points.
  SearchPoint First() const;
  bool Next(SearchPoint* point) const;
  // How many points there are; 0: infinitely many. Counted up to `limit`, which is returned where
  // there are more.
  uint64_t CountPoints(uint64_t limit) const;

  // {"units1": 64, "optimizer": "adam"}: dimensions that apply, in the user's order.
  std::string PointText(const SearchPoint& point) const;
  // The text of what shapes an architecture alone, without which one it is.
  std::string StructureText(const SearchPoint& point) const;
  // The point of such a text: what PointText() gives. What does not fit is appended, all of it:
  // then the point is of no use.
  SearchPoint ParsePoint(const std::string& text, std::vector<Problem>* problems) const;

  // Of spaces with texts.
  SearchConfiguration Configuration(const SearchPoint& point) const;
  // From now on configurations keep their best iteration by `monitor` (search/keep_best.h).
  void KeepBestBy(std::string monitor) { monitor_ = std::move(monitor); }
  std::string Architecture(const SearchPoint& point, int32_t model_id) const;

 private:
  std::string TextOf(const SearchPoint& point, bool only_structure) const;

  std::vector<Dimension> dimensions_;
  std::vector<size_t> order_;
  std::vector<bool> shapes_network_;
  bool conditional_ = false;
  std::shared_ptr<const SearchTexts> texts_;
  std::string monitor_;  // by which the best iteration is kept; "": as the texts say
};

// What is wrong with a point of a space; nothing where it can be trained.
using PointCheck =
    std::function<std::vector<Problem>(const SearchSpace& space, const SearchPoint& point)>;

// The search space of a JSON text:
//   {"parameters": {"lr": {"type": "float", "low": 1e-4, "high": 0.1, "scale": "log"},
//                   "units": {"type": "int", "low": 16, "high": 256, "step": 16},
//                   "optimizer": {"type": "choice", "values": ["adam", "sgd"]},
//                   "momentum": {"type": "float", "low": 0, "high": 0.99,
//                                "when": {"optimizer": "sgd"}},
//                   "batch": [32, 64]},
//    "model_id": [1, 2],
//    "compile_params": {"loss": "mse", "optimizer": {"class_name": {"hopper": "optimizer"}, ...}},
//    "fit_params": {"batch_size": {"hopper": "batch"}}}
// {"hopper": "lr"} stands for the parameter's value; where the parameter does not apply, the key or
// list element that holds it is left out. {"hopper": {"repeat": "depth", "layers": [...]}} in a
// list stands for its layers, depth times; "#" in their texts is the number of the block, from 1.
// `architectures` are Keras JSON texts by model_id, which may hold the same; "" is one that is not
// known. Where "model_id" is
// missing, all of them may be chosen. A parameter that only some of the architectures use applies
// only where one of them is chosen.
//
// All problems are appended, with the path of each ("parameters.lr.low"); the space returned is of
// use only where there are none. `check` tries some points; empty: it is seen that their texts can
// be read (ReadTexts in choices.h).
SearchSpace ParseSearchSpace(const std::string& text,
                             const std::map<int32_t, std::string>& architectures,
                             std::vector<Problem>* problems, const PointCheck& check = {});

// The space of MADlib's texts (generate_model_configs): choices, 'linear', 'log', 'log_near_one'.
// Throws Error like GenerateConfigs().
SearchSpace ParseSearchGrid(const std::vector<int32_t>& model_ids, const std::string& compile_grid,
                            const std::string& fit_grid);
// Appends all problems instead of throwing; the space is of use only where there are none.
SearchSpace ParseSearchGrid(const std::vector<int32_t>& model_ids, const std::string& compile_grid,
                            const std::string& fit_grid, std::vector<Problem>* problems);

// A row of describe_space.
struct DimensionRow {
  std::string name;
  std::string type;   // float, int, choice, constant
  std::string scale;  // linear, log, log_near_one; "" of choices
  std::optional<double> low;
  std::optional<double> high;
  std::optional<double> step;
  std::string choices;            // JSON list; "" of numbers
  std::optional<uint64_t> count;  // of values; nothing: infinitely many
  std::string condition;          // "optimizer in ["sgd"] and depth from 2 to 4"; "": always
  std::string used_in;            // "compile_params, architecture 3"
};
std::vector<DimensionRow> DescribeSpace(const SearchSpace& space);

// Some points for trying their texts before a search begins: the middle of the space, and from
// there each choice and the ends of each range, where they apply.
std::vector<SearchPoint> ProbePoints(const SearchSpace& space);

// JSON of a value that JSON can say.
std::string RenderJson(const Value& value);

}  // namespace hopper
