// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// The reduction loops, for one SIMD target and any element type. An element type E (reduce_integer.cpp, reduce_float.cpp,
// reduce_small.cpp) says how its values are unpacked into accumulators, combined and packed again.
//
// A range of bytes is worked through in steps. One step loads kAccumulators vectors of the first source, combines the same
// bytes of every other source into them, in order, finishes them (divisor, rounding) and stores them in every destination:
//
//   source 0   |====step====|            |        accumulators stay in registers over all sources, however many, so fp16,
//   source 1   |============|            |        bf16 and fp8 are rounded once. A destination that is a source is safe:
//   ...              v                            a step loads all it needs before it stores.
//   destinations |==========|
//
// Bytes that fill no vector go through a buffer on the stack and the same arithmetic, so an element's bits depend on
// neither its place, nor the alignment, nor the target.
#if defined(HAWSER_KERNELS_REDUCE_COPY_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HAWSER_KERNELS_REDUCE_COPY_INL_H_
#undef HAWSER_KERNELS_REDUCE_COPY_INL_H_
#else
#define HAWSER_KERNELS_REDUCE_COPY_INL_H_
#endif

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "hwy/highway.h"
#include "kernels/store_plan.h"
#include "kernels/targets.h"

/// Before a loop over accumulators: without it -O2 leaves the loop rolled, and the accumulators in memory.
#undef HAWSER_UNROLL
#define HAWSER_UNROLL _Pragma("GCC unroll 4")

HWY_BEFORE_NAMESPACE();
namespace hawser::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Accumulators of one step of the main loop. Four give enough independent work, and four cache lines per source.
inline constexpr std::size_t kMainAccumulators = 4;
/// Bytes from which the loop for two sources is worth its setting up.
inline constexpr std::size_t kWorthPairing = 1024;

template <class D>
HWY_INLINE hn::Vec<D> load_vector(D d, const std::byte* from) {
#if HWY_TARGET == HWY_SCALAR
  hn::TFromD<D> value;
  std::memcpy(&value, from, sizeof value);
  return hn::Set(d, value);
#else
  const hn::Repartition<std::uint8_t, D> bytes;
  return hn::BitCast(d, hn::LoadU(bytes, reinterpret_cast<const std::uint8_t*>(from)));
#endif
}

template <class D>
HWY_INLINE void store_vector(D d, hn::Vec<D> value, std::byte* to) {
#if HWY_TARGET == HWY_SCALAR
  const hn::TFromD<D> lane = hn::GetLane(value);
  std::memcpy(to, &lane, sizeof lane);
  static_cast<void>(d);
#else
  const hn::Repartition<std::uint8_t, D> bytes;
  hn::StoreU(hn::BitCast(bytes, value), bytes, reinterpret_cast<std::uint8_t*>(to));
  static_cast<void>(d);
#endif
}

/// `to` is aligned to the vector.
template <class D>
HWY_INLINE void stream_vector(D d, hn::Vec<D> value, std::byte* to) {
#if HWY_TARGET == HWY_SCALAR
  store_vector(d, value, to);
#else
  const hn::Repartition<std::uint8_t, D> bytes;
  hn::Stream(hn::BitCast(bytes, value), bytes, reinterpret_cast<std::uint8_t*>(to));
  static_cast<void>(d);
#endif
}

#if HWY_TARGET != HWY_AVX3 && HWY_TARGET != HWY_SCALAR
template <class T>
HWY_INLINE std::uint64_t load_bits(const std::byte* from) {
  T bits;
  std::memcpy(&bits, from, sizeof bits);
  return bits;
}

/// Up to eight bytes, zeros above. Two pieces that may overlap: where they do, they are equal.
HWY_INLINE std::uint64_t load_up_to_8(const std::byte* from, std::size_t bytes) {
  if (bytes >= 8) return load_bits<std::uint64_t>(from);
  if (bytes >= 4) {
    return load_bits<std::uint32_t>(from) | load_bits<std::uint32_t>(from + bytes - 4) << 8 * (bytes - 4);
  }
  if (bytes >= 2) {
    return load_bits<std::uint16_t>(from) | load_bits<std::uint16_t>(from + bytes - 2) << 8 * (bytes - 2);
  }
  return bytes == 0 ? 0 : static_cast<std::uint64_t>(*from);
}

