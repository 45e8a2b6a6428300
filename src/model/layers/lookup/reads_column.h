// What layers that prepare data say of the column that they read. Packing does what Keras' layer
// does with strings, by a treatment of the column (src/schema); here the layer reads its numbers.
#pragma once

#include <cstdint>
#include <string>

namespace hopper {
namespace layers {

class ReadsColumn {
 public:
  virtual ~ReadsColumn() = default;
  // The treatment that makes the layer's ids or counts, as JSON of one column of `treatments`.
  virtual std::string Treatment() const = 0;
  // How many numbers that makes of a value; 0: one, in whatever shape the input has.
  virtual int64_t Slots() const { return 0; }
};

}  // namespace layers
}  // namespace hopper
