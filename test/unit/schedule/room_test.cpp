#include "schedule/room.h"

#include <gtest/gtest.h>

namespace hopper {
namespace {

TEST(ModelRoom, CountsWhoIsInAndAsManyTasksAsRunAtATime) {
  ModelRoom room(100, 2);
  EXPECT_TRUE(room.HasFor(1000, 1000));  // alone
  room.Enter(20, 10);
  EXPECT_TRUE(room.HasFor(50, 20));
  EXPECT_FALSE(room.HasFor(51, 20));
  room.Enter(20, 20);
  EXPECT_TRUE(room.HasFor(30, 5));  // a third task runs at no time
  EXPECT_FALSE(room.HasFor(30, 30));
  EXPECT_EQ(room.lasting(), 40);
  EXPECT_EQ(room.most(), 70);
  room.Leave(20, 10);
  EXPECT_FALSE(room.HasFor(1000, 0));
  room.Leave(20, 20);
  EXPECT_TRUE(room.HasFor(1000, 0));
  EXPECT_EQ(room.lasting(), 0);
  EXPECT_EQ(room.most(), 70);
}

TEST(RunningTasks, WaitForOneAnotherWhereMemoryIsShort) {
  RunningTasks tasks;
  EXPECT_GT(tasks.RoomOf(-5), 1000);  // the only one
  tasks.Begin(60);
  EXPECT_EQ(tasks.RoomOf(100), 40);
  tasks.Begin(30);
  EXPECT_EQ(tasks.RoomOf(100), 10);
  EXPECT_EQ(tasks.bytes(), 90);
  tasks.End(60);
  EXPECT_EQ(tasks.RoomOf(100), 70);
  tasks.End(30);
  EXPECT_GT(tasks.RoomOf(0), 1000);
}

}  // namespace
}  // namespace hopper
