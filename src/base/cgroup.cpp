#include "base/cgroup.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <sstream>
#include <vector>

namespace hopper {

namespace {

// Words of a small file; none where there is no such file.
std::vector<std::string> ReadWords(const std::string& path) {
  std::vector<std::string> words;
  std::FILE* file = std::fopen(path.c_str(), "re");
  if (file == nullptr) return words;
  char buffer[256];
  const size_t n = std::fread(buffer, 1, sizeof(buffer), file);
  (void)std::fclose(file);
  std::istringstream text(std::string(buffer, n));
  for (std::string word; text >> word;) words.push_back(word);
  return words;
}

// Nothing for "max", and for what is no number.
std::optional<int64_t> Number(const std::string& word) {
  char* end = nullptr;
  errno = 0;
  const long long value = std::strtoll(word.c_str(), &end, 10);
  if (errno != 0 || end == word.c_str() || *end != '\0') return std::nullopt;
  return value;
}

std::optional<int64_t> ReadNumber(const std::string& path) {
  const std::vector<std::string> words = ReadWords(path);
  return words.empty() ? std::nullopt : Number(words[0]);
}

void LimitMemory(const std::optional<int64_t>& bytes, CgroupLimits* limits) {
  if (bytes.has_value() && *bytes > 0) limits->memory = std::min(limits->memory, *bytes);
}

void LimitProcessors(const std::optional<int64_t>& quota, const std::optional<int64_t>& period,
                     CgroupLimits* limits) {
  if (!quota.has_value() || !period.has_value() || *quota <= 0 || *period <= 0) return;
  limits->processors =
      std::min(limits->processors, static_cast<double>(*quota) / static_cast<double>(*period));
}

void ReadVersion2(const std::string& folder, CgroupLimits* limits) {
  LimitMemory(ReadNumber(folder + "/memory.max"), limits);
  LimitMemory(ReadNumber(folder + "/memory.high"), limits);
  const std::vector<std::string> cpu = ReadWords(folder + "/cpu.max");
  if (cpu.size() == 2) LimitProcessors(Number(cpu[0]), Number(cpu[1]), limits);
}

void ReadVersion1(const std::string& folder, CgroupLimits* limits) {
  LimitMemory(ReadNumber(folder + "/memory.limit_in_bytes"), limits);
  LimitProcessors(ReadNumber(folder + "/cpu.cfs_quota_us"),
                  ReadNumber(folder + "/cpu.cfs_period_us"), limits);
}

// Calls read(folder) for the group and for those above it.
template <typename Read>
void WalkUp(const std::string& mount, std::string group, const Read& read) {
  for (;;) {
    while (!group.empty() && group.back() == '/') group.pop_back();
    read(mount + group);
    if (group.empty()) return;
    const size_t slash = group.rfind('/');
    group.erase(slash == std::string::npos ? 0 : slash);
  }
}

std::vector<std::string> Split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);) parts.push_back(part);
  return parts;
}

}  // namespace

CgroupLimits ReadCgroupLimits(const std::string& root) {
  CgroupLimits limits;
  const std::string mounts = root + "/sys/fs/cgroup/";
  std::FILE* file = std::fopen((root + "/proc/self/cgroup").c_str(), "re");
  std::string text;
  if (file != nullptr) {
    char buffer[4096];
    for (size_t n = 0; (n = std::fread(buffer, 1, sizeof(buffer), file)) > 0;) {
      text.append(buffer, n);
    }
    (void)std::fclose(file);
  }
  for (const std::string& line : Split(text, '\n')) {
    // number:controllers:group; a group's name may hold colons
    const size_t first = line.find(':');
    const size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const std::string group = line.substr(second + 1);
    if (controllers.empty()) {
      for (const char* mount : {"", "unified"}) {
        WalkUp(mounts + mount, group,
               [&limits](const std::string& folder) { ReadVersion2(folder, &limits); });
      }
      continue;
    }
    std::vector<std::string> names = Split(controllers, ',');
    names.push_back(controllers);  // cpu,cpuacct lie together
    for (const std::string& name : names) {
      WalkUp(mounts + name, group,
             [&limits](const std::string& folder) { ReadVersion1(folder, &limits); });
    }
  }
  return limits;
}

}  // namespace hopper
