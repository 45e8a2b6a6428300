#include "base/team.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <atomic>
#include <chrono>
#include <new>
#include <random>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "base/cancel.h"
#include "support/repetitions.h"

namespace hopper {
namespace {

TEST(Team, EveryPartRunsOnceOnAThreadOfItsOwn) {
  Team team(3, [] {});
  ASSERT_EQ(team.size(), 3);
  for (int round = 0; round < 2000; ++round) {
    std::vector<int> calls(3, 0);
    std::vector<std::thread::id> threads(3);
    team.Run([&](int part) {
      ++calls[static_cast<size_t>(part)];
      threads[static_cast<size_t>(part)] = std::this_thread::get_id();
    });
    ASSERT_EQ(calls, std::vector<int>({1, 1, 1}));
    ASSERT_EQ(threads[0], std::this_thread::get_id());
    ASSERT_EQ(std::set<std::thread::id>(threads.begin(), threads.end()).size(), 3U);
  }
}

TEST(Team, ItsThreadsTakeNoSignals) {
  std::atomic<int> blocked{0};
  Team team(2, [] {});
  team.Run([&](int part) {
    if (part == 0) return;
    sigset_t mask;
    pthread_sigmask(SIG_SETMASK, nullptr, &mask);
    for (const int signal : {SIGVTALRM, SIGALRM, SIGUSR1, SIGTERM, SIGINT}) {
      blocked += sigismember(&mask, signal);
    }
  });
  EXPECT_EQ(blocked.load(), 5);
}

// A cancel is heard by the owner alone; the other part looks until then.
TEST(Team, WhatOnePartThrowsEndsTheOthersWhereTheyLook) {
  Team team(2, [] {});
  std::atomic<bool> looks{false};
  std::atomic<bool> ended{false};
  EXPECT_THROW(team.Run([&](int part) {
    if (part == 0) {
      while (!looks.load()) std::this_thread::yield();
      throw std::runtime_error("of the owner");
    }
    looks = true;
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    try {
      while (std::chrono::steady_clock::now() < end) LookAtCancel();
    } catch (const Cancelled&) {
      ended = true;
      throw;
    }
  }),
               std::runtime_error);
  EXPECT_TRUE(ended.load());
  // The next call is not ended by what the last one threw.
  team.Run([](int) { LookAtCancel(); });
}

TEST(Team, EndsWhileItSleepsAndWithoutAnyWork) {
  const Team idle(4, [] {});
  Team team(2, [] {});
  std::atomic<int> calls{0};
  team.Run([&](int) { ++calls; });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));  // past the spinning
  team.Run([&](int) { ++calls; });
  EXPECT_EQ(calls.load(), 4);
}

// What the caller of a call is thrown.
template <typename Body>
std::string ThrownBy(Team* team, const Body& body) {
  try {
    team->Run(body);
  } catch (const std::runtime_error& e) {
    return e.what();
  } catch (const std::bad_alloc&) {
    return "no memory";
  }
  return "";
}

TEST(Team, AnExceptionOfAnyPartReachesTheCaller) {
  Team team(3, [] {});
  for (int round = 0; round < 3; ++round) {
    for (int failing = 0; failing < 3; ++failing) {
      EXPECT_EQ(ThrownBy(&team,
                         [&](int part) {
                           if (part == failing) throw std::runtime_error("part failed");
                         }),
                "part failed");
      EXPECT_EQ(ThrownBy(&team,
                         [&](int part) {
                           if (part == failing) throw std::bad_alloc();
                         }),
                "no memory");
    }
    std::atomic<int> calls{0};
    EXPECT_EQ(ThrownBy(&team, [&](int) { ++calls; }), "");
    EXPECT_EQ(calls.load(), 3);
  }
}

