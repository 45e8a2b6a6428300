#include "model/layers/lookup/text_vectorization.h"

#include <numeric>

#include "params/json_writer.h"

namespace hopper {
namespace layers {
namespace {

// A choice by its name, in which null is "none".
std::string Choice(LayerConfig& config, const char* key, const char* fallback) {
  return config.IsNull(key) ? "none" : config.String(key, fallback);
}

TextVectorization::Mode ReadMode(LayerConfig& config) {
  const std::string mode = config.String("output_mode", "int");
  if (mode == "multi_hot" || mode == "binary") return TextVectorization::Mode::kMultiHot;
  if (mode == "count") return TextVectorization::Mode::kCount;
  if (mode == "tf_idf" || mode == "tf-idf") return TextVectorization::Mode::kTfIdf;
  if (mode != "int") {
    config.Fail(ErrorCode::kNotSupported, "output_mode \"" + mode + "\" is not supported",
                "Use \"int\", \"multi_hot\", \"count\" or \"tf_idf\".");
  }
  return TextVectorization::Mode::kIds;
}

}  // namespace

TextVectorization::TextVectorization(LayerConfig& config)
    : SameShape(config),
      mode(ReadMode(config)),
      vocabulary(config.Strings("vocabulary")),
      weights(config.Numbers("idf_weights", {})),
      standardize(Choice(config, "standardize", "lower_and_strip_punctuation")),
      split(Choice(config, "split", "whitespace")),
      length(config.Int("output_sequence_length", 0)) {
  if (!config.Has("vocabulary")) {
    config.Fail(ErrorCode::kNotSupported,
                "argument \"vocabulary\" is missing, and model.to_json() does not write what "
                "adapt() has learnt",
                "Build the model with vocabulary=layer.get_vocabulary(include_special_tokens=False)"
                " of the layer that was adapted, or write that list into the JSON.");
  }
  for (const char* special : {"", "[UNK]"}) {
    if (!vocabulary.empty() && vocabulary[0] == special) vocabulary.erase(vocabulary.begin());
  }
  if (standardize != "lower_and_strip_punctuation" && standardize != "lower" &&
      standardize != "strip_punctuation" && standardize != "none") {
    config.Fail(ErrorCode::kNotSupported, "standardize \"" + standardize + "\" is not supported",
                "Use \"lower_and_strip_punctuation\", \"lower\", \"strip_punctuation\" or None.");
  }
  if (split != "whitespace" && split != "none") {
    config.Fail(ErrorCode::kNotSupported, "split \"" + split + "\" is not supported",
                "Use \"whitespace\" or None.");
  }
  for (const char* key : {"ngrams", "ragged", "sparse"}) config.RequireUnset(key);
  for (const char* key : {"max_tokens", "vocabulary_size", "encoding", "has_input_vocabulary"}) {
    config.Ignore(key);
  }
  if (mode == Mode::kIds) {
    config.Ignore("pad_to_max_tokens");
    if (length >= 1) return;
    config.Fail(ErrorCode::kNotSupported,
                "argument \"output_sequence_length\" is missing: how many words of a text count",
                "Give it, for example output_sequence_length=100.");
    length = 1;
    return;
  }
  config.RequireUnset("pad_to_max_tokens");
  if (mode != Mode::kTfIdf) {
    weights.clear();
    return;
  }
  if (weights.size() == vocabulary.size() && !weights.empty()) {
    // An unknown word has their mean.
    weights.insert(weights.begin(), std::accumulate(weights.begin(), weights.end(), 0.0) /
                                        static_cast<double>(weights.size()));
  }
  if (weights.size() != vocabulary.size() + 1) {
    config.Fail(ErrorCode::kInvalidParameter,
                "argument \"idf_weights\" must have a number for each word of the vocabulary");
    weights.assign(vocabulary.size() + 1, 1.0);
  }
}

std::string TextVectorization::Treatment() const {
  JsonObjectText written;
  written.Add("treatment", JsonString(mode == Mode::kIds ? "words" : "word_counts"));
  if (mode == Mode::kIds) written.Add("length", std::to_string(length));
  return written.Add("values", JsonStrings(vocabulary))
      .Add("standardize", JsonString(standardize))
      .Add("split", JsonString(split))
      .Text();
}

int64_t TextVectorization::Slots() const {
  return mode == Mode::kIds ? length : static_cast<int64_t>(vocabulary.size()) + 1;
}

}  // namespace layers
}  // namespace hopper
