// Parsers of parameter texts: Python literals and JSON into one tree of values.
//
// All of them throw Error(kInvalidText) whose message names `what` ("compile_params") and whose
// detail gives the position, counted in characters from 1, and the 20 characters around it; of
// texts that are too long Error(kLimitExceeded).
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "params/value.h"

namespace hopper {

// Longer texts are refused before they are parsed, which looks at no cancel. All parsers below do.
constexpr size_t kMaxTextBytes = size_t{1} << 20;
void RequireTextSize(std::string_view text, const std::string& what);

// One literal: numbers, strings, None, True, False, names, lists, tuples, dicts, calls.
Value ParsePythonValue(std::string_view text, const std::string& what);

// Keyword arguments without the call around them, "a=1, b='x'"; a trailing comma is allowed.
// Keys come back in order; a key given twice is refused.
std::vector<ValueEntry> ParsePythonArguments(std::string_view text, const std::string& what);

// A JSON document; objects become dicts.
Value ParseJson(std::string_view text, const std::string& what);

// Either syntax of a set of arguments: text that begins with a brace is a JSON object or, where
// it is not JSON, a Python dictionary; anything else is keyword arguments.
std::vector<ValueEntry> ParseArguments(std::string_view text, const std::string& what);

// A dictionary, in JSON or Python.
Value ParseDictionary(std::string_view text, const std::string& what);

// 'Position 12, near "...".' for the byte `at` of `text`.
std::string DescribePosition(std::string_view text, size_t at);

inline bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// True where there is nothing but blanks.
bool IsBlank(std::string_view text);

}  // namespace hopper
