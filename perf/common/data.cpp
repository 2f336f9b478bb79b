// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/common/data.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

namespace hawser::perf {
namespace {

// A well-mixed function of (rank, index, salt): the finaliser of a 64-bit mixing generator.
std::uint64_t mix(int rank, std::size_t index, std::uint64_t salt) {
  std::uint64_t z = index * 0x9e3779b97f4a7c15U + static_cast<std::uint64_t>(rank) * 0xd1b54a32d192ed03U + salt;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9U;
  z = (z ^ z >> 27) * 0x94d049bb133111ebU;
  return z ^ z >> 31;
}

// Evenly one of -most..most.
std::int64_t between(std::uint64_t random, std::int64_t most) {
  return static_cast<std::int64_t>(random % static_cast<std::uint64_t>(2 * most + 1)) - most;
}

// `budget` units are shared by all ranks. If that leaves none for each, every rank in turn, by index, gets one.
struct Share {
  std::int64_t most;
  bool is_active;
};
Share share(std::int64_t budget, int ranks, int rank, std::size_t index) {
  if (budget >= ranks) return {budget / ranks, true};
  const std::int64_t stride = (ranks + budget - 1) / budget;
  const auto turn = static_cast<std::int64_t>(mix(0, index, 1) % static_cast<std::uint64_t>(stride));
  return {1, rank % stride == turn};
}

void store_bits(std::byte* to, std::size_t bytes, std::uint64_t bits) {
  static_assert(std::endian::native == std::endian::little);
  std::memcpy(to, &bits, bytes);
}

std::uint64_t load_bits(const std::byte* from, std::size_t bytes) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, from, bytes);
  return bits;
}

// Bits of an integer type as a 64-bit number: sign-extended, or with zeros above.
std::int64_t as_signed(std::uint64_t bits, std::size_t bytes) {
  const auto unused = static_cast<int>(64 - 8 * bytes);
  return static_cast<std::int64_t>(bits << unused) >> unused;
}
std::uint64_t truncated(std::uint64_t bits, std::size_t bytes) {
  return bytes == 8 ? bits : bits & ((std::uint64_t{1} << 8 * bytes) - 1);
}

// Integers up to this one are exact in the type.
std::int64_t exact_limit(const TypeInfo& type) {
  constexpr int kMostBits = 50;  // room for the scalars of mulsum in double
  return std::int64_t{1} << std::min(type.mantissa_bits + 1, kMostBits);
}

}  // namespace

Data::Data(ncclDataType_t type, Op op, int ranks) : type_(&info_of(type)), op_(op), ranks_(ranks) {}

// Terms of an average of integers: they sum to ranks * base, so that the division is exact.
std::int64_t Data::average_term(int rank, std::size_t index) const {
  const int bits = static_cast<int>(std::min<std::size_t>(8 * type_->bytes, 32)) - (type_->is_signed ? 1 : 0);
  const std::int64_t limit = (std::int64_t{1} << bits) - 1;
  const std::int64_t most = std::min(limit / ranks_, limit / 2);
  const std::int64_t swing = std::max<std::int64_t>(most / 2, type_->is_signed ? 1 : 0);
  const auto step = [&](int of) {
    return static_cast<std::int64_t>(mix(of % ranks_, index, 2) % static_cast<std::uint64_t>(swing + 1));
  };
  const std::uint64_t random = mix(0, index, 3);
  const std::int64_t base =
      type_->is_signed ? between(random, most)
                       : swing + static_cast<std::int64_t>(random % static_cast<std::uint64_t>(most - swing + 1));
  return base + step(rank) - step(rank + 1);
}

std::uint64_t Data::integer_value(int rank, std::size_t index) const {
  const std::uint64_t random = mix(rank, index, 4);
  switch (op_) {
    case Op::kSum:
    case Op::kMulSum:
    case Op::kMax:
    case Op::kMin:
      return truncated(random, type_->bytes);
    case Op::kProd:  // odd numbers, for products of many even ones are all zero
      return truncated(random | 1, type_->bytes);
    case Op::kAvg:
      return truncated(static_cast<std::uint64_t>(average_term(rank, index)), type_->bytes);
  }
  return 0;
}

double Data::sum_term(int rank, std::size_t index) const {
  const std::int64_t budget = op_ == Op::kMulSum ? exact_limit(*type_) / 2 : exact_limit(*type_);
  const Share mine = share(budget, ranks_, rank, index);
  if (!mine.is_active) return 0;
  return static_cast<double>(between(mix(rank, index, 5), mine.most));
}

// Powers of two of either sign, one rank in turn with a factor of 1.5.
double Data::factor(int rank, std::size_t index) const {
  const int bias = (1 << (type_->exponent_bits - 1)) - 1;
  const Share mine = share(bias - 1, ranks_, rank, index);
  const std::uint64_t random = mix(rank, index, 6);
  const int exponent = mine.is_active ? static_cast<int>(between(random >> 1, mine.most)) : 0;
  const bool has_half = mix(0, index, 7) % static_cast<std::uint64_t>(ranks_) == static_cast<std::uint64_t>(rank);
  return std::ldexp((random & 1) != 0 ? -1.0 : 1.0, exponent) * (has_half ? 1.5 : 1.0);
}

// Any bits that stand for a normal number; zero for the others.
double Data::any_number(int rank, std::size_t index) const {
  const double value = decode(*type_, truncated(mix(rank, index, 8), type_->bytes));
  const double smallest = std::ldexp(1.0, 2 - (1 << (type_->exponent_bits - 1)));
  return std::isfinite(value) && std::fabs(value) >= smallest ? value : 0.0;
}

