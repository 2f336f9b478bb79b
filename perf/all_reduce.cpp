// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// all_reduce_perf: times and checks ncclAllReduce.
#include "perf/common/run.h"

namespace {

using hawser::perf::Call;
using hawser::perf::Counts;
using hawser::perf::Expectation;

class AllReduce final : public hawser::perf::Collective {
 public:
  [[nodiscard]] std::string_view program() const override { return "all_reduce_perf"; }

  [[nodiscard]] Counts counts(std::size_t elements, int) const override {
    return {.send = elements, .recv = elements, .call = elements, .table = elements};
  }

  [[nodiscard]] double bus_factor(int ranks) const override { return 2.0 * (ranks - 1) / ranks; }

  [[nodiscard]] std::vector<Expectation> expected(int, int, const Counts& counts, int) const override {
    return {{.begin = 0, .count = counts.recv, .content = Expectation::Content::kReduced}};
  }

  [[nodiscard]] ncclResult_t start(const Call& call) const override {
    return ncclAllReduce(call.send, call.recv, call.count, call.type, call.op, call.comm, nullptr);
  }
};

}  // namespace

int main(int argc, char** argv) { return hawser::perf::run(AllReduce(), argc, argv); }
