// A column of a table as a schema knows it: what its values are, what becomes of them, and in which
// numbers (slots) of an encoded row it ends up.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace hopper {

// What SQL types have in common. Names of families are part of stored schemas.
enum class Family { kNumber, kInteger, kBoolean, kText, kDate, kTimestamp, kNumbers };

const char* FamilyName(Family family);
// False where no family has that name.
bool FamilyNamed(std::string_view name, Family* family);
// Whether a model that was trained on values of one family takes those of the other: numbers and
// integers stand for each other, and dates and timestamps.
bool AreAlike(Family a, Family b);

// The form in which a value is given to Schema::Encode().
enum class CellKind {
  kNumber = 1,   // numbers, booleans (0 and 1), times (seconds since 1970-01-01 UTC)
  kText = 2,     // UTF-8, as PostgreSQL's output function writes it
  kNumbers = 3,  // the elements of an array
};

// One value of a row. What it points to is the caller's.
struct Cell {
  bool is_null = false;
  double number = 0.0;
  std::string_view text;
  const double* numbers = nullptr;
  int64_t n = 0;
};

// What is done about NULL.
enum class NullRule {
  kRefuse,     // a row with NULL cannot be encoded
  kMedian,     // the median of the training rows takes its place
  kIndicator,  // likewise, and one more slot is 1 there and 0 elsewhere
  kCategory,   // NULL is a value among others
};

const char* NullRuleName(NullRule rule);
// False where no rule has that name.
bool NullRuleNamed(std::string_view name, NullRule* rule);

enum class SlotKind {
  kNumber,
  kIndicator,
  kOneHot,
  kIndex,  // the id of a category
  kWord,   // an id of a word; all of a column share an embedding, and 0 is padding
};

const char* SlotKindName(SlotKind kind);

// One number of an encoded row.
struct Slot {
  SlotKind kind = SlotKind::kNumber;
  std::string name;         // "age", "age is null", "plan = basic"
  int64_t cardinality = 0;  // of ids: they are whole numbers from 0 to below it
};

// Finds a category's number by its text.
class CategoryPlaces {
 public:
  void Add(std::string_view value, int place) { places_.emplace(value, place); }
  // -1 where the value is not there.
  int Find(std::string_view value) const {
    const auto found = places_.find(value);
    return found == places_.end() ? -1 : found->second;
  }

 private:
  std::unordered_map<std::string_view, int> places_;
};

// How a text becomes words, as Keras' TextVectorization has it. Letters are those of ASCII alone.
struct WordRules {
  bool lowers = true;  // upper-case letters
  bool strips = true;  // punctuation
  bool splits = true;  // at white space; else the text is one word

  bool operator==(const WordRules& other) const {
    return lowers == other.lowers && strips == other.strips && splits == other.splits;
  }
};

// The name of what is done with letters, as TextVectorization's argument "standardize" has it.
const char* StandardizeName(const WordRules& rules);
// False where there is none of that name.
bool StandardizeNamed(std::string_view name, WordRules* rules);

// How a value becomes an id, as Keras' StringLookup, IntegerLookup and Hashing have it.
struct IdRules {
  static constexpr int64_t kMostUnknown = 1000000;

  // Ids of values that have none of their own. Of several a text's hash tells which, of a whole
  // number what is left when it is divided by them. Of none such a value is -1.
  int64_t unknown = 1;
  std::optional<std::string> mask;  // the value whose id is 0, before all others
  int64_t bins = 0;                 // of hashes, the mask's with them
  // Two numbers that hashes depend on; else there are none.
  std::optional<std::pair<uint64_t, uint64_t>> salt;

  bool operator==(const IdRules& other) const {
    return unknown == other.unknown && mask == other.mask && bins == other.bins &&
           salt == other.salt;
  }
};

class Treatment;

struct Column {
  std::string name;
  std::string sql_type;  // as format_type() writes it
  Family family = Family::kNumber;
  const Treatment* treatment = nullptr;
  NullRule null_rule = NullRule::kRefuse;
  double fill = 0.0;  // what stands for NULL where the rule is kMedian or kIndicator

  // Statistics of the training rows. Which of the following there are is the treatment's matter.
  int64_t n_rows = 0;
  int64_t n_nulls = 0;
  std::vector<double> parameters;   // in the order of Treatment::Parameters()
  std::vector<double> quantiles;    // ascending
  std::vector<std::string> values;  // categories (words) with an id, the most frequent first
  int64_t n_other = 0;              // training rows (words) with another value
  bool has_null_value = false;      // NULL has a slot of its own among the categories
  int64_t length = 1;               // numbers of an array, words that are kept of a text
  WordRules words;
  IdRules ids;
  std::vector<Slot> slots;
  CategoryPlaces places;  // into `values`, whose memory it uses: columns are moved, never copied

  Column() = default;
  Column(const Column&) = delete;
  Column& operator=(const Column&) = delete;
  Column(Column&&) = default;
  Column& operator=(Column&&) = default;
  ~Column() = default;
};

}  // namespace hopper
