// The numerics class: two machines with one class give one digest.
#include <ATen/Version.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <set>
#include <string>

#include "base/hash.h"
#include "kernels/cpu_capability.h"
#include "model/planned/planned_network.h"
#include "model/planned/step_plan.h"
#include "support/autograd.h"
#include "support/keras_models.h"
#include "train/numerics_check.h"
#include "train/trainer.h"

namespace hopper {
namespace {

// The class names libtorch's, and the kernels ask for ours.
TEST(Numerics, CapabilityIsThatOfLibtorch) { EXPECT_EQ(CpuCapability(), at::get_cpu_capability()); }

constexpr char kPrint[] = "HOPPER_PRINT_NUMERICS";

// Of products that the libraries' code decides: the bits that the class must tell apart.
std::string DigestOfProducts() {
  const auto spec = ParseModel(
      KerasSequential({KerasDense("first", 400, "linear", R"("batch_input_shape": [null, 400])"),
                       KerasDense("last", 400, "linear")}),
      nullptr);
  const PlannedNetwork network(spec);
  AlignedArray<float> flat(static_cast<size_t>(spec->flat_size));
  InitializeWeights(*spec, 9, flat.data());
  PlanOptions options;
  options.batch = 50;
  StepPlan plan(network, options);
  AlignedArray<float> input(50 * 400);
  for (size_t i = 0; i < input.size(); ++i) input[i] = flat[(i * 7) % 160000];
  plan.SetInput(input.data());
  StepArguments step;
  step.params = flat.data();
  plan.Forward(step);
  return Hash(plan.output(), 50 * 400 * sizeof(float)).Hex();
}

// This test again in a process with this environment: class and digest, a line each.
std::string InProcess(const std::string& environment) {
  const std::string command = "env " + environment + " " + kPrint +
                              "=1 /proc/self/exe --gtest_filter=Numerics.Print 2>/dev/null";
  // The shell is another executable.
  std::string own = "/proc/" + std::to_string(getpid()) + "/exe";
  std::string line = command;
  line.replace(line.find("/proc/self/exe"), 14, own);
  FILE* pipe = popen(line.c_str(), "r");
  std::string text;
  std::array<char, 512> part;
  while (pipe != nullptr && fgets(part.data(), part.size(), pipe) != nullptr) {
    if (std::string(part.data()).rfind("> ", 0) == 0) text += part.data() + 2;
  }
  if (pipe != nullptr) pclose(pipe);
  return text;
}

TEST(Numerics, Print) {
  if (std::getenv(kPrint) == nullptr) GTEST_SKIP() << "for the tests below";
  std::printf("\n> %s\n> %s\n> %s\n", NumericsClass("fp32").c_str(), Autograd().Numerics().c_str(),
              DigestOfProducts().c_str());
}

// Environment variables change what is computed, as another processor would: what MKL does, and
// with ATEN_CPU_CAPABILITY what we do.
TEST(Numerics, AClassHasOneDigest) {
  std::set<std::string> all, classes, digests, by_torch;
  for (const char* environment :
       {"HOPPER_NOTHING=1", "HOPPER_NOTHING=2", "MKL_ENABLE_INSTRUCTIONS=AVX2",
        "MKL_ENABLE_INSTRUCTIONS=SSE4_2", "MKL_CBWR=COMPATIBLE", "ATEN_CPU_CAPABILITY=default"}) {
    const std::string text = InProcess(environment);
    const size_t end = text.find('\n');
    ASSERT_NE(end, std::string::npos) << environment;
    const size_t torch_end = text.find('\n', end + 1);
    ASSERT_NE(torch_end, std::string::npos) << environment;
    const std::string name = text.substr(0, end);
    EXPECT_EQ(name.find("torch"), std::string::npos) << name;
    const std::string digest = text.substr(torch_end);
    all.insert(name + digest);
    classes.insert(name);
    digests.insert(digest);
    by_torch.insert(text.substr(end, torch_end - end));
  }
  // One class has one digest; and this processor knows several forms of arithmetic.
  EXPECT_EQ(all.size(), classes.size());
  EXPECT_GE(classes.size(), digests.size());
  EXPECT_GE(digests.size(), 2U);
  // Not all of MKL's forms differ in these networks.
  EXPECT_GE(by_torch.size(), 2U);
}

TEST(Numerics, NamesWhatMakesTheBits) {
  EXPECT_EQ(NumericsCheck(), NumericsCheck());
  EXPECT_EQ(NumericsCheck().size(), 8U);
  const std::string name = NumericsClass("fp32", 2);
  EXPECT_EQ(name.rfind("kernels ", 0), 0U) << name;
  EXPECT_NE(name.find(NumericsCheck()), std::string::npos) << name;
  EXPECT_LT(name.size(), 128U);
  // As version 0.1 called it, whatever libtorch it had.
  const std::string older = "torch 2.6.0, " + name.substr(name.find("), ") + 3);
  EXPECT_TRUE(IsOlderNameOf(older, name));
  EXPECT_FALSE(IsOlderNameOf(older, NumericsClass("fp32", 1)));
  EXPECT_FALSE(IsOlderNameOf(name, name));
  EXPECT_FALSE(IsOlderNameOf("", name));
  const std::string torch = NumericsClass("fp32", 2, Autograd().Numerics());
  EXPECT_TRUE(IsOlderNameOf(older, torch)) << torch;
  EXPECT_LT(torch.size(), 128U);
}

}  // namespace
}  // namespace hopper
