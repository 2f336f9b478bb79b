// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// Ranks as threads of one process, and several ranks driven by one thread in groups: every type and operation, sizes around every border,
// in place and not.
#include <gtest/gtest.h>
#include <nccl.h>

#include <array>
#include <barrier>
#include <cstring>
#include <functional>
#include <thread>
#include <vector>

namespace hawser::tests {
namespace {

/// Runs body(rank, comm) on one thread per rank.
void run_ranks(int ranks, const std::function<void(int, ncclComm_t)>& body) {
  ncclUniqueId id;
  ASSERT_EQ(ncclGetUniqueId(&id), ncclSuccess) << ncclGetLastError(nullptr);
  std::vector<std::jthread> threads;
  for (int rank = 0; rank < ranks; ++rank) {
    threads.emplace_back([&, rank] {
      ncclComm_t comm = nullptr;
      ASSERT_EQ(ncclCommInitRank(&comm, ranks, id, rank), ncclSuccess) << ncclGetLastError(nullptr);
      body(rank, comm);
      EXPECT_EQ(ncclCommDestroy(comm), ncclSuccess);
    });
  }
}

/// Input of a rank: small integers, so that every sum is exact whatever its order.
float value_at(int rank, std::size_t i) {
  return static_cast<float>((i * 7 + static_cast<std::size_t>(rank) * 3) % 61);
}

float sum_at(int ranks, std::size_t i) {
  float sum = 0;
  for (int rank = 0; rank < ranks; ++rank) sum += value_at(rank, i);
  return sum;
}

void reduce_and_check(int rank, int ranks, ncclComm_t comm, std::size_t count, bool is_in_place) {
  constexpr float kCanary = -777;
  std::vector<float> in(count + 1, kCanary);
  std::vector<float> out(count + 1, kCanary);
  for (std::size_t i = 0; i < count; ++i) in[i] = value_at(rank, i);
  float* const result = is_in_place ? in.data() : out.data();
  ASSERT_EQ(ncclAllReduce(in.data(), result, count, ncclFloat32, ncclSum, comm, nullptr), ncclSuccess)
      << ncclGetLastError(comm);
  for (std::size_t i = 0; i < count; ++i) {
    ASSERT_EQ(result[i], sum_at(ranks, i)) << "rank " << rank << " element " << i << " of " << count;
    if (!is_in_place) {
      ASSERT_EQ(in[i], value_at(rank, i)) << "the input changed";
    }
  }
  EXPECT_EQ(result[count], kCanary);
}

TEST(Threads, AllSizesInPlaceAndNot) {
  constexpr std::array<std::size_t, 14> kCounts = {0, 1, 2, 9, 10, 11, 12, 17, 255, 1024, 4099, 30011, 70001, 300007};
  for (const int ranks : {1, 2, 3, 5, 8}) {
    run_ranks(ranks, [&](int rank, ncclComm_t comm) {
      for (const std::size_t count : kCounts) {
        reduce_and_check(rank, ranks, comm, count, false);
        reduce_and_check(rank, ranks, comm, count, true);
      }
      reduce_and_check(rank, ranks, comm, 1001, rank % 2 == 0);  // in place on some ranks only
    });
  }
}

TEST(Threads, RepeatedCallsReuseEverySlot) {
  run_ranks(3, [](int rank, ncclComm_t comm) {
    for (int call = 0; call < 300; ++call) {
      const auto count = static_cast<std::size_t>(call % 7 == 0 ? 5000 : 1 + call % 12);
      reduce_and_check(rank, 3, comm, count, call % 2 == 0);
    }
  });
}

/// 1, 2, 3 and 6 in every type.
struct Numbers {
  ncclDataType_t type;
  std::size_t bytes;
  std::array<std::uint64_t, 4> bits;
};

template <class T>
std::uint64_t bits_of(T value) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof(value));
  return bits;
}

