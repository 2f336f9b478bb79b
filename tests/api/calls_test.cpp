// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// The calls of the C API as a program of libnccl.so.2 makes them: arguments, texts, and that one rank and two work.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nccl.h>

#include <array>
#include <climits>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

namespace {

using testing::HasSubstr;
using testing::StartsWith;

std::string last_error() { return ncclGetLastError(nullptr); }

/// A communicator of one rank.
class OneRank : public testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(ncclCommInitAll(&comm_, 1, nullptr), ncclSuccess) << last_error(); }
  void TearDown() override { EXPECT_EQ(ncclCommDestroy(comm_), ncclSuccess); }

  ncclComm_t comm_ = nullptr;
  std::array<float, 4> send_ = {1, 2, 3, 4};
  std::array<float, 4> receive_ = {};
};

TEST(Version, IsNcclsOfTheHeader) {
  int version = 0;
  EXPECT_EQ(ncclGetVersion(&version), ncclSuccess);
  EXPECT_EQ(version, 23203);
  EXPECT_EQ(ncclGetVersion(nullptr), ncclInvalidArgument);
}

TEST(ErrorString, IsNcclsToTheLetter) {
  const std::array<const char*, 10> texts = {
      "no error",
      "unhandled cuda error (run with NCCL_DEBUG=INFO for details)",
      "unhandled system error (run with NCCL_DEBUG=INFO for details)",
      "internal error - please report this issue to the NCCL developers",
      "invalid argument (run with NCCL_DEBUG=WARN for details)",
      "invalid usage (run with NCCL_DEBUG=WARN for details)",
      "remote process exited or there was a network error",
      "NCCL operation in progress",
      "timeout",
      "unknown result code",
  };
  for (std::size_t i = 0; i < texts.size(); ++i)
    EXPECT_STREQ(ncclGetErrorString(static_cast<ncclResult_t>(i)), texts[i]);
}

// Each call whose communicator is NULL, with the words that NCCL uses.
TEST(NullCommunicator, IsNamed) {
  int number = 0;
  ncclResult_t error = ncclSuccess;
  EXPECT_EQ(ncclCommCount(nullptr, &number), ncclInvalidArgument);
  EXPECT_EQ(last_error(), "CommCount : comm argument is NULL");
  EXPECT_EQ(ncclCommUserRank(nullptr, &number), ncclInvalidArgument);
  EXPECT_EQ(last_error(), "CommUserRank : comm argument is NULL");
  EXPECT_EQ(ncclCommCuDevice(nullptr, &number), ncclInvalidArgument);
  EXPECT_EQ(last_error(), "CommCuDevice : comm argument is NULL");
  EXPECT_EQ(ncclCommGetAsyncError(nullptr, &error), ncclInvalidArgument);
  EXPECT_EQ(last_error(), "ncclGetAsyncError : comm argument is NULL");
  EXPECT_EQ(ncclAllReduce(nullptr, nullptr, 0, ncclFloat, ncclSum, nullptr, nullptr), ncclInvalidArgument);
  EXPECT_EQ(last_error(), "AllReduce : comm argument is NULL");
}

TEST(NullCommunicator, MayBeEnded) {
  EXPECT_EQ(ncclCommFinalize(nullptr), ncclSuccess);
  EXPECT_EQ(ncclCommDestroy(nullptr), ncclSuccess);
  EXPECT_EQ(ncclCommAbort(nullptr), ncclSuccess);
}

TEST(GarbageCommunicator, IsToldFromALiveOne) {
  alignas(64) static std::array<std::uint64_t, 8192> zeros{};
  const std::array<std::uintptr_t, 4> addresses = {8, 0x1001, reinterpret_cast<std::uintptr_t>(zeros.data()),
                                                   0xdeadbeefdeadbee8};
  for (const std::uintptr_t address : addresses) {
    auto* comm = reinterpret_cast<ncclComm_t>(address);
    int number = 0;
    EXPECT_EQ(ncclCommCount(comm, &number), ncclInvalidArgument);
    EXPECT_THAT(last_error(), StartsWith("CommCount : comm argument is not a live communicator"));
    EXPECT_EQ(ncclCommDestroy(comm), ncclInvalidArgument);
    EXPECT_EQ(ncclCommAbort(comm), ncclInvalidArgument);
    EXPECT_EQ(ncclCommFinalize(comm), ncclInvalidArgument);
  }
}

