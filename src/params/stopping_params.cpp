#include "params/stopping_params.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "params/text.h"

namespace hopper {
namespace {

constexpr int64_t kMaxInt = std::numeric_limits<int32_t>::max();
const Range kFinite = {-kInfinite, kInfinite, true, true, "must be finite"};

const std::vector<std::string> kEarly = {
    "patience", "min_delta",        "monitor",      "mode",
    "baseline", "start_from_epoch", "restore_best", "restore_best_weights"};
const std::vector<std::string> kPlateau = {"monitor",   "mode",     "factor", "patience",
                                           "min_delta", "cooldown", "min_lr"};

std::string KeyText(const Value& key) { return key.IsText() ? key.text : Render(key); }

}  // namespace

const std::vector<std::string>& StoppingReader::Keys() {
  static const std::vector<std::string> keys = [] {
    std::vector<std::string> all = kEarly;
    all.emplace_back("reduce_lr_on_plateau");
    return all;
  }();
  return keys;
}

bool StoppingReader::Read(const std::string& key, const Value& value) {
  if (key == "callbacks") {
    ReadCallbacks(value);
  } else if (key == "reduce_lr_on_plateau") {
    ReadPlateau(value);
  } else if (ReadEarly(key, value, "")) {
    if (value.IsNone()) return true;
    given_.push_back(key);
    by_keys_ = true;
  } else {
    return false;
  }
  return true;
}

void StoppingReader::ReadMode(const Value& value, const std::string& label, MonitorMode* mode) {
  const std::string word = value.IsText() ? value.text : "";
  if (word == "auto") {
    *mode = MonitorMode::kAuto;
  } else if (word == "min") {
    *mode = MonitorMode::kMin;
  } else if (word == "max") {
    *mode = MonitorMode::kMax;
  } else {
    problems_->Error(ErrorCode::kInvalidParameter,
                     label + " must be one of 'auto', 'min', 'max', got " + Render(value));
  }
}

void StoppingReader::ReadMonitor(const Value& value, const std::string& label,
                                 std::string* monitor) {
  if (value.IsText() && !value.text.empty()) {
    *monitor = value.text;
    return;
  }
  problems_->Error(ErrorCode::kInvalidParameter,
                   label + " must be the name of a loss or metric, got " + Render(value), "",
                   "Use monitor='val_loss' or monitor='val_accuracy', for example.");
}

// None is the default, as in Keras.
bool StoppingReader::ReadEarly(const std::string& key, const Value& value,
                               const std::string& owner) {
  if (std::find(kEarly.begin(), kEarly.end(), key) == kEarly.end()) return false;
  EarlyStoppingParams& early = params_->early_stopping;
  const std::string label = key + owner;
  if (value.IsNone()) return true;
  if (key == "patience") {
    early.patience = ReadInteger(value, 0, kMaxInt, label, problems_);
  } else if (key == "min_delta") {
    // As in Keras.
    if (const auto x = ReadNumber(value, kFinite, label, problems_)) early.min_delta = std::abs(*x);
  } else if (key == "monitor") {
    ReadMonitor(value, label, &early.monitor);
  } else if (key == "mode") {
    ReadMode(value, label, &early.mode);
  } else if (key == "baseline") {
    early.baseline = ReadNumber(value, kFinite, label, problems_);
  } else if (key == "start_from_epoch") {
    const auto n = ReadInteger(value, 0, kMaxInt, label, problems_);
    if (n) early.start_from_epoch = *n;
  } else if (const auto restore = ReadBool(value, label, problems_)) {
    early.restore_best = *restore;
  }
  return true;
}

bool StoppingReader::ReadPlateauArgument(const std::string& key, const Value& value,
                                         const std::string& owner) {
  if (std::find(kPlateau.begin(), kPlateau.end(), key) == kPlateau.end()) return false;
  PlateauParams& plateau = params_->plateau;
  const std::string label = key + owner;
  if (value.IsNone()) return true;
  of_plateau_.insert(key);
  if (key == "monitor") {
    ReadMonitor(value, label, &plateau.monitor);
  } else if (key == "mode") {
    ReadMode(value, label, &plateau.mode);
  } else if (key == "factor") {
    if (const auto x = ReadNumber(value, kInsideUnit, label, problems_)) plateau.factor = *x;
  } else if (key == "min_delta") {
    if (const auto x = ReadNumber(value, kNotNegative, label, problems_)) plateau.min_delta = *x;
  } else if (key == "min_lr") {
    if (const auto x = ReadNumber(value, kNotNegative, label, problems_)) plateau.min_lr = *x;
  } else if (const auto n = ReadInteger(value, 0, kMaxInt, label, problems_)) {
    (key == "patience" ? plateau.patience : plateau.cooldown) = *n;
  }
  return true;
}

// {...}, ReduceLROnPlateau(...), True; False and None leave it out.
void StoppingReader::ReadPlateau(const Value& value) {
  if (value.IsNone() || (value.kind == Value::Kind::kBool && !value.boolean)) return;
  const bool is_object = value.kind == Value::Kind::kDict && value.Find("class_name") == nullptr;
  std::vector<ValueEntry> entries;
  if (is_object) {
    entries = value.entries;
  } else if (value.kind != Value::Kind::kBool) {
    const auto callable = ReadCallable(value, "reduce_lr_on_plateau", problems_);
    if (!callable) return;
    if (callable->name != "ReduceLROnPlateau" || !callable->positional.empty()) {
      problems_->Error(ErrorCode::kInvalidParameter,
                       "reduce_lr_on_plateau must be a dictionary, got " + Render(value), "",
                       "Write reduce_lr_on_plateau={'factor': 0.5, 'patience': 3}, for example.");
      return;
    }
    entries = callable->named;
  }
  params_->plateau.active = true;
  ++plateaus_;
  for (const ValueEntry& entry : entries) {
    const std::string key = KeyText(entry.key);
    if (key == "verbose") continue;
    if (ReadPlateauArgument(key, entry.value, " of reduce_lr_on_plateau")) continue;
    const std::string hint = NearestNameHint(key, kPlateau);
    problems_->Error(ErrorCode::kInvalidParameter,
                     "reduce_lr_on_plateau has no argument \"" + key + "\"", "",
                     hint.empty() ? "Its arguments are " + Join(kPlateau) + "." : hint);
  }
}

void StoppingReader::ReadCallbacks(const Value& value) {
  if (value.IsNone()) return;
  if (value.kind == Value::Kind::kString && value.text.substr(0, 1) == "[") {
    try {
      return ReadCallbacks(ParsePythonValue(value.text, "callbacks"));
    } catch (const Error& error) {
      return problems_->Add(error.problem());
    }
  }
  if (!value.IsSequence()) return ReadCallback(value);
  for (const Value& item : value.items) ReadCallback(item);
}

void StoppingReader::ReadCallback(const Value& value) {
  const auto callable = ReadCallable(value, "callback", problems_);
  if (!callable) return;
  const bool early = callable->name == "EarlyStopping";
  if (!early && callable->name != "ReduceLROnPlateau") {
    problems_->Warning("callback \"" + callable->name + "\" has no effect",
                       "Callbacks are Python code; metrics of every iteration are in "
                       "<output>_info.",
                       "EarlyStopping and ReduceLROnPlateau are honoured.");
    return;
  }
  const std::string owner = "callback \"" + callable->name + "\"";
  if (!callable->positional.empty()) {
    problems_->Error(ErrorCode::kInvalidParameter, owner + " takes its arguments by name");
    return;
  }
  ++(early ? stops_ : plateaus_);
  if (early) {
    params_->early_stopping.patience = 0;  // Keras' default
    given_.emplace_back("patience");
  } else {
    params_->plateau.active = true;
    of_plateau_.insert({"monitor", "mode"});  // its own, not those of early stopping
  }
  const auto& known = early ? kEarly : kPlateau;
  for (const ValueEntry& entry : callable->named) {
    const std::string key = KeyText(entry.key);
    if (key == "verbose") continue;
    const std::string of = " of " + owner;
    if (early ? ReadEarly(key, entry.value, of) : ReadPlateauArgument(key, entry.value, of)) {
      continue;
    }
    const std::string hint = NearestNameHint(key, known);
    problems_->Error(ErrorCode::kInvalidParameter, owner + " has no argument \"" + key + "\"", "",
                     hint.empty() ? "Its arguments are " + Join(known) + "." : hint);
  }
}

// Keras calls each of several callbacks of a class; here there is one of each.
void StoppingReader::RefuseSeveral() {
  const auto refuse = [this](const std::string& what, const std::string& hint) {
    problems_->Error(ErrorCode::kNotSupported, what + " is given more than once",
                     "A configuration has one of each callback.", hint);
  };
  if (stops_ + (by_keys_ ? 1 : 0) > 1) {
    refuse("early stopping",
           stops_ > 1 ? "Leave all but one EarlyStopping out."
                      : "Write all its arguments in EarlyStopping(...), or all beside it.");
  }
  if (plateaus_ > 1) refuse("ReduceLROnPlateau", "Leave all but one out.");
}

void StoppingReader::Finish() {
  RefuseSeveral();
  const EarlyStoppingParams& early = params_->early_stopping;
  PlateauParams& plateau = params_->plateau;
  // What early stopping watches, the learning rate follows, unless it is told otherwise.
  if (of_plateau_.count("monitor") == 0) {
    plateau.monitor = early.monitor;
    if (of_plateau_.count("mode") == 0) plateau.mode = early.mode;
  }
  const bool wanted = std::find(given_.begin(), given_.end(), "patience") != given_.end();
  if (early.active() || wanted) return;
  for (const std::string& key : given_) {
    if (key == "restore_best" || key == "restore_best_weights") continue;
    if (plateau.active && (key == "monitor" || key == "mode")) continue;
    problems_->Warning("fit parameter \"" + key + "\" has no effect",
                       "Neither patience nor restore_best is given.",
                       "Add patience=3, for example.");
  }
}

}  // namespace hopper
