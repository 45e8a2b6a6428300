// What is made of texts, kept so that a process reads a text once however many ask for it.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

namespace hopper {

// Thread-safe; who asks for a text that is being read waits for it. Values are immutable and live
// as long as anybody holds them.
template <typename T>
class ReadOnce {
 public:
  // Holds up to so many bytes, texts and values together; then it begins anew.
  explicit ReadOnce(int64_t bytes) : most_(bytes) {}
  ReadOnce(const ReadOnce&) = delete;
  ReadOnce& operator=(const ReadOnce&) = delete;

  // What `read()` makes of the text, a T, or made of it before; size(value) says what it takes,
  // about. What `read` throws is thrown, and nothing is kept.
  template <typename Read, typename Size>
  std::shared_ptr<const T> Of(std::string_view text, const Read& read, const Size& size) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto at = values_.find(text);
    if (at != values_.end()) return at->second;
    auto value = std::make_shared<const T>(read());
    ++count_;
    const int64_t bytes = kEntry + static_cast<int64_t>(text.size()) + size(*value);
    if (bytes > most_) return value;
    if (bytes > most_ - bytes_) Clear();
    values_.emplace(text, value);
    bytes_ += bytes;
    return value;
  }

  // How many texts have been read.
  int64_t count() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return count_;
  }
  int64_t bytes() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return bytes_;
  }
  void Forget() {
    const std::lock_guard<std::mutex> lock(mutex_);
    Clear();
  }
  // So many bytes from now on.
  void Bound(int64_t bytes) {
    const std::lock_guard<std::mutex> lock(mutex_);
    most_ = bytes;
    if (bytes_ > most_) Clear();
  }

 private:
  // Beside text and value: what the map and the pointer take.
  static constexpr int64_t kEntry = 128;

  void Clear() {
    values_.clear();
    bytes_ = 0;
  }

  int64_t most_;
  mutable std::mutex mutex_;
  std::map<std::string, std::shared_ptr<const T>, std::less<>> values_;
  int64_t bytes_ = 0;
  int64_t count_ = 0;
};

}  // namespace hopper
