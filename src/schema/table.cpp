// All treatments: a row each.
#include "schema/treatments/array.h"
#include "schema/treatments/calendar.h"
#include "schema/treatments/hash.h"
#include "schema/treatments/index.h"
#include "schema/treatments/log.h"
#include "schema/treatments/none.h"
#include "schema/treatments/one_hot.h"
#include "schema/treatments/quantile.h"
#include "schema/treatments/robust.h"
#include "schema/treatments/standardize.h"
#include "schema/treatments/word_counts.h"
#include "schema/treatments/words.h"

namespace hopper {

const std::vector<const Treatment*>& Treatments() {
  static const RobustTreatment robust;
  static const StandardizeTreatment standardize;
  static const QuantileTreatment quantile;
  static const LogTreatment log;
  static const NoTreatment none;
  static const CalendarTreatment calendar;
  static const OneHotTreatment one_hot;
  static const IndexTreatment index;
  static const ArrayTreatment array;
  static const HashTreatment hash;
  static const WordsTreatment words;
  static const WordCountsTreatment word_counts;
  static const std::vector<const Treatment*> all = {&robust, &standardize, &quantile,    &log,
                                                    &none,   &calendar,    &one_hot,     &index,
                                                    &hash,   &words,       &word_counts, &array};
  return all;
}

const Treatment* FindTreatment(std::string_view name) {
  for (const Treatment* treatment : Treatments()) {
    if (name == treatment->Name()) return treatment;
  }
  return nullptr;
}

}  // namespace hopper
