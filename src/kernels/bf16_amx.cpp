// Products of bfloat16 numbers for x86-64 processors with AMX; the build compiles this file for
// that set.
#include "kernels/bf16.h"

#if defined(__AVX512BF16__) && defined(__AMX_BF16__) && defined(__linux__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kernels/bf16_gemm.h"
#include "kernels/bf16_pack.h"
#include "kernels/bf16_tiles.h"

namespace hopper {

namespace {

// The processor's own tiles. (Not the compiler's intrinsics: gcc 12 does not know that these read
// and write memory, and moves other accesses across them.)
struct AmxTiles {
  static void Configure(const TileConfig& config) {
    asm volatile("ldtilecfg %0" : : "m"(config) : "memory");
  }
  static void Release() { asm volatile("tilerelease" : : : "memory"); }
  template <int kTile>
  HOPPER_INLINE static void Zero() {
    asm volatile("tilezero %%tmm%c0" : : "i"(kTile));
  }
  // `stride` bytes from a row to the next
  template <int kTile>
  HOPPER_INLINE static void Load(const void* from, int64_t stride) {
    asm volatile("tileloadd (%0,%1,1), %%tmm%c2" : : "r"(from), "r"(stride), "i"(kTile) : "memory");
  }
  template <int kTile>
  HOPPER_INLINE static void Store(void* to, int64_t stride) {
    asm volatile("tilestored %%tmm%c2, (%0,%1,1)" : : "r"(to), "r"(stride), "i"(kTile) : "memory");
  }
  template <int kSum, int kLeft, int kRight>
  HOPPER_INLINE static void Multiply() {
    asm volatile("tdpbf16ps %%tmm%c2, %%tmm%c1, %%tmm%c0" : : "i"(kSum), "i"(kLeft), "i"(kRight));
  }
};

void Gemm(const Bf16GemmArgs& args) {
  SumsInTiles(args) ? TileGemm<AmxTiles>(args) : PairGemm(args);
}

// The processor has tiles, the system saves them, and it lets this process use them: Linux wants to
// be asked (Documentation/arch/x86/xstate.rst). Its answer holds for all threads and for forks.
bool TilesRunHere() {
  unsigned a, b, c, d;
  constexpr unsigned kBf16 = 1U << 22;
  constexpr unsigned kTile = 1U << 24;
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d) == 0 || (d & kBf16) == 0 || (d & kTile) == 0) {
    return false;
  }
  // A processor with AVX512 has XGETBV.
  unsigned enabled, upper;
  asm volatile("xgetbv" : "=a"(enabled), "=d"(upper) : "c"(0));
  constexpr unsigned kConfig = 1U << 17;
  constexpr int kData = 18;
  if ((enabled & kConfig) == 0 || (enabled & 1U << kData) == 0) return false;
  constexpr int kRequestPermission = 0x1023;  // ARCH_REQ_XCOMP_PERM
  return syscall(SYS_arch_prctl, kRequestPermission, kData) == 0;
}

}  // namespace

const Bf16Kernels* AmxBf16Kernels() {
  static constexpr Bf16Kernels kTable = {"AMX",           true,       true, Gemm, Round, PairRows,
                                         PairRoundedRows, PairColumns};
  static const bool runs_here = Avx512Bf16Kernels() != nullptr && TilesRunHere();
  return runs_here ? &kTable : nullptr;
}

}  // namespace hopper
#else
namespace hopper {

const Bf16Kernels* AmxBf16Kernels() { return nullptr; }

}  // namespace hopper
#endif