std::vector<Numbers> all_types() {
  const auto of = [](ncclDataType_t type, auto one) {
    using T = decltype(one);
    return Numbers{type, sizeof(T), {bits_of(T(1)), bits_of(T(2)), bits_of(T(3)), bits_of(T(6))}};
  };
  return {of(ncclInt8, std::int8_t{}),
          of(ncclUint8, std::uint8_t{}),
          of(ncclInt32, std::int32_t{}),
          of(ncclUint32, std::uint32_t{}),
          of(ncclInt64, std::int64_t{}),
          of(ncclUint64, std::uint64_t{}),
          of(ncclFloat32, float{}),
          of(ncclFloat64, double{}),
          {ncclFloat16, 2, {0x3C00, 0x4000, 0x4200, 0x4600}},
          {ncclBfloat16, 2, {0x3F80, 0x4000, 0x4040, 0x40C0}},
          {ncclFloat8e4m3, 1, {0x38, 0x40, 0x44, 0x4C}},
          {ncclFloat8e5m2, 1, {0x3C, 0x40, 0x42, 0x46}}};
}

void fill(std::vector<std::byte>& buffer, std::size_t bytes, std::uint64_t bits) {
  for (std::size_t i = 0; i + bytes <= buffer.size(); i += bytes) std::memcpy(buffer.data() + i, &bits, bytes);
}

TEST(Threads, EveryTypeAndOperation) {
  // Three ranks hold 1, 2, 3: sum 6, product 6, maximum 3, minimum 1, average 2.
  constexpr std::array<std::pair<ncclRedOp_t, int>, 5> kExpected = {
      {{ncclSum, 3}, {ncclProd, 3}, {ncclMax, 2}, {ncclMin, 0}, {ncclAvg, 1}}};
  run_ranks(3, [&](int rank, ncclComm_t comm) {
    for (const Numbers& numbers : all_types()) {
      for (const auto& [op, expected] : kExpected) {
        for (const std::size_t count : {1U, 37U, 5000U}) {
          std::vector<std::byte> in(count * numbers.bytes);
          std::vector<std::byte> out(in.size());
          std::vector<std::byte> wanted(in.size());
          fill(in, numbers.bytes, numbers.bits.at(static_cast<std::size_t>(rank)));
          fill(wanted, numbers.bytes, numbers.bits.at(static_cast<std::size_t>(expected)));
          ASSERT_EQ(ncclAllReduce(in.data(), out.data(), count, numbers.type, op, comm, nullptr), ncclSuccess)
              << ncclGetLastError(comm);
          EXPECT_EQ(out, wanted) << "type " << numbers.type << " op " << op << " count " << count;
        }
      }
    }
  });
}

TEST(Threads, BuffersOfMemAllocGiveTheSameBits) {
  constexpr std::size_t kCount = 1 << 18;
  run_ranks(3, [](int rank, ncclComm_t comm) {
    void* in = nullptr;
    void* out = nullptr;
    ASSERT_EQ(ncclMemAlloc(&in, kCount * sizeof(float)), ncclSuccess);
    ASSERT_EQ(ncclMemAlloc(&out, kCount * sizeof(float)), ncclSuccess);
    for (int call = 0; call < 4; ++call) {
      for (std::size_t i = 0; i < kCount; ++i)
        static_cast<float*>(in)[i] = value_at(rank, i + static_cast<std::size_t>(call));
      float* const result = static_cast<float*>(call % 2 == 0 ? out : in);
      ASSERT_EQ(ncclAllReduce(in, result, kCount, ncclFloat32, ncclSum, comm, nullptr), ncclSuccess);
      for (std::size_t i = 0; i < kCount; ++i) ASSERT_EQ(result[i], sum_at(3, i + static_cast<std::size_t>(call)));
    }
    EXPECT_EQ(ncclMemFree(in), ncclSuccess);
    EXPECT_EQ(ncclMemFree(out), ncclSuccess);
  });
}

