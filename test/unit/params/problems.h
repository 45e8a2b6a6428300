// Parameter texts read, and their problems as one string each, for comparing word for word.
#pragma once

#include <gtest/gtest.h>

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

inline std::vector<std::string> CompileProblems(const std::string& text) {
  std::vector<ParamProblem> problems;
  ParseCompileParams(text, &problems);
  return Describe(problems);
}

// Of a text without problems.
inline CompileParams ParsedCompileParams(const std::string& text) {
  std::vector<ParamProblem> problems;
  CompileParams params = ParseCompileParams(text, &problems);
  EXPECT_EQ(Describe(problems), std::vector<std::string>{}) << text;
  return params;
}

}  // namespace hopper
