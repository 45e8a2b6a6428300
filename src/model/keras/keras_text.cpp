// From text to JSON, with messages that say where it is broken.

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>

#include "model/keras/json_text.h"
#include "model/keras/keras_json.h"

namespace hopper {

using nlohmann::json;

namespace {

// Parsing looks at no cancel: these bound how long it takes.
constexpr size_t kMaxBytes = size_t{16} << 20;
constexpr size_t kMaxValues = 1000000;
constexpr int kMaxDepth = 256;

// The bytes around `position` that can be shown: whole, printable characters.
std::string Around(std::string_view text, size_t position) {
  const size_t begin = position > 10 ? position - 10 : 0;
  std::string shown;
  for (size_t i = begin; i < text.size() && i < begin + 20; ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte >= 0x20 && byte < 0x7F) {
      shown += static_cast<char>(byte);
    } else if (byte < 0x80 || byte >= 0xC0) {
      shown += byte < 0x80 ? ' ' : '?';  // a character of several bytes shows as one "?"
    }
  }
  return shown;
}

// "position 7 (line 1, column 7), near "..."", of the character at an index.
std::string PlaceOf(std::string_view text, size_t position) {
  size_t line = 1;
  size_t column = 1;
  for (size_t i = 0; i < position; ++i) {
    if (text[i] == '\n') {
      ++line;
      column = 1;
    } else {
      ++column;
    }
  }
  return "position " + std::to_string(position + 1) + " (line " + std::to_string(line) +
         ", column " + std::to_string(column) + "), near \"" + Around(text, position) + "\"";
}

Problem SyntaxProblem(std::string_view text, size_t byte) {
  const size_t position = byte == 0 ? 0 : std::min(byte - 1, text.size());
  std::string detail;
  if (std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isspace(c); })) {
    detail = "The text is empty.";
  } else if (position >= text.size()) {
    detail = "The text ends too early, after \"" + Around(text, text.size()) + "\".";
  } else {
    detail = "The error is at " + PlaceOf(text, position) + ".";
  }
  const bool python = position < text.size() && text[position] == '\'';
  return {
      ErrorCode::kInvalidText, "model architecture is not valid JSON", detail,
      python ? "JSON wants double quotes, also where Python has single ones." : kArchitectureHint};
}

struct Extent {
  int depth = 0;      // of the deepest bracket; counting ends beyond kMaxDepth
  size_t values = 1;  // at least as many as the parser would make
};

// What a text would become, without parsing it. The parser's own callback is not used for it: it
// would look through a whole list again at the end of each of its entries.
Extent Measure(std::string_view text) {
  Extent extent;
  int depth = 0;
  for (size_t i = 0; i < text.size() && extent.depth <= kMaxDepth; ++i) {
    switch (text[i]) {
      case '"':
        for (++i; i < text.size() && text[i] != '"'; ++i) i += text[i] == '\\' ? 1 : 0;
        break;
      case '[':
      case '{':
        extent.depth = std::max(extent.depth, ++depth);
        ++extent.values;
        break;
      case ']':
      case '}':
        --depth;
        break;
      case ',':
        ++extent.values;
        break;
      default:
        break;
    }
  }
  return extent;
}

// True where a dictionary anywhere has one of Keras 3's keys. Depth is bounded by the parser.
bool HasKeras3Marks(const json& value) {
  if (value.is_object()) {
    if (value.contains("batch_shape")) return true;
    const std::string class_name = StringMember(value, "class_name");
    if (class_name == "__keras_tensor__" || class_name == "DTypePolicy") return true;
  }
  if (!value.is_structured()) return false;
  return std::any_of(value.begin(), value.end(), HasKeras3Marks);
}

// Destroys from the inside out: an empty value is destroyed without taking memory.
void TakeApart(json* value) {
  if (auto* array = value->get_ptr<json::array_t*>()) {
    for (json& inner : *array) TakeApart(&inner);
    array->clear();
  } else if (auto* object = value->get_ptr<json::object_t*>()) {
    for (auto& [name, inner] : *object) TakeApart(&inner);
    object->clear();
  }
}

