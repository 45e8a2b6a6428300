#include "model/keras/space_parameters.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

#include "base/cancel.h"

namespace hopper {
namespace {

using Json = nlohmann::json;

constexpr size_t kMostNames = 10;  // that a message lists

void Note(const Json& name, std::vector<std::string>* names) {
  const std::string* text = name.get_ptr<const std::string*>();
  if (text == nullptr || names->size() > kMostNames) return;
  if (std::find(names->begin(), names->end(), *text) == names->end()) names->push_back(*text);
}

// Documents are of bounded depth.
bool Collect(const Json& tree, std::vector<std::string>* names) {
  LookAtCancel();
  if (!tree.is_structured()) return false;
  bool found = false;
  const auto reference = tree.is_object() ? tree.find("hopper") : tree.end();
  if (reference != tree.end() && tree.size() == 1) {
    found = true;
    Note(*reference, names);
    if (reference->is_object() && reference->contains("repeat")) {
      Note((*reference)["repeat"], names);
    }
  }
  for (const Json& child : tree) found = Collect(child, names) || found;
  return found;
}

}  // namespace

bool RefuseSpaceParameters(const Json& document, std::vector<Problem>* problems) {
  std::vector<std::string> names;
  if (!Collect(document, &names)) return false;
  std::string list;
  for (size_t i = 0; i < std::min(names.size(), kMostNames); ++i) {
    list += (i == 0 ? " \"" : ", \"") + names[i] + "\"";
  }
  if (names.size() > kMostNames) list += " and more";
  problems->push_back(
      {ErrorCode::kInvalidParameter, "the architecture has parameters of a search space:" + list,
       "It is no model before a search has filled them in.",
       "hopper.automl(space => ...) does so; hopper.describe_space() tells what may "
       "be chosen."});
  return true;
}

}  // namespace hopper