TEST(Groups, OneThreadDrivesSeveralRanks) {
  constexpr int kRanks = 4;
  std::array<ncclComm_t, kRanks> comms{};
  ASSERT_EQ(ncclCommInitAll(comms.data(), kRanks, nullptr), ncclSuccess) << ncclGetLastError(nullptr);
  for (const std::size_t count : {1U, 1000U, 200000U}) {
    std::vector<std::vector<float>> in(kRanks);
    std::vector<std::vector<float>> out(kRanks);
    ASSERT_EQ(ncclGroupStart(), ncclSuccess);
    for (int rank = 0; rank < kRanks; ++rank) {
      const auto index = static_cast<std::size_t>(rank);
      for (std::size_t i = 0; i < count; ++i) in[index].push_back(value_at(rank, i));
      out[index].resize(count);
      ASSERT_EQ(
          ncclAllReduce(in[index].data(), out[index].data(), count, ncclFloat32, ncclSum, comms.at(index), nullptr),
          ncclSuccess);
    }
    ASSERT_EQ(ncclGroupEnd(), ncclSuccess) << ncclGetLastError(nullptr);
    for (const auto& result : out) {
      for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(result[i], sum_at(kRanks, i));
    }
  }
  for (ncclComm_t comm : comms) EXPECT_EQ(ncclCommDestroy(comm), ncclSuccess);
}

TEST(Groups, SeveralCallsOfSeveralThreadsNestedGroups) {
  run_ranks(2, [](int rank, ncclComm_t comm) {
    constexpr std::size_t kCalls = 5;
    std::array<std::vector<float>, kCalls> in;
    std::array<std::vector<float>, kCalls> out;
    ASSERT_EQ(ncclGroupStart(), ncclSuccess);
    for (std::size_t call = 0; call < kCalls; ++call) {
      const std::size_t count = 1 + call * 997;
      in.at(call).resize(count);
      out.at(call).resize(count);
      for (std::size_t i = 0; i < count; ++i) in.at(call)[i] = value_at(rank, i);
      ASSERT_EQ(ncclGroupStart(), ncclSuccess);
      ASSERT_EQ(ncclAllReduce(in.at(call).data(), out.at(call).data(), count, ncclFloat32, ncclSum, comm, nullptr),
                ncclSuccess);
      ASSERT_EQ(ncclGroupEnd(), ncclSuccess);
      EXPECT_EQ(out.at(call)[0], 0.0F) << "an inner end ran the group";
    }
    ASSERT_EQ(ncclGroupEnd(), ncclSuccess);
    for (const auto& result : out) {
      for (std::size_t i = 0; i < result.size(); ++i) ASSERT_EQ(result[i], sum_at(2, i));
    }
  });
}

TEST(Groups, TwoCommunicatorsInOppositeOrderDoNotDeadlock) {
  ncclUniqueId ids[2];
  ASSERT_EQ(ncclGetUniqueId(&ids[0]), ncclSuccess);
  ASSERT_EQ(ncclGetUniqueId(&ids[1]), ncclSuccess);
  std::vector<std::jthread> threads;
  for (int rank = 0; rank < 2; ++rank) {
    threads.emplace_back([&, rank] {
      std::array<ncclComm_t, 2> comms{};
      ASSERT_EQ(ncclCommInitRank(&comms[0], 2, ids[0], rank), ncclSuccess);
      ASSERT_EQ(ncclCommInitRank(&comms[1], 2, ids[1], rank), ncclSuccess);
      std::array<float, 2> in = {1, 2};
      std::array<float, 2> out = {};
      ASSERT_EQ(ncclGroupStart(), ncclSuccess);
      for (const std::size_t order : {0U, 1U}) {
        const std::size_t which = rank == 0 ? order : 1 - order;
        ASSERT_EQ(ncclAllReduce(&in.at(which), &out.at(which), 1, ncclFloat32, ncclSum, comms.at(which), nullptr),
                  ncclSuccess);
      }
      ASSERT_EQ(ncclGroupEnd(), ncclSuccess);
      EXPECT_EQ(out[0], 2);
      EXPECT_EQ(out[1], 4);
      for (ncclComm_t comm : comms) EXPECT_EQ(ncclCommDestroy(comm), ncclSuccess);
    });
  }
}

}  // namespace
}  // namespace hawser::tests
