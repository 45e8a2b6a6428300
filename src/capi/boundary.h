// What the C functions of both libraries share: no exception leaves, texts are cut to their
// fields, result sets own their cells.
#pragma once

#include <cstring>
#include <exception>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "model_hopper/basics.h"

namespace hopper {

// Copies `text` into a fixed field, cut between two UTF-8 characters.
template <size_t N>
void SetText(const std::string& text, char (&field)[N]) {
  size_t n = text.size() < N ? text.size() : N - 1;
  if (n < text.size()) {
    while (n > 0 && (static_cast<unsigned char>(text[n]) & 0xC0U) == 0x80U) --n;
  }
  std::memcpy(field, text.data(), n);
  field[n] = '\0';
}

// Fills `error` (may be null) and returns the code.
inline int SetError(const Problem& problem, hopper_error* error) {
  const int code = static_cast<int>(problem.code);
  if (error != nullptr) {
    error->code = code;
    SetText(problem.message, error->message);
    SetText(problem.detail, error->detail);
    SetText(problem.hint, error->hint);
  }
  return code;
}

// The exception that is being handled, where it is one of ours or of the standard library.
inline Problem DescribeStandardException() {
  try {
    throw;
  } catch (const Error& e) {
    return e.problem();
  } catch (const std::bad_alloc&) {
    return {ErrorCode::kOutOfMemory, "out of memory", "", ""};
  } catch (const std::exception& e) {
    return {ErrorCode::kInternal, e.what(), "", ""};
  } catch (...) {
    return {ErrorCode::kInternal, "unknown error", "", ""};
  }
}

// Runs `body`; what it throws becomes *error by `describe`. 0, or a hopper_code.
template <typename Body>
int Guarded(hopper_error* error, const Body& body,
            Problem (*describe)() = DescribeStandardException) noexcept {
  try {
    body();
    return HOPPER_OK;
  } catch (...) {
    try {
      return SetError(describe(), error);
    } catch (...) {  // not even memory for the message
      if (error != nullptr) {
        *error = hopper_error{};
        error->code = HOPPER_OUT_OF_MEMORY;
        std::memcpy(error->message, "out of memory", sizeof("out of memory"));
      }
      return HOPPER_OUT_OF_MEMORY;
    }
  }
}

// Collects cells row by row; Release() hands them out as a hopper_rows for FreeRows().
class RowsBuilder {
 public:
  using Cell = std::optional<std::string>;

  explicit RowsBuilder(int n_columns) : n_columns_(n_columns) {}

  void AddRow(std::vector<Cell> row) {
    if (static_cast<int>(row.size()) != n_columns_) {
      throw Error(ErrorCode::kInternal, "a row has the wrong number of columns");
    }
    for (Cell& cell : row) cells_.push_back(std::move(cell));
  }

  hopper_rows* Release() {
    auto owned = std::make_unique<Owned>();
    owned->cells = std::move(cells_);
    owned->pointers.reserve(owned->cells.size());
    for (const Cell& cell : owned->cells) {
      owned->pointers.push_back(cell.has_value() ? cell->c_str() : nullptr);
    }
    owned->n_columns = n_columns_;
    owned->n_rows = static_cast<int32_t>(owned->cells.size() / static_cast<size_t>(n_columns_));
    owned->hopper_rows::cells = owned->pointers.data();
    return owned.release();
  }

  // NULL is allowed.
  static void FreeRows(hopper_rows* rows) { delete static_cast<Owned*>(rows); }

 private:
  struct Owned : hopper_rows {
    std::vector<Cell> cells;
    std::vector<const char*> pointers;
  };

  int n_columns_;
  std::vector<Cell> cells_;
};

}  // namespace hopper