TEST(UniqueId, NeedsAPlace) {
  EXPECT_EQ(ncclGetUniqueId(nullptr), ncclInvalidArgument);
  EXPECT_EQ(last_error(), "GetUniqueId : out argument is NULL");
}

TEST(InitRank, ChecksBeforeItWaits) {
  ncclComm_t comm = nullptr;
  const ncclUniqueId id{};
  EXPECT_EQ(ncclCommInitRank(nullptr, 1, id, 0), ncclInvalidArgument);
  EXPECT_EQ(last_error(), "CommInitRank : comm argument is NULL");
  EXPECT_EQ(ncclCommInitRank(&comm, 0, id, 0), ncclInvalidArgument);
  EXPECT_THAT(last_error(), HasSubstr("nranks 0"));
  for (const int rank : {-1, 2, INT_MAX}) {
    EXPECT_EQ(ncclCommInitRank(&comm, 2, id, rank), ncclInvalidArgument);
    EXPECT_THAT(last_error(), StartsWith("CommInitRank : invalid rank " + std::to_string(rank)));
  }
  EXPECT_EQ(comm, nullptr);
}

TEST(InitRank, AnIdThatIsNoneIsRefused) {
  int place = 0;
  auto* comm = reinterpret_cast<ncclComm_t>(&place);
  EXPECT_NE(ncclCommInitRank(&comm, 2, ncclUniqueId{}, 1), ncclSuccess);
  EXPECT_EQ(comm, nullptr);
}

TEST(InitRankConfig, ChecksTheConfig) {
  ncclComm_t comm = nullptr;
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.magic = 1;
  EXPECT_EQ(ncclCommInitRankConfig(&comm, 2, ncclUniqueId{}, 1, &config), ncclInvalidArgument);
  EXPECT_THAT(last_error(), HasSubstr("ncclConfig_t argument not initialized via NCCL_CONFIG_INITIALIZER"));
  config = NCCL_CONFIG_INITIALIZER;
  config.blocking = 2;
  EXPECT_EQ(ncclCommInitRankConfig(&comm, 2, ncclUniqueId{}, 1, &config), ncclInvalidArgument);
  EXPECT_THAT(last_error(), StartsWith("CommInitRankConfig : invalid config member blocking 2"));
}

TEST(InitRankConfig, OneRankJoinsByItself) {
  ncclUniqueId id;
  ASSERT_EQ(ncclGetUniqueId(&id), ncclSuccess) << last_error();
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = 1;
  ncclComm_t comm = nullptr;
  ASSERT_EQ(ncclCommInitRankConfig(&comm, 1, id, 0, &config), ncclSuccess) << last_error();
  EXPECT_EQ(ncclCommFinalize(comm), ncclSuccess) << last_error();
  EXPECT_EQ(ncclCommDestroy(comm), ncclSuccess) << last_error();
}

TEST(InitAll, ChecksItsArguments) {
  ncclComm_t comms[2] = {nullptr, nullptr};
  EXPECT_EQ(ncclCommInitAll(nullptr, 1, nullptr), ncclInvalidArgument);
  EXPECT_EQ(ncclCommInitAll(comms, 0, nullptr), ncclInvalidArgument);
  EXPECT_EQ(ncclCommInitAll(comms, -1, nullptr), ncclInvalidArgument);
  const std::array<int, 2> negative = {0, -1};
  EXPECT_EQ(ncclCommInitAll(comms, 2, negative.data()), ncclInvalidArgument);
  EXPECT_THAT(last_error(), HasSubstr("device -1 for rank 1"));
  const std::array<int, 2> twice = {3, 3};
  EXPECT_EQ(ncclCommInitAll(comms, 2, twice.data()), ncclInvalidUsage);
  EXPECT_THAT(last_error(), HasSubstr("device 3"));
}

