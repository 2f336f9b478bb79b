// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
#include "base/fd.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <array>
#include <utility>

namespace hawser {
namespace {

bool is_open(int fd) { return ::fcntl(fd, F_GETFD) >= 0; }

int open_any() { return ::open("/dev/null", O_RDONLY | O_CLOEXEC); }

TEST(Fd, ClosesExactlyItsOwn) {
  const int number = open_any();
  ASSERT_GE(number, 0);
  {
    Fd outer;
    {
      Fd inner(number);
      outer = std::move(inner);
    }
    EXPECT_TRUE(is_open(number)) << "closed by the moved-from owner";
    EXPECT_EQ(outer.get(), number);
  }
  EXPECT_FALSE(is_open(number));
}

TEST(Fd, ReleaseGivesUpOwnership) {
  const int number = open_any();
  {
    Fd fd(number);
    EXPECT_EQ(fd.release(), number);
    EXPECT_FALSE(fd.is_open());
  }
  EXPECT_TRUE(is_open(number));
  ::close(number);
}

TEST(Mapping, UnmapsExactlyItsOwn) {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  void* address = ::mmap(nullptr, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(address, MAP_FAILED);
  std::array<unsigned char, 1> residency{};
  {
    Mapping first(address, page);
    const Mapping second = std::move(first);
    EXPECT_EQ(second.data(), address);
    EXPECT_EQ(second.bytes(), page);
    EXPECT_EQ(::mincore(address, page, residency.data()), 0);
  }
  EXPECT_NE(::mincore(address, page, residency.data()), 0) << "still mapped";
}

}  // namespace
}  // namespace hawser
