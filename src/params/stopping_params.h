// The fit parameters of Keras' callbacks EarlyStopping and ReduceLROnPlateau.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "params/callable.h"
#include "params/params.h"
#include "params/value.h"

namespace hopper {

// Reads them from their own arguments (patience=3, reduce_lr_on_plateau={'factor': 0.5}) and from
// callbacks=[EarlyStopping(patience=3), ReduceLROnPlateau(factor=0.5)].
class StoppingReader {
 public:
  StoppingReader(FitParams* params, ProblemList* problems) : params_(params), problems_(problems) {}

  // False where `key` is none of theirs.
  bool Read(const std::string& key, const Value& value);
  // After all arguments: what depends on several of them.
  void Finish();

  static const std::vector<std::string>& Keys();

 private:
  bool ReadEarly(const std::string& key, const Value& value, const std::string& owner);
  bool ReadPlateauArgument(const std::string& key, const Value& value, const std::string& owner);
  void ReadPlateau(const Value& value);
  void ReadCallbacks(const Value& value);
  void ReadCallback(const Value& value);
  void RefuseSeveral();
  void ReadMode(const Value& value, const std::string& label, MonitorMode* mode);
  void ReadMonitor(const Value& value, const std::string& label, std::string* monitor);

  FitParams* params_;
  ProblemList* problems_;
  std::vector<std::string> given_;    // of early stopping's own arguments
  bool by_keys_ = false;              // some of them outside of callbacks
  int stops_ = 0;                     // callbacks
  int plateaus_ = 0;                  // callbacks and reduce_lr_on_plateau
  std::set<std::string> of_plateau_;  // given for reduce_lr_on_plateau
};

}  // namespace hopper