double Data::float_value(int rank, std::size_t index) const {
  switch (op_) {
    case Op::kSum:
    case Op::kAvg:
    case Op::kMulSum:
      return sum_term(rank, index);
    case Op::kProd:
      return factor(rank, index);
    case Op::kMax:
    case Op::kMin:
      return any_number(rank, index);
  }
  return 0;
}

std::uint64_t Data::input_bits(int rank, std::size_t index) const {
  return type_->is_float ? encode(*type_, float_value(rank, index)) : integer_value(rank, index);
}

std::vector<std::byte> Data::input(int rank) const {
  std::vector<std::byte> period(kPeriod * type_->bytes);
  for (std::size_t i = 0; i < kPeriod; ++i) store_bits(&period[i * type_->bytes], type_->bytes, input_bits(rank, i));
  return period;
}

std::uint64_t Data::reduced_integer(std::size_t index) const {
  std::uint64_t total = integer_value(0, index);
  if (op_ == Op::kMulSum) total *= static_cast<std::uint64_t>(scalar(0));
  const auto is_less = [&](std::uint64_t a, std::uint64_t b) {
    return type_->is_signed ? as_signed(a, type_->bytes) < as_signed(b, type_->bytes) : a < b;
  };
  for (int rank = 1; rank < ranks_; ++rank) {
    const std::uint64_t next = integer_value(rank, index);
    if (op_ == Op::kSum || op_ == Op::kAvg) total += next;
    if (op_ == Op::kMulSum) total += next * static_cast<std::uint64_t>(scalar(rank));
    if (op_ == Op::kProd) total *= next;
    if (op_ == Op::kMax && is_less(total, next)) total = next;
    if (op_ == Op::kMin && is_less(next, total)) total = next;
  }
  total = truncated(total, type_->bytes);
  if (op_ != Op::kAvg) return total;
  if (!type_->is_signed) return total / static_cast<std::uint64_t>(ranks_);
  return truncated(static_cast<std::uint64_t>(as_signed(total, type_->bytes) / ranks_), type_->bytes);
}

double Data::reduced_float(std::size_t index) const {
  double total = float_value(0, index) * (op_ == Op::kMulSum ? scalar(0) : 1);
  for (int rank = 1; rank < ranks_; ++rank) {
    const double next = float_value(rank, index);
    if (op_ == Op::kSum || op_ == Op::kAvg) total += next;
    if (op_ == Op::kMulSum) total += next * scalar(rank);
    if (op_ == Op::kProd) total *= next;
    if (op_ == Op::kMax) total = std::max(total, next);
    if (op_ == Op::kMin) total = std::min(total, next);
  }
  return op_ == Op::kAvg ? total / ranks_ : total;
}

std::uint64_t Data::reduced_bits(std::size_t index) const {
  return type_->is_float ? encode(*type_, reduced_float(index)) : reduced_integer(index);
}

std::vector<std::byte> Data::reduced() const {
  std::vector<std::byte> period(kPeriod * type_->bytes);
  for (std::size_t i = 0; i < kPeriod; ++i) store_bits(&period[i * type_->bytes], type_->bytes, reduced_bits(i));
  return period;
}

// An average over a power of two is exact. Any other is rounded once or, where the library multiplies each input by
// 1/ranks, at every product and, in types that are wide enough to be added up in themselves, at every sum.
double Data::allowed_error(std::size_t index) const {
  if (op_ != Op::kAvg || !type_->is_float || std::has_single_bit(static_cast<unsigned>(ranks_))) return 0;
  double magnitude = 0;
  for (int rank = 0; rank < ranks_; ++rank) magnitude += std::fabs(float_value(rank, index));
  const bool is_wide = type_->bytes >= 4;
  const double roundings = is_wide ? 1 + (ranks_ - 1) / 2.0 : 1;
  return std::ldexp(roundings * magnitude / ranks_, -type_->mantissa_bits);
}

bool Data::is_wrong(const std::byte* got, const std::byte* wanted, std::size_t index) const {
  if (std::memcmp(got, wanted, type_->bytes) == 0) return false;
  if (!type_->is_float) return true;
  const double difference =
      decode(*type_, load_bits(got, type_->bytes)) - decode(*type_, load_bits(wanted, type_->bytes));
  // Written so that NaN is wrong; the two zeros are equal.
  return !(std::fabs(difference) <= allowed_error(index));
}

std::uint64_t Data::count_wrong(std::span<const std::byte> got, std::span<const std::byte> period,
                                std::size_t first) const {
  const std::size_t size = type_->bytes;
  std::uint64_t wrong = 0;
  std::size_t at = first % kPeriod;
  while (!got.empty()) {
    const std::size_t count = std::min(kPeriod - at, got.size() / size);
    if (count == 0) break;
    if (std::memcmp(got.data(), &period[at * size], count * size) != 0)
      for (std::size_t i = 0; i < count; ++i)
        wrong += is_wrong(&got[i * size], &period[(at + i) * size], at + i) ? 1 : 0;
    got = got.subspan(count * size);
    at = 0;
  }
  return wrong;
}

void fill(std::span<std::byte> to, std::span<const std::byte> period, std::size_t element_bytes, std::size_t first) {
  std::size_t at = first % kPeriod * element_bytes;
  while (!to.empty()) {
    const std::size_t bytes = std::min(period.size() - at, to.size());
    std::memcpy(to.data(), period.data() + at, bytes);
    to = to.subspan(bytes);
    at = 0;
  }
}

}  // namespace hawser::perf
