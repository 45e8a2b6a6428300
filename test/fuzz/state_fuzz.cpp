// State images. The checksum would stop a mutation at once: it is written anew.
#include <vector>

#include "base/hash.h"
#include "fuzz.h"
#include "state/state.h"

using namespace hopper;

namespace {

StateLayout Layout(bool slots) {
  StateLayout layout;
  layout.architecture = Hash("an architecture", 15);
  layout.weights = {{0, 20, slots ? 0 : -1}, {32, 5, slots ? 32 : -1}, {48, 5, -1}};
  layout.flat_size = 64;
  layout.slot_size = slots ? 48 : 0;
  return layout;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  constexpr size_t kDigest = sizeof(Digest::bytes);
  constexpr uint64_t kChecksumSeed = 0x484f5053;  // as state.cpp has it
  std::vector<uint8_t> image(data, data + size);
  for (const bool valid : {false, true}) {
    if (valid) {
      if (image.size() <= kDigest) break;
      // Of the layout below, behind magic and versions.
      if (image.size() > 16 + 2 * kDigest) {
        std::memcpy(image.data() + 16, Layout(true).architecture.bytes.data(), kDigest);
      }
      const size_t body = image.size() - kDigest;
      const Digest checksum = Hash(image.data(), body, kChecksumSeed);
      std::memcpy(image.data() + body, checksum.bytes.data(), kDigest);
    }
    Try([&] { VerifyState(image.data(), image.size()); });
    for (const bool slots : {true, false}) {
      const StateLayout layout = Layout(slots);
      Try([&] {
        const ModelState state = ReadState(layout, image.data(), image.size());
        const std::vector<uint8_t> again = WriteState(layout, state);
        const ModelState twice = ReadState(layout, again.data(), again.size());
        Expect(WriteState(layout, twice) == again, "what is read and written stays");
      });
    }
  }
  return 0;
}