// Fills a document, whose text has been seen not to be too deep.
class DocumentBuilder : public nlohmann::json_sax<json> {
 public:
  DocumentBuilder(std::string_view text, json* root, std::vector<Problem>* problems)
      : text_(text), root_(root), problems_(problems) {}

  bool null() override { return Add(nullptr); }
  bool boolean(bool value) override { return Add(value); }
  bool number_integer(number_integer_t value) override { return Add(value); }
  bool number_unsigned(number_unsigned_t value) override { return Add(value); }
  bool number_float(number_float_t value, const string_t& /*text*/) override { return Add(value); }
  bool string(string_t& value) override { return Add(std::move(value)); }
  bool binary(binary_t& /*value*/) override { return false; }
  bool start_object(size_t /*size*/) override { return Open(json::object()); }
  bool start_array(size_t /*size*/) override { return Open(json::array()); }
  bool end_object() override { return Close(); }
  bool end_array() override { return Close(); }
  bool key(string_t& name) override {
    member_ = &(*open_.back())[name];
    TakeApart(member_);  // of a key that stands twice, the last one counts
    return true;
  }
  bool parse_error(size_t position, const std::string& token,
                   const nlohmann::detail::exception& error) override {
    if (dynamic_cast<const json::parse_error*>(&error) != nullptr) {
      problems_->push_back(SyntaxProblem(text_, position));
    } else {
      // Where the number ends.
      const size_t end = std::min(position, text_.size());
      problems_->push_back(
          {ErrorCode::kInvalidText, "model architecture is not valid JSON",
           "A number is too large, at " + PlaceOf(text_, end - std::min(end, token.size())) + ".",
           kArchitectureHint});
    }
    return false;
  }

 private:
  // A value without others in it.
  json* Put(json value) {
    if (open_.empty()) {
      *root_ = std::move(value);
      return root_;
    }
    if (open_.back()->is_array()) return &open_.back()->emplace_back(std::move(value));
    *member_ = std::move(value);
    return member_;
  }
  bool Add(json value) {
    Put(std::move(value));
    return true;
  }
  bool Open(json empty) {
    open_.push_back(Put(std::move(empty)));
    return true;
  }
  bool Close() {
    open_.pop_back();
    return true;
  }

  std::string_view text_;
  json* root_;
  std::vector<Problem>* problems_;
  std::vector<json*> open_;
  json* member_ = nullptr;  // of the innermost object, the one whose key was read last
};

// Layers of Keras 1 have other arguments; a problem where the document is of that.
bool IsOfKeras1(const json& document, std::vector<Problem>* problems) {
  std::string version = StringMember(document, "keras_version");
  if (version.empty()) {
    // Early ones do not say it; all layers with weights have this key.
    const json& config = Member(document, "config");
    const json& layers = config.is_array() ? config : Member(config, "layers");
    const bool marked = std::any_of(layers.begin(), layers.end(), [](const json& layer) {
      const json& arguments = Member(layer, "config");
      return arguments.is_object() && arguments.contains("W_regularizer");
    });
    if (!marked) return false;
    version = "1";
  }
  if (version != "1" && version.rfind("1.", 0) != 0 && version.rfind("0.", 0) != 0) return false;
  problems->push_back({ErrorCode::kNotSupported,
                       "model architecture was written by Keras " + version,
                       "Its layers have other arguments than those of Keras 2: output_dim for "
                       "units, nb_filter for filters.",
                       "Read it with Keras 2.0 to 2.2, which translates it, and write it with "
                       "model.to_json() again."});
  return true;
}

// A model, or one that is encoded as JSON once more.
bool LooksLikeAModel(const json& value) {
  if (Member(value, "class_name").is_string()) return true;
  const auto* text = value.get_ptr<const std::string*>();
  return text != nullptr && text->find("class_name") != std::string::npos;
}