/// Up to 16 bytes, zeros above. Put together in registers: a buffer written in small pieces and read as a vector stalls.
HWY_INLINE hn::Vec<hn::Full128<std::uint64_t>> load_up_to_16(const std::byte* from, std::size_t bytes) {
  const hn::Full128<std::uint64_t> d;
  if (bytes >= 16) return load_vector(d, from);
  const std::uint64_t low = load_up_to_8(from, bytes);
  std::uint64_t high = 0;
  if (bytes > 8) high = load_bits<std::uint64_t>(from + bytes - 8) >> 8 * (16 - bytes);
  return hn::InterleaveLower(d, hn::Set(d, low), hn::Set(d, high));
}
#endif

/// Copies less than a vector's bytes from anywhere into an aligned buffer of one vector; the rest becomes zero.
HWY_INLINE void load_some(std::byte* buffer, const std::byte* from, std::size_t bytes) {
#if HWY_TARGET == HWY_AVX3
  const hn::ScalableTag<std::uint8_t> d;
  const auto part = hn::MaskedLoad(hn::FirstN(d, bytes), d, reinterpret_cast<const std::uint8_t*>(from));
  hn::Store(part, d, reinterpret_cast<std::uint8_t*>(buffer));
#elif HWY_TARGET == HWY_AVX2
  const hn::ScalableTag<std::uint64_t> d;
  const auto low = load_up_to_16(from, bytes);
  const auto high = bytes > 16 ? load_up_to_16(from + 16, bytes - 16) : hn::Zero(hn::Half<decltype(d)>());
  store_vector(d, hn::Combine(d, high, low), buffer);
#elif HWY_TARGET != HWY_SCALAR
  store_vector(hn::Full128<std::uint64_t>(), load_up_to_16(from, bytes), buffer);
#else
  copy_small(buffer, from, bytes);
#endif
}

/// The reverse: writes only the first `bytes` bytes.
HWY_INLINE void store_some(std::byte* to, const std::byte* buffer, std::size_t bytes) {
#if HWY_TARGET == HWY_AVX3
  const hn::ScalableTag<std::uint8_t> d;
  const auto part = hn::Load(d, reinterpret_cast<const std::uint8_t*>(buffer));
  hn::BlendedStore(part, hn::FirstN(d, bytes), d, reinterpret_cast<std::uint8_t*>(to));
#else
  copy_small(to, buffer, bytes);
#endif
}

/// Bytes of a vector of packed values.
template <class E>
HWY_INLINE std::size_t pack_bytes() {
  return hn::Lanes(typename E::DPacked()) * sizeof(hn::TFromD<typename E::DPacked>);
}

/// What the steps of one call share.
template <class E>
struct Job {
  std::span<const std::byte* const> sources;
  std::span<std::byte* const> destinations;
  std::uint64_t pre_mask;
  std::uint64_t nt_mask;
  typename E::Vector scale;     ///< set if pre_mask is
  typename E::Divisor divisor;  ///< says itself whether it is set
};

/// Stores vectors of packed values behind each other; aligned, if not through the caches.
template <class E, std::size_t kPacks>
HWY_INLINE void store_all(const typename E::Packed (&packs)[kPacks], std::byte* to, Store store) {
  const typename E::DPacked d;
  if (store == Store::kNonTemporal) {
    HAWSER_UNROLL
    for (std::size_t k = 0; k < kPacks; ++k) stream_vector(d, packs[k], to + k * pack_bytes<E>());
  } else {
    HAWSER_UNROLL
    for (std::size_t k = 0; k < kPacks; ++k) store_vector(d, packs[k], to + k * pack_bytes<E>());
  }
}

/// A step's bytes are all there: sources and destinations are used in place.
struct WholeStep {
  HWY_INLINE const std::byte* load(const std::byte* from, std::byte* /*buffer*/) const { return from; }

  template <class E, std::size_t kPacks>
  HWY_INLINE void store(const Job<E>& job, const typename E::Packed (&packs)[kPacks], std::size_t offset) const {
    for (std::size_t i = 0; i < job.destinations.size(); ++i) {
      const bool streams = i < 64 && (job.nt_mask >> i & 1) != 0;
      store_all<E>(packs, job.destinations[i] + offset, streams ? Store::kNonTemporal : Store::kCached);
    }
  }
};

/// Only the first `bytes` bytes of one packed vector are there.
struct PartStep {
  std::size_t bytes;

  HWY_INLINE const std::byte* load(const std::byte* from, std::byte* buffer) const {
    load_some(buffer, from, bytes);
    return buffer;
  }

  template <class E>
  HWY_INLINE void store(const Job<E>& job, const typename E::Packed (&packs)[1], std::size_t offset) const {
    HWY_ALIGN std::byte buffer[HWY_MAX_BYTES];
    store_vector(typename E::DPacked(), packs[0], buffer);
    for (std::byte* to : job.destinations) store_some(to + offset, buffer, bytes);
  }
};

