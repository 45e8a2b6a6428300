// How many times each word is in a text, as Keras' TextVectorization counts them: first all words
// that have no number of their own, then the vocabulary, whose words are those of treatment
// "words".
#pragma once

#include <algorithm>

#include "schema/treatments/words.h"

namespace hopper {

struct WordCountsTreatment : WordsTreatment {
  const char* Name() const override { return "word_counts"; }
  bool NeedsLength() const override { return false; }
  void AddSlots(const Column& column, std::vector<Slot>* slots) const override {
    slots->push_back({SlotKind::kNumber, column.name + " has other words", 0});
    for (const std::string& word : column.values) {
      slots->push_back({SlotKind::kNumber, column.name + " has " + word, 0});
    }
  }
  void Encode(const Column& column, const Cell& cell, float* out) const override {
    std::fill(out, out + column.values.size() + 1, 0.0F);
    ForEachWord(column, cell, [&](std::string_view word) {
      out[column.places.Find(word) + 1] += 1.0F;
      return true;
    });
  }
};

}  // namespace hopper