TEST(InitAll, GivesEachRankItsDevice) {
  std::array<ncclComm_t, 2> comms = {};
  const std::array<int, 2> devices = {5, 2};
  ASSERT_EQ(ncclCommInitAll(comms.data(), 2, devices.data()), ncclSuccess) << last_error();
  for (int rank = 0; rank < 2; ++rank) {
    int count = 0;
    int user_rank = -1;
    int device = -1;
    EXPECT_EQ(ncclCommCount(comms[rank], &count), ncclSuccess);
    EXPECT_EQ(ncclCommUserRank(comms[rank], &user_rank), ncclSuccess);
    EXPECT_EQ(ncclCommCuDevice(comms[rank], &device), ncclSuccess);
    EXPECT_EQ(count, 2);
    EXPECT_EQ(user_rank, rank);
    EXPECT_EQ(device, devices[rank]);
  }
  for (ncclComm_t comm : comms) EXPECT_EQ(ncclCommAbort(comm), ncclSuccess);
}

TEST_F(OneRank, QuestionsNeedAPlaceForTheAnswer) {
  EXPECT_EQ(ncclCommCount(comm_, nullptr), ncclInvalidArgument);
  EXPECT_EQ(last_error(), "CommCount : count argument is NULL");
  EXPECT_EQ(ncclCommUserRank(comm_, nullptr), ncclInvalidArgument);
  EXPECT_EQ(ncclCommCuDevice(comm_, nullptr), ncclInvalidArgument);
  EXPECT_EQ(ncclCommGetAsyncError(comm_, nullptr), ncclInvalidArgument);
}

TEST_F(OneRank, HasNoAsyncError) {
  ncclResult_t error = ncclInternalError;
  EXPECT_EQ(ncclCommGetAsyncError(comm_, &error), ncclSuccess);
  EXPECT_EQ(error, ncclSuccess);
}

TEST_F(OneRank, AllReduceOfOneRankIsACopy) {
  ASSERT_EQ(ncclAllReduce(send_.data(), receive_.data(), send_.size(), ncclFloat, ncclSum, comm_, nullptr), ncclSuccess)
      << last_error();
  EXPECT_EQ(receive_, send_);
}

TEST_F(OneRank, AllReduceChecksTypeAndOperation) {
  for (const int type : {-1, 12, INT_MAX}) {
    EXPECT_EQ(
        ncclAllReduce(send_.data(), receive_.data(), 4, static_cast<ncclDataType_t>(type), ncclSum, comm_, nullptr),
        ncclInvalidArgument);
    EXPECT_THAT(last_error(), StartsWith("AllReduce : invalid type " + std::to_string(type)));
  }
  for (const int op : {-1, 5, INT_MAX}) {
    EXPECT_EQ(ncclAllReduce(send_.data(), receive_.data(), 4, ncclFloat, static_cast<ncclRedOp_t>(op), comm_, nullptr),
              ncclInvalidArgument);
    EXPECT_THAT(last_error(), StartsWith("AllReduce : invalid reduction operation " + std::to_string(op)));
  }
}

TEST_F(OneRank, AllReduceChecksBuffersAndCount) {
  EXPECT_EQ(ncclAllReduce(nullptr, receive_.data(), 4, ncclFloat, ncclSum, comm_, nullptr), ncclInvalidArgument);
  EXPECT_EQ(last_error(), "AllReduce : sendbuff argument is NULL");
  EXPECT_EQ(ncclAllReduce(send_.data(), nullptr, 4, ncclFloat, ncclSum, comm_, nullptr), ncclInvalidArgument);
  EXPECT_EQ(last_error(), "AllReduce : recvbuff argument is NULL");
  EXPECT_EQ(ncclAllReduce(nullptr, nullptr, 0, ncclFloat, ncclSum, comm_, nullptr), ncclSuccess) << last_error();
  for (const std::size_t count : {SIZE_MAX, SIZE_MAX / 4 + 2, std::size_t{1} << 61}) {
    EXPECT_EQ(ncclAllReduce(send_.data(), receive_.data(), count, ncclFloat, ncclSum, comm_, nullptr),
              ncclInvalidArgument);
    EXPECT_THAT(last_error(), StartsWith("AllReduce : count " + std::to_string(count) + " is too large"));
  }
}

TEST_F(OneRank, AStreamOfAGpuIsRefused) {
  int place = 0;
  auto* stream = reinterpret_cast<cudaStream_t>(&place);
  EXPECT_EQ(ncclAllReduce(send_.data(), receive_.data(), 4, ncclFloat, ncclSum, comm_, stream), ncclInvalidArgument);
  EXPECT_THAT(last_error(), HasSubstr("device runtime"));
  EXPECT_EQ(receive_[0], 0);
}

