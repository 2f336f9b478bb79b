// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// Speed of the step kernel alone, on one core, for every SIMD target that the CPU runs: reduce_copy of some shapes in
// cache and out of it, cached and non-temporal, beside memcpy; and the time of the smallest calls. Prints one table row
// per line.
#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "kernels/reduce_copy.h"
#include "kernels/targets.h"

namespace {

using hawser::DataType;
using hawser::kernels::Combine;
using hawser::kernels::ReduceCopyArgs;
using hawser::kernels::Store;
using hawser::kernels::Target;

constexpr std::size_t kAlignment = 4096;
constexpr int kRepeats = 25;

struct Free {
  void operator()(std::byte* memory) const { std::free(memory); }
};
using Buffer = std::unique_ptr<std::byte, Free>;

Buffer make_buffer(std::size_t bytes) {
  const std::size_t rounded = (bytes + kAlignment - 1) / kAlignment * kAlignment;
  Buffer buffer(static_cast<std::byte*>(std::aligned_alloc(kAlignment, rounded)));
  std::memset(buffer.get(), 0, rounded);
  return buffer;
}

/// CPU time of this thread: a kernel never waits, and another program's turn is not its own.
double cpu_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

/// Nanoseconds per call: the best of some runs of about a millisecond or one call, so that a run that others
/// disturbed does not count.
template <class Call>
double time_ns(Call&& call) {
  constexpr double kRunNs = 1e6;
  std::size_t calls = 1;
  const auto run = [&] {
    const double start = cpu_ns();
    for (std::size_t i = 0; i < calls; ++i) call();
    return cpu_ns() - start;
  };
  while (run() < kRunNs) calls *= 2;
  double best = run();
  for (int i = 1; i < kRepeats; ++i) best = std::min(best, run());
  return best / static_cast<double>(calls);
}

struct Shape {
  const char* name;
  std::size_t sources;
  std::size_t destinations;
  std::uint64_t nt_mask;
};

constexpr Shape kShapes[] = {
    {"1->1", 1, 1, 0},    {"1->1 nt", 1, 1, 1}, {"1->2", 1, 2, 0},      {"2->1", 2, 1, 0},
    {"2->1 nt", 2, 1, 1}, {"2->2", 2, 2, 0},    {"2->2 nt,c", 2, 2, 1}, {"2->2 nt", 2, 2, 3},
    {"4->1", 4, 1, 0},    {"4->1 nt", 4, 1, 1}, {"16->1", 16, 1, 0},    {"33->1", 33, 1, 0},
};

void bench_shape(const Target& target, DataType type, const Shape& shape, std::size_t bytes) {
  std::vector<Buffer> buffers;
  std::vector<const std::byte*> sources;
  std::vector<std::byte*> destinations;
  for (std::size_t i = 0; i < shape.sources; ++i) {
    sources.push_back(buffers.emplace_back(make_buffer(bytes)).get());
  }
  for (std::size_t i = 0; i < shape.destinations; ++i) {
    destinations.push_back(buffers.emplace_back(make_buffer(bytes)).get());
  }
  const ReduceCopyArgs args{.type = type,
                            .combine = Combine::kSum,
                            .count = bytes / hawser::size_of(type),
                            .sources = sources,
                            .destinations = destinations,
                            .nt_mask = shape.nt_mask};
  const double ns = time_ns([&] { hawser::kernels::reduce_copy_on(target, args); });
  const double moved = static_cast<double>(bytes * (shape.sources + shape.destinations));
  fmt::print("{:8} {:10} {:10} {:9} {:12.1f} ns  {:7.2f} GB/s payload  {:7.2f} GB/s moved\n", target.name,
             hawser::name_of(type), shape.name, bytes, ns, static_cast<double>(bytes) / ns, moved / ns);
}

void bench_memcpy(std::size_t bytes) {
  const Buffer from = make_buffer(bytes);
  const Buffer to = make_buffer(bytes);
  const double ns = time_ns([&] {
    std::memcpy(to.get(), from.get(), bytes);
    asm volatile("" ::: "memory");
  });
  fmt::print("{:8} {:10} {:10} {:9} {:12.1f} ns  {:7.2f} GB/s payload  {:7.2f} GB/s moved\n", "memcpy", "-", "1->1",
             bytes, ns, static_cast<double>(bytes) / ns, 2 * static_cast<double>(bytes) / ns);
}

void bench_tiny(const Target& target, DataType type, std::size_t count, std::size_t source_count) {
  std::array<std::array<std::byte, 256>, 4> memory{};
  const std::array<const std::byte*, 3> sources{memory[0].data(), memory[1].data(), memory[2].data()};
  const std::array<std::byte*, 1> destinations{memory[3].data()};
  const ReduceCopyArgs args{.type = type,
                            .combine = Combine::kSum,
                            .count = count,
                            .sources = std::span(sources).first(source_count),
                            .destinations = destinations};
  const double ns = time_ns([&] {
    hawser::kernels::reduce_copy_on(target, args);
    asm volatile("" ::: "memory");
  });
  const std::size_t bytes = count * hawser::size_of(type);
  fmt::print("{:8} {:10} {}->1       {:9} {:12.1f} ns\n", target.name, hawser::name_of(type), source_count, bytes, ns);
}

}  // namespace

int main() {
  constexpr std::size_t kInCache = std::size_t{64} << 10;
  constexpr std::size_t kOutOfCache = std::size_t{64} << 20;
  for (const std::size_t bytes : {kInCache, kOutOfCache}) bench_memcpy(bytes);
  for (std::size_t i = 0; hawser::kernels::target_at(i) != nullptr; ++i) {
    const Target& target = *hawser::kernels::target_at(i);
    for (const DataType type : {DataType::kFloat32, DataType::kBfloat16, DataType::kFloat16}) {
      for (const std::size_t count : {1, 2, 16, 64}) {
        for (const std::size_t sources : {1, 2, 3}) bench_tiny(target, type, count, sources);
      }
    }
    for (const DataType type : {DataType::kFloat32, DataType::kBfloat16, DataType::kFloat16, DataType::kFloat8e4m3}) {
      for (const Shape& shape : kShapes) bench_shape(target, type, shape, kInCache);
    }
    if (i != 0) continue;  // memory, not the instruction set, sets the pace
    for (const DataType type : {DataType::kFloat32, DataType::kBfloat16}) {
      for (const Shape& shape : kShapes) bench_shape(target, type, shape, kOutOfCache);
    }
  }
  return 0;
}
