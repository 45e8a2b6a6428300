// Result sets for C: owns the text of its cells until rows_free.
#pragma once

#include <deque>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "model_hopper/basics.h"

namespace hopper {

class Rows : public hopper_rows {
 public:
  explicit Rows(int32_t columns) : hopper_rows{0, columns, nullptr} {}

  // One row; nullopt is SQL's NULL. As many cells as there are columns.
  void Add(std::initializer_list<std::optional<std::string>> cells) {
    for (const std::optional<std::string>& cell : cells) {
      // A deque never moves its elements, so that the pointers stay valid.
      pointers_.push_back(cell ? texts_.emplace_back(*cell).c_str() : nullptr);
    }
    ++n_rows;
  }

  // Hands the rows out; the receiver gives them back to Free().
  static hopper_rows* Release(std::unique_ptr<Rows> rows) {
    rows->cells = rows->pointers_.data();
    return rows.release();
  }
  static void Free(void* rows) { delete static_cast<Rows*>(static_cast<hopper_rows*>(rows)); }

 private:
  std::deque<std::string> texts_;
  std::vector<const char*> pointers_;
};

}  // namespace hopper