TEST(Destroyed, IsTold) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the check looks at memory that was freed, as NCCL's does, and sanitizers stop it";
#endif
  ncclComm_t comm = nullptr;
  ASSERT_EQ(ncclCommInitAll(&comm, 1, nullptr), ncclSuccess) << last_error();
  ASSERT_EQ(ncclCommDestroy(comm), ncclSuccess);
  EXPECT_EQ(ncclCommDestroy(comm), ncclInvalidArgument);
  EXPECT_THAT(last_error(), StartsWith("CommDestroy : comm argument is not a live communicator"));
}

TEST(Group, EndNeedsAStart) {
  EXPECT_EQ(ncclGroupEnd(), ncclInvalidUsage);
  EXPECT_EQ(last_error(), "ncclGroupEnd: not in a group call.");
  EXPECT_EQ(ncclGroupStart(), ncclSuccess);
  EXPECT_EQ(ncclGroupStart(), ncclSuccess);
  EXPECT_EQ(ncclGroupEnd(), ncclSuccess);
  EXPECT_EQ(ncclGroupEnd(), ncclSuccess);
  EXPECT_EQ(ncclGroupEnd(), ncclInvalidUsage);
}

TEST(Group, OneThreadJoinsAndReducesForTwoRanks) {
  ncclUniqueId id;
  ASSERT_EQ(ncclGetUniqueId(&id), ncclSuccess) << last_error();
  std::array<ncclComm_t, 2> comms = {};
  ASSERT_EQ(ncclGroupStart(), ncclSuccess);
  for (int rank = 0; rank < 2; ++rank) ASSERT_EQ(ncclCommInitRank(&comms[rank], 2, id, rank), ncclSuccess);
  ASSERT_EQ(ncclGroupEnd(), ncclSuccess) << last_error();
  std::array<std::array<double, 3>, 2> data = {{{1, 2, 3}, {10, 20, 30}}};
  ASSERT_EQ(ncclGroupStart(), ncclSuccess);
  for (int rank = 0; rank < 2; ++rank)
    ASSERT_EQ(ncclAllReduce(data[rank].data(), data[rank].data(), 3, ncclDouble, ncclSum, comms[rank], nullptr),
              ncclSuccess);
  ASSERT_EQ(ncclGroupEnd(), ncclSuccess) << last_error();
  for (int rank = 0; rank < 2; ++rank) {
    EXPECT_EQ(data[rank], (std::array<double, 3>{11, 22, 33}));
    EXPECT_EQ(ncclCommDestroy(comms[rank]), ncclSuccess);
  }
}

TEST(Memory, IsThereAndZeroed) {
  void* memory = nullptr;
  ASSERT_EQ(ncclMemAlloc(&memory, 10'000), ncclSuccess) << last_error();
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory) % NCCL_WIN_REQUIRED_ALIGNMENT, 0U);
  const auto* bytes = static_cast<const char*>(memory);
  for (int i = 0; i < 10'000; ++i) ASSERT_EQ(bytes[i], 0);
  EXPECT_EQ(ncclMemFree(memory), ncclSuccess);
  EXPECT_EQ(ncclMemFree(memory), ncclInvalidArgument);
}

TEST(Memory, EdgesOfSizeAndPlace) {
  EXPECT_EQ(ncclMemAlloc(nullptr, 8), ncclInvalidArgument);
  EXPECT_EQ(last_error(), "MemAlloc : ptr argument is NULL");
  int place = 0;
  void* memory = &place;
  EXPECT_EQ(ncclMemAlloc(&memory, 0), ncclSuccess);
  EXPECT_EQ(memory, nullptr);
  EXPECT_EQ(ncclMemFree(nullptr), ncclSuccess);
  EXPECT_EQ(ncclMemFree(&place), ncclInvalidArgument);
  EXPECT_EQ(ncclMemAlloc(&memory, SIZE_MAX / 2), ncclSystemError);
}

TEST(Twins, AreTheSameCode) {
  EXPECT_EQ(reinterpret_cast<void*>(&ncclAllReduce), reinterpret_cast<void*>(&pncclAllReduce));
  int version = 0;
  EXPECT_EQ(pncclGetVersion(&version), ncclSuccess);
  EXPECT_EQ(version, NCCL_VERSION_CODE);
}

}  // namespace
