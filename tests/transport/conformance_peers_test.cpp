// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// What ranks know of each other: leaving, giving up, the calls they are in.
#include <gmock/gmock.h>

#include <array>

#include "tests/transport/conformance.h"

namespace hawser::transport::suite {
namespace {

using ::testing::HasSubstr;
constexpr std::array kOne{1};

using Peers = Conformance;
INSTANTIATE_TEST_SUITE_P(All, Peers, ::testing::ValuesIn(subjects()), name_of_subject);

TEST_P(Peers, AllPresentIsNoError) {
  run(4, [](Rank& rank) {
    for (int look = 0; look < 20; ++look) EXPECT_TRUE(rank.transport->check_peers().is_ok());
    rank.barrier();
  });
}

TEST_P(Peers, LeavingInOrderIsNoError) {
  run(3, [](Rank& rank) {
    if (rank.rank == 1) {
      rank.transport->leave(Transport::Leave::kFinished);
      rank.transport.reset();
      rank.barrier();
      return;
    }
    rank.barrier();
    for (int look = 0; look < 20; ++look) {
      const Status status = rank.transport->check_peers();
      EXPECT_TRUE(status.is_ok()) << status.message();
    }
    rank.barrier_of(2);
  });
}

TEST_P(Peers, WhatWasSentBeforeLeavingStillArrives) {
  run(2, [](Rank& rank) {
    const StreamSpec spec{0, kOne, 0, 1000, 4};
    if (rank.rank == 0) {
      {
        const auto port = open_send(rank, spec);
        for (std::uint64_t i = 0; i < 4; ++i) send(rank, *port, i, static_cast<std::uint32_t>(i * 300));
        rank.transport->leave(Transport::Leave::kFinished);
      }
      rank.transport.reset();
      rank.barrier();
    } else {
      rank.barrier();
      const auto port = open_receive(rank, spec);
      EXPECT_TRUE(rank.transport->check_peers().is_ok());
      for (std::uint64_t i = 0; i < 4; ++i) expect_message(rank, *port, i, static_cast<std::uint32_t>(i * 300));
      for (int poll = 0; poll < 100; ++poll) ASSERT_EQ(port->front(), nullptr);
      EXPECT_TRUE(rank.transport->check_peers().is_ok());
    }
  });
}

/// A rank may leave with announcements of its peers still unread, and with its own still unread at them.
TEST_P(Peers, LeavingWithUnreadAnnouncementsIsNoError) {
  run(2, [](Rank& rank) {
    for (int i = 0; i < 400; ++i) {
      const DeviceMemory memory(4096);
      rank.transport->offer(memory.data(), 4096);
    }
    rank.barrier();
    if (rank.rank == 1) {
      rank.transport->leave(Transport::Leave::kFinished);
      rank.transport.reset();
    }
    rank.barrier();
    if (rank.rank == 1) return;
    for (int look = 0; look < 5; ++look) {
      const Status status = rank.transport->check_peers();
      EXPECT_TRUE(status.is_ok()) << status.message();
    }
  });
}

TEST_P(Peers, AbortNamesTheRank) {
  run(3, [](Rank& rank) {
    if (rank.rank == 1) {
      rank.transport->leave(Transport::Leave::kAborted);
      rank.barrier();
      rank.barrier();
      return;
    }
    rank.barrier();
    const Status status = rank.transport->check_peers();
    EXPECT_EQ(status.code(), Code::kRemoteError);
    EXPECT_THAT(status.message(), HasSubstr("rank 1"));
    EXPECT_THAT(status.message(), HasSubstr("aborted"));
    EXPECT_EQ(rank.transport->check_peers().code(), Code::kRemoteError) << "the error stays";
    rank.barrier();
  });
}

TEST_P(Peers, EndingWithoutAWordIsDeath) {
  run(3, [](Rank& rank) {
    if (rank.rank == 2) rank.transport.reset();
    rank.barrier();
    if (rank.rank == 2) return;
    const Status status = rank.transport->check_peers();
    EXPECT_EQ(status.code(), Code::kRemoteError);
    EXPECT_THAT(status.message(), HasSubstr("rank 2"));
    EXPECT_THAT(status.message(), HasSubstr("died"));
    rank.barrier_of(2);
  });
}

/// A survivor that gives up because of a death does not hide it.
TEST_P(Peers, ADeathIsNamedBeforeTheAbortsItCauses) {
  run(4, [](Rank& rank) {
    if (rank.rank == 3) rank.transport.reset();
    rank.barrier();
    if (rank.rank == 3) return;
    if (rank.rank == 0) {
      EXPECT_FALSE(rank.transport->check_peers().is_ok());
      rank.transport->leave(Transport::Leave::kAborted);
    }
    rank.barrier_of(3);
    if (rank.rank != 0) {
      EXPECT_THAT(rank.transport->check_peers().message(), HasSubstr("rank 3"));
    }
    rank.barrier_of(3);
  });
}

TEST_P(Peers, CallsAreSeenByAll) {
  run(3, [](Rank& rank) {
    for (int peer = 0; peer < rank.ranks; ++peer) {
      if (peer != rank.rank) {
        EXPECT_EQ(rank.transport->call_of(peer).number, 0U);
      }
    }
    rank.barrier();
    const auto own = static_cast<std::uint64_t>(rank.rank);
    rank.transport->record_call({7 + own, static_cast<std::uint8_t>(3 + own), 11, 2, -1 - rank.rank, ~own});
    rank.barrier();
    for (int peer = 0; peer < rank.ranks; ++peer) {
      if (peer == rank.rank) continue;
      const auto number = static_cast<std::uint64_t>(peer);
      const CallRecord call = rank.transport->call_of(peer);
      EXPECT_EQ(call.number, 7 + number);
      EXPECT_EQ(call.collective, 3 + number);
      EXPECT_EQ(call.type, 11);
      EXPECT_EQ(call.op, 2);
      EXPECT_EQ(call.root, -1 - peer);
      EXPECT_EQ(call.count, ~number);
    }
    rank.barrier();
  });
}

}  // namespace
}  // namespace hawser::transport::suite