/// Loads vectors of packed values that follow each other at `from`.
template <class E, std::size_t kAccumulators>
HWY_INLINE void unpack_all(const std::byte* from, typename E::Vector (&acc)[kAccumulators]) {
  HAWSER_UNROLL
  for (std::size_t k = 0; k < kAccumulators; k += E::kGroup) E::unpack(from + k / E::kGroup * pack_bytes<E>(), acc + k);
}

/// Pre: the product with the scalar, rounded to the element type. Rare and long, so not inlined into every step.
template <class E, std::size_t kAccumulators>
HWY_NOINLINE void premultiply(typename E::Vector scale, typename E::Vector* acc) {
  HAWSER_UNROLL
  for (std::size_t k = 0; k < kAccumulators; ++k) acc[k] = E::multiply(acc[k], scale);
  HAWSER_UNROLL
  for (std::size_t k = 0; k < kAccumulators; k += E::kGroup) E::round(acc + k);
}

/// As unpack_all, then pre if the source has one.
template <class E, std::size_t kAccumulators>
HWY_INLINE void load_source(const Job<E>& job, std::size_t source, const std::byte* from,
                            typename E::Vector (&acc)[kAccumulators]) {
  unpack_all<E>(from, acc);
  if (HWY_UNLIKELY(source < 64 && (job.pre_mask >> source & 1) != 0)) {
    // A copy, so that only here the accumulators are memory.
    typename E::Vector products[kAccumulators];
    HAWSER_UNROLL
    for (std::size_t k = 0; k < kAccumulators; ++k) products[k] = acc[k];
    premultiply<E, kAccumulators>(job.scale, products);
    HAWSER_UNROLL
    for (std::size_t k = 0; k < kAccumulators; ++k) acc[k] = products[k];
  }
}

template <class E, class Op, std::size_t kAccumulators, class Extent>
HWY_INLINE void step(const Job<E>& job, std::size_t offset, Extent extent) {
  HWY_ALIGN std::byte buffer[HWY_MAX_BYTES];
  typename E::Vector acc[kAccumulators];
  typename E::Vector next[kAccumulators];
  load_source<E>(job, 0, extent.load(job.sources[0] + offset, buffer), acc);
  for (std::size_t source = 1; source < job.sources.size(); ++source) {
    load_source<E>(job, source, extent.load(job.sources[source] + offset, buffer), next);
    HAWSER_UNROLL
    for (std::size_t k = 0; k < kAccumulators; ++k) acc[k] = Op::template combine<E>(acc[k], next[k]);
  }
  if (HWY_UNLIKELY(job.divisor.is_set())) {
    HAWSER_UNROLL
    for (std::size_t k = 0; k < kAccumulators; ++k) acc[k] = E::divide(acc[k], job.divisor);
  }
  typename E::Packed packs[kAccumulators / E::kGroup];
  HAWSER_UNROLL
  for (std::size_t k = 0; k < kAccumulators / E::kGroup; ++k) packs[k] = E::pack(acc + k * E::kGroup);
  extent.template store<E>(job, packs, offset);
}

/// Bytes [begin, end) of every source and destination.
template <class E, class Op>
HWY_NOINLINE void reduce_range(const Job<E>& job, std::size_t begin, std::size_t end) {
  const std::size_t pack = pack_bytes<E>();
  const std::size_t main = pack * (kMainAccumulators / E::kGroup);
  std::size_t at = begin;
  for (; end - at >= main; at += main) step<E, Op, kMainAccumulators>(job, at, WholeStep());
  if constexpr (E::kGroup < kMainAccumulators) {
    for (; end - at >= pack; at += pack) step<E, Op, E::kGroup>(job, at, WholeStep());
  }
#if HWY_TARGET != HWY_SCALAR
  if (at != end) step<E, Op, E::kGroup>(job, at, PartStep{end - at});
#endif
}

