#include "base/cgroup.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <filesystem>
#include <fstream>
#include <limits>
#include <string>

#include "base/machine.h"

namespace hopper {
namespace {

constexpr int64_t kNoLimit = std::numeric_limits<int64_t>::max();
constexpr double kAll = std::numeric_limits<double>::max();

// A folder that looks like the root of a machine.
class CgroupTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "cgroupXXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    root_ = pattern;
  }
  void TearDown() override { std::filesystem::remove_all(root_); }

  void Write(const std::string& path, const std::string& text) {
    const std::filesystem::path file = root_ + path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }

  std::string root_;
};

TEST_F(CgroupTest, NothingLimitsWhereNothingIs) {
  EXPECT_EQ(ReadCgroupLimits(root_).memory, kNoLimit);
  EXPECT_EQ(ReadCgroupLimits(root_).processors, kAll);
  Write("/proc/self/cgroup", "0::/gone\nnonsense\n");
  EXPECT_EQ(ReadCgroupLimits(root_).memory, kNoLimit);
}

TEST_F(CgroupTest, Version2) {
  Write("/proc/self/cgroup", "0::/system.slice/postgresql.service\n");
  Write("/sys/fs/cgroup/system.slice/postgresql.service/memory.max", "max\n");
  Write("/sys/fs/cgroup/system.slice/postgresql.service/cpu.max", "max 100000\n");
  EXPECT_EQ(ReadCgroupLimits(root_).memory, kNoLimit);
  EXPECT_EQ(ReadCgroupLimits(root_).processors, kAll);
  Write("/sys/fs/cgroup/system.slice/postgresql.service/memory.max", "4294967296\n");
  Write("/sys/fs/cgroup/system.slice/postgresql.service/cpu.max", "150000 100000\n");
  EXPECT_EQ(ReadCgroupLimits(root_).memory, int64_t{4} << 30);
  EXPECT_EQ(ReadCgroupLimits(root_).processors, 1.5);
  Write("/sys/fs/cgroup/system.slice/postgresql.service/memory.high", "1000000\n");
  EXPECT_EQ(ReadCgroupLimits(root_).memory, 1000000);
}

TEST_F(CgroupTest, TheTightestGroupAboveDecides) {
  Write("/proc/self/cgroup", "0::/a/b/c\n");
  Write("/sys/fs/cgroup/a/b/c/memory.max", "3000\n");
  Write("/sys/fs/cgroup/a/memory.max", "2000\n");
  Write("/sys/fs/cgroup/a/b/c/cpu.max", "max 100000\n");
  Write("/sys/fs/cgroup/a/b/cpu.max", "400000 100000\n");
  EXPECT_EQ(ReadCgroupLimits(root_).memory, 2000);
  EXPECT_EQ(ReadCgroupLimits(root_).processors, 4);
}

// In a container the group's own files lie at the top, whatever name it has outside.
TEST_F(CgroupTest, AContainerWithTheHostsNames) {
  Write("/proc/self/cgroup", "0::/docker/0123456789abcdef\n");
  Write("/sys/fs/cgroup/memory.max", "5000\n");
  EXPECT_EQ(ReadCgroupLimits(root_).memory, 5000);
}

TEST_F(CgroupTest, Version1) {
  Write(
      "/proc/self/cgroup",
      "7:memory:/docker/x\n3:cpu,cpuacct:/docker/x\n2:cpuset:/\n1:name=systemd:/docker/x\n0::/\n");
  Write("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  Write("/sys/fs/cgroup/cpu,cpuacct/docker/x/cpu.cfs_quota_us", "-1\n");
  Write("/sys/fs/cgroup/cpu,cpuacct/docker/x/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(ReadCgroupLimits(root_).memory, 9223372036854771712);
  EXPECT_EQ(ReadCgroupLimits(root_).processors, kAll);
  Write("/sys/fs/cgroup/memory/docker/x/memory.limit_in_bytes", "7000\n");
  Write("/sys/fs/cgroup/cpu,cpuacct/docker/x/cpu.cfs_quota_us", "250000\n");
  EXPECT_EQ(ReadCgroupLimits(root_).memory, 7000);
  EXPECT_EQ(ReadCgroupLimits(root_).processors, 2.5);
}

// What runs take unless they are told otherwise follows from these two.
TEST_F(CgroupTest, TheMachineIsNoLargerThanItsGroups) {
  const int64_t memory = AvailableMemory(root_);
  cpu_set_t allowed;
  ASSERT_EQ(sched_getaffinity(0, sizeof(allowed), &allowed), 0);
  EXPECT_EQ(AvailableProcessors(root_), CPU_COUNT(&allowed));
  Write("/proc/self/cgroup", "0::/a\n");
  Write("/sys/fs/cgroup/a/memory.max", "1000000\n");
  EXPECT_EQ(AvailableMemory(root_), 1000000);
  Write("/sys/fs/cgroup/a/memory.max", std::to_string(memory + 1) + "\n");
  EXPECT_EQ(AvailableMemory(root_), memory);
  // A part of a processor is one; more than there are are not more.
  Write("/sys/fs/cgroup/a/cpu.max", "20000 100000\n");
  EXPECT_EQ(AvailableProcessors(root_), 1);
  Write("/sys/fs/cgroup/a/cpu.max", "100000000 100000\n");
  EXPECT_EQ(AvailableProcessors(root_), CPU_COUNT(&allowed));
  if (CPU_COUNT(&allowed) < 3) return;
  Write("/sys/fs/cgroup/a/cpu.max", "150000 100000\n");
  EXPECT_EQ(AvailableProcessors(root_), 2);
}

}  // namespace
}  // namespace hopper