// Where the model stands in a dictionary that holds it, such as a file of TensorFlow.js or the
// attributes of an .h5 file, as PostgreSQL writes it: "#> '{model_config}'". "" where it is not
// there.
std::string PlaceOfModel(const json& document) {
  if (!document.is_object()) return "";
  const auto place = [](const std::string& path, const json& value) {
    return (value.is_string() ? "#>> '{" : "#> '{") + path + "}'";
  };
  for (const auto& [key, value] : document.items()) {
    if (LooksLikeAModel(value)) return place(key, value);
  }
  for (const auto& [key, value] : document.items()) {
    if (!value.is_object()) continue;
    for (const auto& [inner, model] : value.items()) {
      if (LooksLikeAModel(model)) return place(key + "," + inner, model);
    }
  }
  return "";
}

}  // namespace

const char kArchitectureHint[] =
    "Use hopper.mlp(), the output of Keras' model.to_json(), or write, for three classes: "
    "{\"class_name\": \"Sequential\", \"config\": {\"layers\": ["
    "{\"class_name\": \"Dense\", \"config\": {\"units\": 16, \"activation\": \"relu\"}}, "
    "{\"class_name\": \"Dense\", \"config\": {\"units\": 3, \"activation\": \"softmax\"}}]}}.";

JsonDocument::JsonDocument() : root_(std::make_unique<json>()) {}
JsonDocument::~JsonDocument() { TakeApart(root_.get()); }

bool ParseAnyJson(std::string_view text, JsonDocument* parsed, std::vector<Problem>* problems) {
  if (text.size() > kMaxBytes) {
    problems->push_back({ErrorCode::kLimitExceeded, "model architecture is too large",
                         "It has " + std::to_string(text.size()) + " bytes; the limit is " +
                             std::to_string(kMaxBytes) + ".",
                         "Weights belong into the weights argument, not into the JSON."});
    return false;
  }
  const Extent extent = Measure(text);
  if (extent.values > kMaxValues) {
    problems->push_back({ErrorCode::kLimitExceeded, "model architecture is too large",
                         "It has " + std::to_string(extent.values) + " JSON values; the limit is " +
                             std::to_string(kMaxValues) + ".",
                         ""});
    return false;
  }
  if (extent.depth > kMaxDepth) {
    problems->push_back({ErrorCode::kLimitExceeded, "model architecture is nested too deeply",
                         "The limit is " + std::to_string(kMaxDepth) + " levels.", ""});
    return false;
  }
  DocumentBuilder builder(text, parsed->root(), problems);
  return json::sax_parse(text.begin(), text.end(), &builder);
}

bool ParseJsonText(std::string_view text, JsonDocument* parsed, std::vector<Problem>* problems) {
  if (!ParseAnyJson(text, parsed, problems)) return false;
  const json* document = parsed->root();
  if (LooksLikeAModel(*document) && document->is_string()) {  // json.dump(model.to_json())
    const auto inner = document->get<std::string>();
    return ParseJsonText(inner, parsed, problems);
  }
  if (document->is_object() && document->contains("class_name")) {
    return !IsOfKeras1(*document, problems);
  }
  Problem problem{ErrorCode::kInvalidText, "model architecture is not a Keras model",
                  "The JSON is " + ShortJson(*document) + ".", kArchitectureHint};
  if (document->is_string()) {
    problem.detail = "The JSON is a string.";
  } else if (StringMember(*document, "format") == "graph-model") {
    problem.detail = "It is a graph of TensorFlow.js, which has operations and no layers.";
    problem.hint = "Convert the Keras model itself, or take its model.to_json().";
  } else if (const std::string place = PlaceOfModel(*document); !place.empty()) {
    problem.detail = "The model is a part of it.";
    problem.hint = "Give load_model() the part alone: file::json " + place + ".";
  }
  problems->push_back(problem);
  return false;
}

KerasFamily DetectFamily(const json& document) {
  const std::string version = StringMember(document, "keras_version");
  if (!version.empty() && std::isdigit(static_cast<unsigned char>(version[0]))) {
    return std::atoi(version.c_str()) >= 3 ? KerasFamily::kKeras3 : KerasFamily::kKeras2;
  }
  const bool keras3 = document.contains("module") || HasKeras3Marks(document);
  return keras3 ? KerasFamily::kKeras3 : KerasFamily::kKeras2;
}

}  // namespace hopper