/// The commonest calls, two sources, one or two destinations, nothing before or after: as reduce_range, but every pointer
/// stays in a register. Returns where it stopped, less than a main step before `end`.
template <class E, class Op>
HWY_NOINLINE std::size_t reduce_pair(const Job<E>& job, std::size_t begin, std::size_t end) {
  constexpr std::size_t kPacks = kMainAccumulators / E::kGroup;
  const std::size_t main = pack_bytes<E>() * kPacks;
  const std::byte* a = job.sources[0];
  const std::byte* b = job.sources[1];
  std::byte* to = job.destinations[0];
  std::byte* also_to = job.destinations.size() == 2 ? job.destinations[1] : nullptr;
  const Store store = (job.nt_mask & 1) != 0 ? Store::kNonTemporal : Store::kCached;
  const Store also_store = (job.nt_mask & 2) != 0 ? Store::kNonTemporal : Store::kCached;
  std::size_t at = begin;
  for (; end - at >= main; at += main) {
    typename E::Vector acc[kMainAccumulators];
    typename E::Vector next[kMainAccumulators];
    unpack_all<E>(a + at, acc);
    unpack_all<E>(b + at, next);
    HAWSER_UNROLL
    for (std::size_t k = 0; k < kMainAccumulators; ++k) acc[k] = Op::template combine<E>(acc[k], next[k]);
    typename E::Packed packs[kPacks];
    HAWSER_UNROLL
    for (std::size_t k = 0; k < kPacks; ++k) packs[k] = E::pack(acc + k * E::kGroup);
    store_all<E>(packs, to + at, store);
    if (also_to != nullptr) store_all<E>(packs, also_to + at, also_store);
  }
  return at;
}

/// The kernel of one element type and operation.
template <class E, class Op>
void reduce(const ReduceCopyArgs& args) {
  const StorePlan plan = plan_stores(args, E::kBytes);
  // Member by member: what the call does not use stays unset, which the smallest calls can tell.
  Job<E> job;
  job.sources = args.sources;
  job.destinations = args.destinations;
  job.pre_mask = args.pre_mask;
  job.nt_mask = 0;
  if (args.pre_mask != 0) job.scale = E::splat(args.scale);
  if (args.divisor != 0) job.divisor = E::divisor(args);
  std::size_t at = plan.head_bytes;
  const std::size_t end = args.count * E::kBytes;
  if (at != 0) reduce_range<E, Op>(job, 0, at);
  job.nt_mask = plan.nt_mask;
  const bool is_plain = args.pre_mask == 0 && args.divisor == 0;
  if (is_plain && args.sources.size() == 2 && args.destinations.size() <= 2 && end - at >= kWorthPairing) {
    at = reduce_pair<E, Op>(job, at, end);
  }
  if (at != end) reduce_range<E, Op>(job, at, end);
}

struct Sum {
  template <class E>
  static HWY_INLINE typename E::Vector combine(typename E::Vector a, typename E::Vector b) {
    return hn::Add(a, b);
  }
};
struct Prod {
  template <class E>
  static HWY_INLINE typename E::Vector combine(typename E::Vector a, typename E::Vector b) {
    return E::multiply(a, b);
  }
};
struct Max {
  template <class E>
  static HWY_INLINE typename E::Vector combine(typename E::Vector a, typename E::Vector b) {
    return E::larger(a, b);
  }
};
struct Min {
  template <class E>
  static HWY_INLINE typename E::Vector combine(typename E::Vector a, typename E::Vector b) {
    return E::smaller(a, b);
  }
};

/// Divides floating-point values. A power of two is multiplied by its reciprocal, which gives the same bits sooner.
template <class V>
struct FloatDivisor {
  V value;
  V reciprocal;
  bool is_power_of_two = false;
  bool is_used = false;
  HWY_INLINE bool is_set() const { return is_used; }
};

template <class D>
HWY_INLINE FloatDivisor<hn::Vec<D>> make_float_divisor(D d, std::uint32_t divisor) {
  using T = hn::TFromD<D>;
  const T value = divisor == 0 ? T{1} : static_cast<T>(divisor);
  return {hn::Set(d, value), hn::Set(d, T{1} / value), (divisor & (divisor - 1)) == 0, divisor != 0};
}

template <class V>
HWY_INLINE V divide_floats(V value, const FloatDivisor<V>& divisor) {
  return divisor.is_power_of_two ? hn::Mul(value, divisor.reciprocal) : hn::Div(value, divisor.value);
}

/// Maximum (minimum) of floats as IEEE 754's maximumNumber and as NCCL on a GPU: a number beats NaN, +0 beats -0 (-0
/// beats +0). So the result does not depend on the order of the operands.
template <class V>
HWY_INLINE V larger_float(V a, V b) {
  const V larger = hn::IfThenElse(hn::Or(hn::Gt(b, a), hn::IsNaN(a)), b, a);
  return hn::IfThenElse(hn::Eq(a, b), hn::And(a, b), larger);  // equal but for the sign of zero
}
template <class V>
HWY_INLINE V smaller_float(V a, V b) {
  const V smaller = hn::IfThenElse(hn::Or(hn::Lt(b, a), hn::IsNaN(a)), b, a);
  return hn::IfThenElse(hn::Eq(a, b), hn::Or(a, b), smaller);
}

}  // namespace hawser::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
