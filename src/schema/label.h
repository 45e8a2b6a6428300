// The label of a table: its name and type and, where it is a number, how it is scaled for training
// and back.
#pragma once

#include <algorithm>
#include <string>

namespace hopper {

struct Label {
  std::string name;      // "" where the schema knows of none
  std::string sql_type;  // as format_type() writes it
  bool is_value = false;
  // Of values: networks learn (y - mean) / deviation, as scikit-learn's StandardScaler has it, and
  // what they predict is given back between the least and the largest of the training rows.
  double mean = 0.0;
  double deviation = 1.0;
  double least = 0.0;
  double largest = 0.0;

  double Scaled(double value) const { return (value - mean) / deviation; }
  double Unscaled(double output) const {
    return std::min(std::max(output * deviation + mean, least), largest);
  }
};

}  // namespace hopper
