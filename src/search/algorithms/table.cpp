// All algorithms: a row each.
#include <algorithm>
#include <cmath>

#include "base/letters.h"
#include "search/algorithms/common.h"
#include "search/algorithms/rows.h"
#include "search/algorithms/tpe.h"

namespace hopper {

const std::vector<AlgorithmType>& AlgorithmTypes() {
  namespace rows = search_rows;
  static const std::vector<AlgorithmType> types = {
      rows::Grid(),      rows::Random(), rows::Sobol(),  rows::SuccessiveHalving(),
      rows::Hyperband(), rows::Asha(),   rows::Median(), rows::Tpe(),
      rows::Bohb(),      rows::Gp(),     rows::Pbt(),
  };
  return types;
}

const AlgorithmType* FindAlgorithm(const std::string& name) {
  for (const AlgorithmType& type : AlgorithmTypes()) {
    if (EqualIgnoringCase(type.name, name)) return &type;
  }
  return nullptr;
}

std::vector<std::string> AlgorithmNames() {
  std::vector<std::string> names;
  for (const AlgorithmType& type : AlgorithmTypes()) names.push_back(type.name);
  return names;
}

size_t SearchArguments::IndexOf(const std::string& name) const {
  size_t i = 0;
  while (i < arguments_->size() && (*arguments_)[i].name != name) ++i;
  return i;
}

bool SearchArguments::Has(const std::string& name) const {
  return IndexOf(name) < arguments_->size();
}

double SearchArguments::Real(const std::string& name) const { return values_.at(IndexOf(name)); }

std::optional<int64_t> SearchArguments::IntegerIfRight(const std::string& name) const {
  if (IsWrong(name)) return {};
  return Integer(name);
}

const std::string& SearchArguments::Word(const std::string& name) const {
  const size_t i = IndexOf(name);
  return arguments_->at(i).words.at(static_cast<size_t>(values_[i]));
}

SearchArguments ReadSearchArguments(const AlgorithmType& type, const std::vector<ValueEntry>& given,
                                    std::vector<Problem>* problems) {
  const auto fail = [&](const std::string& message, const std::string& hint = "") {
    problems->push_back({ErrorCode::kInvalidParameter, message, "", hint});
  };
  std::vector<double> values;
  std::vector<char> wrong(type.arguments.size(), 0);
  std::vector<std::string> names;
  for (const SearchArgument& argument : type.arguments) {
    values.push_back(argument.standard);
    names.push_back(argument.name);
  }
  for (const ValueEntry& entry : given) {
    const std::string& name = entry.key.text;
    const auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end()) {
      std::string known;
      for (const std::string& other : names) known += (known.empty() ? "" : ", ") + other;
      const std::string hint = NearestNameHint(name, names);
      fail("algorithm \"" + type.name + "\" has no argument \"" + name + "\"",
           hint.empty() ? "Its arguments are " + known + "." : hint);
      // Of what was meant the value is not known.
      for (size_t i = 0; i < names.size(); ++i) {
        if (hint.find("\"" + names[i] + "\"") != std::string::npos) wrong[i] = 1;
      }
      continue;
    }
    const size_t i = static_cast<size_t>(found - names.begin());
    const auto refuse = [&](const std::string& message, const std::string& hint = "") {
      wrong[i] = 1;
      fail(message, hint);
    };
    const SearchArgument& argument = type.arguments[i];
    const std::string label = "argument \"" + name + "\" of algorithm \"" + type.name + "\" ";
    if (!argument.words.empty()) {
      const auto word =
          std::find_if(argument.words.begin(), argument.words.end(), [&](const std::string& w) {
            return entry.value.IsText() && EqualIgnoringCase(w, entry.value.text);
          });
      if (word == argument.words.end()) {
        std::string known;
        for (const std::string& w : argument.words) known += (known.empty() ? "" : ", ") + w;
        const std::string hint =
            entry.value.IsText() ? NearestNameHint(entry.value.text, argument.words) : "";
        refuse(label + "must be one of " + known + ", got " + Render(entry.value), hint);
      } else {
        values[i] = static_cast<double>(word - argument.words.begin());
      }
      continue;
    }
    const double number = entry.value.real;
    const auto text = [&](double bound) {
      return argument.integer ? std::to_string(static_cast<int64_t>(bound)) : RenderReal(bound);
    };
    if (!entry.value.IsNumber() || !std::isfinite(number) ||
        (argument.integer && number != std::floor(number))) {
      refuse(label + "must be a " + (argument.integer ? "whole " : "") + "number, got " +
             Render(entry.value));
    } else if (number < argument.low || number > argument.high) {
      refuse(label + "must be from " + text(argument.low) + " to " + text(argument.high) +
             ", got " + Render(entry.value));
    } else {
      values[i] = number;
    }
  }
  return SearchArguments(&type.arguments, std::move(values), std::move(wrong));
}

void CheckProposer(const SearchArguments& arguments, const SearchSpace* space,
                   std::vector<Problem>* problems) {
  if (arguments.Word("proposer") == "grid") CheckFinite(space, problems);
}

void CheckFinite(const SearchSpace* space, std::vector<Problem>* problems) {
  if (space == nullptr) return;
  for (const Dimension& dimension : space->dimensions()) {
    if (dimension.Count() > 0) continue;
    problems->push_back({ErrorCode::kInvalidParameter,
                         "a grid needs finitely many values of \"" + dimension.name + "\"",
                         "A range of numbers has no end of them.",
                         "Give it a step, or list its values."});
  }
}

std::unique_ptr<SearchProposer> MakeProposer(const SearchArguments& arguments) {
  const std::string& name = arguments.Word("proposer");
  if (name == "grid") return MakeGridProposer();
  if (name == "sobol") return MakeSobolProposer(/*scramble=*/true);
  if (name == "gp") return MakeGpProposer(kGpStartup);
  if (name == "tpe") return MakeTpeProposer({});
  return MakeRandomProposer();
}

}  // namespace hopper
