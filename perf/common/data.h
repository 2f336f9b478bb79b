// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// What ranks send and what must come out, to the bit.
//
// The values of a rank repeat with a prime period, so that filling and checking run at the speed of memcpy and memcmp,
// while no chunk that a power of two or of ten cuts can be taken for another. They are chosen such that every order of
// combining gives the same exact result: small integers whose partial sums fit the mantissa, powers of two whose
// products stay in range, any bits for integers (arithmetic modulo 2^n). Only the average of floating-point numbers
// over a number of ranks that is no power of two has to be rounded, and is compared with a bound.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "perf/common/types.h"

namespace hawser::perf {

/// Elements after which a rank's values repeat. Prime.
inline constexpr std::size_t kPeriod = 65521;

/// The values of one (type, reduction, number of ranks). A value type.
class Data {
 public:
  Data(ncclDataType_t type, Op op, int ranks);

  /// Bits of the element type: element `index` of what `rank` sends, and of the reduction over all ranks.
  [[nodiscard]] std::uint64_t input_bits(int rank, std::size_t index) const;
  [[nodiscard]] std::uint64_t reduced_bits(std::size_t index) const;

  /// One period of what `rank` sends, as bytes in the element type.
  [[nodiscard]] std::vector<std::byte> input(int rank) const;
  /// One period of the reduction over all ranks.
  [[nodiscard]] std::vector<std::byte> reduced() const;
  /// The scalar that multiplies the input of `rank` for Op::kMulSum: 1 or 2.
  [[nodiscard]] static int scalar(int rank) { return 1 + rank % 2; }

  /// Elements of `got` that are wrong, where element i must equal element (first + i) % kPeriod of `period`, a result
  /// of reduced() or input().
  [[nodiscard]] std::uint64_t count_wrong(std::span<const std::byte> got, std::span<const std::byte> period,
                                          std::size_t first) const;

 private:
  [[nodiscard]] std::uint64_t integer_value(int rank, std::size_t index) const;
  [[nodiscard]] double float_value(int rank, std::size_t index) const;
  [[nodiscard]] double sum_term(int rank, std::size_t index) const;
  [[nodiscard]] double factor(int rank, std::size_t index) const;
  [[nodiscard]] double any_number(int rank, std::size_t index) const;
  [[nodiscard]] std::int64_t average_term(int rank, std::size_t index) const;
  [[nodiscard]] std::uint64_t reduced_integer(std::size_t index) const;
  [[nodiscard]] double reduced_float(std::size_t index) const;
  [[nodiscard]] double allowed_error(std::size_t index) const;
  [[nodiscard]] bool is_wrong(const std::byte* got, const std::byte* wanted, std::size_t index) const;

  const TypeInfo* type_;
  Op op_;
  int ranks_;
};

/// Fills `to` with the period, element 0 of `to` being element `first` of it.
void fill(std::span<std::byte> to, std::span<const std::byte> period, std::size_t element_bytes, std::size_t first);

}  // namespace hawser::perf
