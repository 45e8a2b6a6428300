// Texts as ids of words, as Keras' TextVectorization makes them by itself: upper case of ASCII
// becomes lower case, ASCII's punctuation goes, words end at white space. Id 0 fills texts up to
// `length` words, and NULL and texts without words are nothing else; 1 are words without an id of
// their own; then come the words of the training rows from the most frequent on, of equally
// frequent ones the last in the order of bytes. What is longer is cut.
// `standardize` and `split` are otherwise where they are said, as is the vocabulary.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include "schema/treatment.h"

namespace hopper {

struct WordsTreatment : Treatment {
  static constexpr int64_t kMostWords = 100000;
  static constexpr int64_t kMostLength = 10000;
  static constexpr int64_t kFirstWord = 2;  // behind padding and unknown words

  const char* Name() const override { return "words"; }
  bool Takes(Family family) const override { return family == Family::kText; }
  CellKind Reads() const override { return CellKind::kText; }
  bool IsCategory() const override { return true; }
  bool IsOfWords() const override { return true; }
  bool NeedsLength() const override { return true; }
  size_t MostValues() const override { return kMostWords; }

  void Ask(const TreatmentOptions& options, Questions* questions) const override {
    questions->values = true;
    questions->least_rows = Least(options);
    questions->words = true;
    const WordRules& rules = options.words;
    std::string stripped;
    for (int c = 1; c < 128; ++c) {
      const char letter = static_cast<char>(c);
      if (rules.strips && IsPunctuation(letter)) {
        stripped += letter;
      } else if (IsBlank(letter) || (rules.lowers && Lower(letter) != letter)) {
        questions->letters += letter;
        questions->stand_ins += IsBlank(letter) ? ' ' : Lower(letter);
      }
    }
    questions->letters += stripped;
  }

  void Fit(const Statistics& statistics, const TreatmentOptions& options,
           Column* column) const override {
    column->length = std::max<int64_t>(options.length, 1);
    column->words = options.words;
    if (!options.values.empty()) {
      TakeGivenValues(statistics, options, statistics.n_words, column);
      return;
    }
    column->n_other = statistics.n_words;
    std::vector<std::pair<std::string, int64_t>> kept;
    for (const auto& word : statistics.values) {
      if (word.second >= Least(options)) kept.push_back(word);
    }
    std::sort(kept.begin(), kept.end(), [](const auto& a, const auto& b) {
      return a.second != b.second ? a.second > b.second : a.first > b.first;
    });
    const auto most = static_cast<size_t>(options.vocabulary - kFirstWord);
    if (kept.size() > most) kept.resize(most);
    for (auto& word : kept) {
      column->n_other -= word.second;
      column->values.push_back(std::move(word.first));
    }
  }

  void AddSlots(const Column& column, std::vector<Slot>* slots) const override {
    const int64_t ids = kFirstWord + static_cast<int64_t>(column.values.size());
    for (int64_t i = 1; i <= column.length; ++i) {
      slots->push_back({SlotKind::kWord, column.name + "[" + std::to_string(i) + "]", ids});
    }
  }

  void Encode(const Column& column, const Cell& cell, float* out) const override {
    std::fill(out, out + column.length, 0.0F);
    const float* const end = out + column.length;
    ForEachWord(column, cell, [&](std::string_view word) {
      *out++ = static_cast<float>(column.places.Find(word) + kFirstWord);
      return out < end;
    });
  }

 protected:
  // Calls put(word) for each word of a text, until that is false. NULL has none.
  template <typename Put>
  static void ForEachWord(const Column& column, const Cell& cell, const Put& put) {
    if (cell.is_null) return;
    std::string word;
    for (const char letter : cell.text) {
      if (column.words.splits && IsBlank(letter)) {
        if (!word.empty() && !put(word)) return;
        word.clear();
      } else if (!column.words.strips || !IsPunctuation(letter)) {
        word += column.words.lowers ? Lower(letter) : letter;
      }
    }
    if (!word.empty()) put(word);
  }

 private:
  static int64_t Least(const TreatmentOptions& options) {
    return !options.values.empty() ? 1 : options.min_frequency > 0 ? options.min_frequency : 2;
  }
  static bool IsBlank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
  static bool IsPunctuation(char c) {
    return (c >= '!' && c <= '/') || (c >= ':' && c <= '@') || (c >= '[' && c <= '`') ||
           (c >= '{' && c <= '~');
  }
  static char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }
};

}  // namespace hopper