TEST(Team, TheFirstExceptionIsTheCallers) {
  Team team(3, [] {});
  for (int first = 0; first < 3; ++first) {
    std::atomic<int> inside{0};
    std::atomic<bool> thrown{false};
    const std::string error = ThrownBy(&team, [&](int part) {
      ++inside;
      while (inside.load() < 3) std::this_thread::yield();
      if (part != first) {
        while (!thrown.load()) std::this_thread::yield();
        // The first one's has left it when nobody has anything else to do.
        std::this_thread::sleep_for(std::chrono::milliseconds(500));
      }
      thrown.store(true);
      throw std::runtime_error("part " + std::to_string(part));
    });
    EXPECT_EQ(error, "part " + std::to_string(first));
  }
}

TEST(Team, NobodyIsAtWorkWhenTheCallerHasTheException) {
  Team team(3, [] {});
  std::atomic<int> inside{0};
  std::atomic<int> begun{0};
  EXPECT_EQ(ThrownBy(&team,
                     [&](int part) {
                       ++begun;
                       while (begun.load() < 3) std::this_thread::yield();
                       if (part == 0) throw std::runtime_error("the owner's");
                       ++inside;
                       std::this_thread::sleep_for(std::chrono::milliseconds(20));
                       --inside;
                     }),
            "the owner's");
  EXPECT_EQ(inside.load(), 0);
}

TEST(Team, ManyCallsThatThrowInAnyParts) {
  Team team(4, [] {});
  std::mt19937_64 random(1);
  for (int64_t round = 0; round < Repetitions(5000); ++round) {
    const uint64_t failing = random() % 16;
    std::vector<int> calls(4, 0);
    const std::string error = ThrownBy(&team, [&](int part) {
      ++calls[static_cast<size_t>(part)];
      if ((failing >> part & 1) != 0) throw std::runtime_error(std::to_string(part));
    });
    if (failing == 0) {
      ASSERT_EQ(error, "");
      ASSERT_EQ(calls, std::vector<int>({1, 1, 1, 1}));
      continue;
    }
    ASSERT_NE(error, "");
    const auto part = static_cast<size_t>(std::stoi(error));
    ASSERT_NE(failing >> part & 1, 0U);
    ASSERT_EQ(calls[part], 1);
  }
}

TEST(Team, AThreadThatCouldNotPrepareSaysSoInEachCall) {
  Team team(2, [] { throw std::runtime_error("not prepared"); });
  for (int round = 0; round < 3; ++round) {
    EXPECT_EQ(ThrownBy(&team, [](int) {}), "not prepared");
  }
}

TEST(Team, AScopeMakesItTheThreadsOwn) {
  EXPECT_EQ(Team::Current(), nullptr);
  {
    const TeamScope scope(2, [] {});
    ASSERT_NE(Team::Current(), nullptr);
    EXPECT_EQ(Team::Current()->size(), 2);
    std::thread([] { EXPECT_EQ(Team::Current(), nullptr); }).join();
  }
  EXPECT_EQ(Team::Current(), nullptr);
  const TeamScope alone(1, [] {});
  EXPECT_EQ(Team::Current(), nullptr);
}

TEST(RunShares, CoverTheWholeAndAreNeverEmpty) {
  Team team(4, [] {});
  for (int64_t n = 1; n < 20; ++n) {
    std::vector<std::atomic<int>> seen(static_cast<size_t>(n));
    const int parts = RunShares(&team, n, 1e9, [&](int64_t first, int64_t last, int part) {
      EXPECT_LT(first, last);
      EXPECT_LT(part, 4);
      for (int64_t i = first; i < last; ++i) ++seen[static_cast<size_t>(i)];
    });
    EXPECT_EQ(parts, n < 4 ? n : 4);
    for (const auto& count : seen) EXPECT_EQ(count.load(), 1);
  }
}

TEST(RunShares, LittleWorkIsDoneAtOnce) {
  Team team(4, [] {});
  int calls = 0;
  EXPECT_EQ(RunShares(&team, 100, 10.0,
                      [&](int64_t first, int64_t last, int part) {
                        ++calls;
                        EXPECT_EQ(first, 0);
                        EXPECT_EQ(last, 100);
                        EXPECT_EQ(part, 0);
                      }),
            1);
  EXPECT_EQ(calls, 1);
}

}  // namespace
}  // namespace hopper
