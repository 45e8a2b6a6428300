// Problems of a text as one string each, for comparing word for word.
#pragma once

#include <string>
#include <vector>

#include "params/params.h"

namespace hopper {

inline std::string Describe(const ParamProblem& p) {
  std::string out =
      (p.warning ? "warning " : "") + std::to_string(static_cast<int>(p.code)) + " " + p.message;
  if (!p.detail.empty()) out += " | " + p.detail;
  if (!p.hint.empty()) out += " | HINT " + p.hint;
  return out;
}

inline std::vector<std::string> Describe(const std::vector<ParamProblem>& problems) {
  std::vector<std::string> out;
  for (const ParamProblem& p : problems) out.push_back(Describe(p));
  return out;
}

}  // namespace hopper
