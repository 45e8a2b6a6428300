#include "model/layers/lookup/lookup.h"

#include <algorithm>

#include "model/keras/json_text.h"
#include "model/layers/inputs.h"
#include "params/json_writer.h"

namespace hopper {
namespace layers {
namespace {

constexpr int64_t kMostUnknown = 1000000;

// Drops what Keras counts among the vocabulary where it is written with it.
void DropSpecial(const std::string& token, int64_t count, std::vector<std::string>* vocabulary) {
  const auto n = static_cast<size_t>(count);
  if (vocabulary->size() <= n) return;
  for (size_t i = 0; i < n; ++i) {
    if ((*vocabulary)[i] != token) return;
  }
  vocabulary->erase(vocabulary->begin(), vocabulary->begin() + static_cast<ptrdiff_t>(n));
}

}  // namespace

Lookup::Lookup(LayerConfig& config, const char* oov_token)
    : IdLayer(config),
      vocabulary(config.Strings("vocabulary")),
      mask(config.Token("mask_token")),
      unknown(config.Int("num_oov_indices", 1)) {
  if (!config.Has("vocabulary")) {
    config.Fail(ErrorCode::kNotSupported,
                "argument \"vocabulary\" is missing, and model.to_json() does not write what "
                "adapt() has learnt",
                "Build the model with vocabulary=layer.get_vocabulary(include_special_tokens=False)"
                " of the layer that was adapted, or write that list into the JSON.");
  }
  std::optional<std::string> oov = config.Token("oov_token");
  if (!oov && !config.IsNull("oov_token")) oov = oov_token;
  if (unknown < 0 || unknown > kMostUnknown) {
    config.Fail(ErrorCode::kInvalidParameter,
                "argument \"num_oov_indices\" must be from 0 to " + std::to_string(kMostUnknown));
    unknown = 1;
  }
  if (mask) DropSpecial(*mask, 1, &vocabulary);
  if (oov && unknown > 0) DropSpecial(*oov, unknown, &vocabulary);
  encoding.mode = ReadEncodingMode(config, "int", true);
  encoding.first = mask && encoding.mode != Encoding::Mode::kNumbers ? 1 : 0;
  encoding.depth =
      static_cast<int64_t>(vocabulary.size()) + unknown + (mask && encoding.first == 0 ? 1 : 0);
  if (config.Bool("pad_to_max_tokens", false) && encoding.mode != Encoding::Mode::kNumbers) {
    encoding.depth = std::max(encoding.depth, config.Int("max_tokens", encoding.depth));
  }
  for (const char* key : {"invert", "sparse", "idf_weights"}) config.RequireUnset(key);
  for (const char* key :
       {"max_tokens", "vocabulary_size", "encoding", "vocabulary_dtype", "has_input_vocabulary"}) {
    config.Ignore(key);
  }
  if (unknown > 1) {
    config.RequireUnset("salt");
  } else {
    config.Ignore("salt");
  }
}

std::string Lookup::Treatment() const {
  JsonObjectText written;
  written.Add("treatment", JsonString("index")).Add("values", JsonStrings(vocabulary));
  if (unknown != 1) written.Add("unknown", std::to_string(unknown));
  if (mask) written.Add("mask", JsonString(*mask));
  return written.Text();
}

void Lookup::ThrowNoId(float id) const {
  if (id == -1.0F) {
    ThrowUnfit(*this, "a value is not in its vocabulary, and num_oov_indices is 0",
               "Leave such rows out in a view.");
  }
  ThrowUnfit(*this, "there is no id " + NumberText(id),
             "Pack the column by the treatment that hopper.model_columns() shows; a "
             "column of other numbers is cast to integer or text in a view.");
}

StringLookup::StringLookup(LayerConfig& config) : Lookup(config, "[UNK]") {
  config.Ignore("oov_method");
}

IntegerLookup::IntegerLookup(LayerConfig& config) : Lookup(config, "-1") {
  const std::string method = config.String("oov_method", "floormod");
  if (unknown > 1 && method != "floormod") {
    config.Fail(ErrorCode::kNotSupported, "oov_method \"" + method + "\" is not supported",
                "Use \"floormod\", or num_oov_indices=1.");
  }
}

Hashing::Hashing(LayerConfig& config)
    : IdLayer(config), mask(config.Token("mask_value")), salt(config.Strings("salt")) {
  encoding.mode = ReadEncodingMode(config, "int", true);
  encoding.depth = config.Int("num_bins", 1);
  config.RequireGivenCount("num_bins", &encoding.depth);
  config.RequireUnset("sparse");
  if (salt.size() == 1) salt.push_back(salt[0]);
  const bool whole = std::all_of(salt.begin(), salt.end(), [](const std::string& number) {
    return !number.empty() && number.find_first_not_of("0123456789") == std::string::npos;
  });
  if (!whole || (!salt.empty() && salt.size() != 2)) {
    config.Fail(ErrorCode::kInvalidParameter,
                "argument \"salt\" must be one or two whole numbers of 0 or more");
    salt.clear();
  }
}

std::string Hashing::Treatment() const {
  JsonObjectText written;
  written.Add("treatment", JsonString("hash")).Add("bins", std::to_string(encoding.depth));
  if (mask) written.Add("mask", JsonString(*mask));
  if (!salt.empty()) written.Add("salt", JsonList(salt));
  return written.Text();
}

void Hashing::ThrowNoId(float id) const {
  ThrowUnfit(*this, "there is no id " + NumberText(id),
             "Pack the column by the treatment that hopper.model_columns() shows; a "
             "column of other numbers is cast to integer or text in a view.");
}

}  // namespace layers
}  // namespace hopper
