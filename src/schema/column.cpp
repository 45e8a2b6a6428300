#include "schema/column.h"

namespace hopper {
namespace {

struct FamilyRow {
  Family family;
  const char* name;
};
constexpr FamilyRow kFamilies[] = {
    {Family::kNumber, "number"},   {Family::kInteger, "integer"}, {Family::kBoolean, "boolean"},
    {Family::kText, "text"},       {Family::kDate, "date"},       {Family::kTimestamp, "timestamp"},
    {Family::kNumbers, "numbers"},
};

struct NamedWordRules {
  const char* name;
  bool lowers;
  bool strips;
};
constexpr NamedWordRules kStandardize[] = {{"lower_and_strip_punctuation", true, true},
                                           {"lower", true, false},
                                           {"strip_punctuation", false, true},
                                           {"none", false, false}};

// The first family of those that stand for each other.
Family GroupOf(Family family) {
  if (family == Family::kInteger) return Family::kNumber;
  if (family == Family::kTimestamp) return Family::kDate;
  return family;
}

}  // namespace

const char* FamilyName(Family family) {
  for (const FamilyRow& row : kFamilies) {
    if (row.family == family) return row.name;
  }
  return "";
}

bool FamilyNamed(std::string_view name, Family* family) {
  for (const FamilyRow& row : kFamilies) {
    if (name != row.name) continue;
    *family = row.family;
    return true;
  }
  return false;
}

bool AreAlike(Family a, Family b) { return GroupOf(a) == GroupOf(b); }

const char* NullRuleName(NullRule rule) {
  switch (rule) {
    case NullRule::kRefuse:
      return "refuse";
    case NullRule::kMedian:
      return "median";
    case NullRule::kIndicator:
      return "indicator";
    case NullRule::kCategory:
      return "category";
  }
  return "";
}

bool NullRuleNamed(std::string_view name, NullRule* rule) {
  for (const NullRule each :
       {NullRule::kRefuse, NullRule::kMedian, NullRule::kIndicator, NullRule::kCategory}) {
    if (name != NullRuleName(each)) continue;
    *rule = each;
    return true;
  }
  return false;
}

const char* StandardizeName(const WordRules& rules) {
  for (const NamedWordRules& each : kStandardize) {
    if (each.lowers == rules.lowers && each.strips == rules.strips) return each.name;
  }
  return "";
}

bool StandardizeNamed(std::string_view name, WordRules* rules) {
  for (const NamedWordRules& each : kStandardize) {
    if (name != each.name) continue;
    rules->lowers = each.lowers;
    rules->strips = each.strips;
    return true;
  }
  return false;
}

const char* SlotKindName(SlotKind kind) {
  switch (kind) {
    case SlotKind::kNumber:
      return "number";
    case SlotKind::kIndicator:
      return "indicator";
    case SlotKind::kOneHot:
      return "one_hot";
    case SlotKind::kIndex:
      return "index";
    case SlotKind::kWord:
      return "word";
  }
  return "";
}

}  // namespace hopper
