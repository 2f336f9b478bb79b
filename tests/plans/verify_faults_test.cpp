// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// Wrong plans, one for each kind of fault that verify must find, and the sentence it must say.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "plan/builder.h"
#include "plan/verify.h"
#include "verify_examples.h"

namespace hawser::plan {
namespace {

using examples::Plans;

struct Fault {
  std::string name;
  Plans plans;
  std::function<void(Plans&)> damage;
  std::string sentence;  ///< part of what verify says
  VerifyOptions options = {};
};

void PrintTo(const Fault& fault, std::ostream* stream) { *stream << fault.name; }

Step& step_of(Plans& plans, std::size_t rank, std::size_t lane, std::size_t index) {
  return plans[rank].lanes[lane].steps[index];
}

class VerifyFault : public testing::TestWithParam<Fault> {};

TEST_P(VerifyFault, IsNamed) {
  Plans plans = GetParam().plans;
  const Result<Proof> before = verify(plans, GetParam().options);
  ASSERT_TRUE(before.is_ok()) << "undamaged: " << before.status().message();
  GetParam().damage(plans);
  const Result<Proof> after = verify(plans, GetParam().options);
  ASSERT_FALSE(after.is_ok());
  EXPECT_EQ(after.status().code(), Code::kInternalError);
  EXPECT_THAT(after.status().message(), testing::HasSubstr(GetParam().sentence));
}

/// A plan that is wrong from the start has nothing to damage.
void become(Plans& plans, Plans other) { plans = std::move(other); }

PlanBuilder all_reduce_of(int rank, int ranks) {
  return PlanBuilder({.algorithm = "flat",
                      .collective = Collective::kAllReduce,
                      .rank = rank,
                      .ranks = ranks,
                      .input = {Cut::kParts, 1},
                      .output = {Cut::kParts, 1}});
}

/// Two ranks that combine straight into the output, which the derived `after` protects against in-place readers.
Plans flat_into_output() {
  Plans plans;
  for (const int rank : {0, 1}) {
    PlanBuilder builder = all_reduce_of(rank, 2);
    builder.step(builder.lane(), {in(0)}, {send(builder.stream(rank, 1 - rank))});
    std::vector<Source> operands = {in(0), recv_raw(builder.stream(1 - rank, rank))};
    if (rank == 1) std::swap(operands[0], operands[1]);
    builder.step(builder.lane(), operands, {to_out(0)}, {.apply_post = true});
    plans.push_back(builder.finish());
  }
  return plans;
}

/// Rank 1 of three adds from the right.
Plans flat_with_another_tree() {
  Plans plans = examples::flat_through_scratch(3);
  PlanBuilder builder = all_reduce_of(1, 3);
  builder.set_window(2);
  const int from_0 = builder.stream(0, std::vector<int>{1, 2});
  const int from_2 = builder.stream(2, std::vector<int>{0, 1});
  builder.step(builder.lane(), {in(0)}, {send(builder.stream(1, std::vector<int>{0, 2}))});
  const int lane = builder.lane();
  const int sum = builder.scratch_like(Space::kInput, 0);
  const int first = builder.scratch_like(Space::kInput, 0);
  builder.step(builder.lane(), {recv_raw(from_0)}, {to_scratch(first)});
  builder.step(lane, {in(0), recv_raw(from_2)}, {to_scratch(sum)});
  Source raw = scratch(first);
  raw.apply_pre = true;
  builder.step(lane, {raw, scratch(sum)}, {to_out(0)}, {.apply_post = true});
  plans[1] = builder.finish();
  plans[1].algorithm = plans[0].algorithm;
  return plans;
}

/// Two ranks whose only lane receives before it sends.
Plans receive_first() {
  Plans plans;
  for (const int rank : {0, 1}) {
    PlanBuilder builder({.algorithm = "late",
                         .collective = Collective::kAllGather,
                         .rank = rank,
                         .ranks = 2,
                         .input = {Cut::kBlocks, 1},
                         .output = {Cut::kBlocks, 2}});
    const int lane = builder.lane();
    builder.step(lane, {recv(builder.stream(1 - rank, rank))}, {to_out(1 - rank)});
    builder.step(lane, {in(0)}, {to_out(rank), send(builder.stream(rank, 1 - rank))});
    plans.push_back(builder.finish());
  }
  return plans;
}

std::vector<Fault> meaning_faults() {
  return {
      {"operands_out_of_order", examples::ring(4),
       [](Plans& p) { std::swap(step_of(p, 2, 0, 1).sources[0], step_of(p, 2, 0, 1).sources[1]); },
       "rank 2, lane 0, step 1: operands are not ordered by lowest contributing rank"},
      {"pre_missing", examples::flat(3), [](Plans& p) { step_of(p, 1, 1, 0).sources[2].apply_pre = false; },
       "rank 1, lane 1, step 0: source 2 is raw input of rank 2, but is not marked apply_pre"},
      {"pre_twice", examples::ring(4), [](Plans& p) { step_of(p, 1, 0, 2).sources[0].apply_pre = true; },
       "rank 1, lane 0, step 2: source 0 is marked apply_pre, but is not raw"},
      {"post_missing", examples::tree(3), [](Plans& p) { step_of(p, 0, 0, 0).apply_post = false; },
       "rank 0: output chunk 0 ends as (pre(in0[0]) + pre(in1[0]) + pre(in2[0])), without post"},
      {"post_twice", examples::ring(3), [](Plans& p) { step_of(p, 1, 0, 3).apply_post = true; },
       "rank 1, lane 0, step 3: source 0 is finished already"},
      {"input_missing", examples::flat_through_scratch(3), [](Plans& p) { step_of(p, 0, 3, 0).sources.pop_back(); },
       "rank 0: output chunk 0 ends as post((pre(in0[0]) + pre(in1[0]))), without some rank's input"},
      {"input_twice", examples::flat_through_scratch(3),
       [](Plans& p) { step_of(p, 0, 3, 0).sources[2] = step_of(p, 0, 3, 0).sources[1]; },
       "rank 0, lane 3, step 0: combines input of rank 1 twice"},
      {"input_twice_by_fingerprint",
       examples::flat_through_scratch(3),
       [](Plans& p) { step_of(p, 0, 3, 0).sources[2] = step_of(p, 0, 3, 0).sources[1]; },
       "rank 0, lane 3, step 0: combines input of rank 1 twice",
       {.exact = false}},
      {"another_tree", examples::flat_through_scratch(3), [](Plans& p) { become(p, flat_with_another_tree()); },
       "rank 1: output chunk 0 ends as post((pre(in0[0]) + (pre(in1[0]) + pre(in2[0])))), on rank 0 as"},
      {"another_tree_by_fingerprint",
       examples::flat_through_scratch(3),
       [](Plans& p) { become(p, flat_with_another_tree()); },
       "rank 1: output chunk 0 ends as",
       {.exact = false}},
      {"wrong_block", examples::ring_all_gather(3),
       [](Plans& p) { std::swap(step_of(p, 0, 0, 1).destinations[0], step_of(p, 0, 0, 2).destinations[0]); },
       "rank 0: output chunk 1 ends as in2[0] (tile 0), not as in1[0] (tile 0)"},
      {"wrong_input_block", examples::pairwise(3), [](Plans& p) { step_of(p, 0, 1, 0).sources[0] = in(2); },
       "rank 1: output chunk 0 ends as in0[2] (tile 0), not as in0[1] (tile 0)"},
      {"output_unwritten", examples::pairwise(3), [](Plans& p) { step_of(p, 2, 0, 0).destinations[0] = to_out(1); },
       "landing in output chunk 1"},
      {"output_never_written", examples::pairwise(3), [](Plans& p) { p[2].lanes[0].steps.clear(); },
       "rank 2: output chunk 2 is never written"},
      {"scratch_unwritten", examples::flat(2), [](Plans& p) { step_of(p, 0, 1, 0).destinations[0] = to_out(0); },
       "rank 0, lane 1, step 1: reads scratch chunk 0, which nothing wrote before"},
      {"output_read_unwritten", examples::flat(2), [](Plans& p) { step_of(p, 0, 0, 0).sources[0] = out(0); },
       "rank 0, lane 0, step 0: reads output chunk 0, which nothing wrote before"},
  };
}

std::vector<Fault> message_faults() {
  return {
      {"message_not_taken", examples::pairwise(3), [](Plans& p) { p[1].lanes.pop_back(); },
       "rank 2 sends 1 messages per tile, rank 1 takes 0"},
      {"message_not_sent", examples::pairwise(2), [](Plans& p) { p[1].lanes[1].steps.clear(); },
       "stream 1->{0}#0: rank 1 sends 0 messages per tile, rank 0 takes 1"},
      {"streams_differ", examples::tree(3), [](Plans& p) { p[2].streams[1].receivers = {2}; },
       "stream 0->{1,2}#0: rank 0 sends 1 messages per tile, rank 2 takes 0"},
      {"size_of_message", examples::ring(3),
       [](Plans& p) {
         step_of(p, 0, 0, 0).sources[0] = in(1);
         step_of(p, 0, 0, 0).shape = in(1).region;
       },
       "rank 1, lane 0, step 1: message 0 of stream 0->{1}#0 has another size than rank 0, lane 0, step 0 gave it"},
      {"size_of_source", examples::ring(3), [](Plans& p) { step_of(p, 0, 0, 1).sources[0] = in(0); },
       "rank 0, lane 0, step 1: a source differs in size from the step's shape"},
      {"size_of_destination", examples::ring(3), [](Plans& p) { step_of(p, 0, 0, 4).destinations[0] = to_out(0); },
       "a destination differs in size from the step's shape"},
      {"size_of_shape", examples::ring(3), [](Plans& p) { step_of(p, 0, 0, 4).shape.runs[0].first ^= 2; },
       "rank 0, lane 0, step 4: a destination differs in size"},
      {"two_writing_lanes", examples::pairwise(3),
       [](Plans& p) { step_of(p, 0, 3, 0).destinations[0].stream = step_of(p, 0, 1, 0).destinations[0].stream; },
       "rank 0, lane 3, step 0: sends on stream 0->{1}#0, as lane 1 does already"},
      {"two_reading_lanes", examples::pairwise(3),
       [](Plans& p) { step_of(p, 0, 4, 0).sources[0].stream = step_of(p, 0, 2, 0).sources[0].stream; },
       "rank 0, lane 4, step 0: takes messages of stream 2->{0}#0, as lane 2 does already"},
      {"block_sizes",
       examples::pairwise(3),
       [](Plans& p) {
         step_of(p, 0, 1, 0).sources[0] = in(2);
         step_of(p, 0, 1, 0).shape = in(2).region;
       },
       "has another size",
       {.blocks = Blocks::kDistinct}},
  };
}

std::vector<Fault> race_faults() {
  return {
      {"after_dropped", examples::flat_through_scratch(2),
       [](Plans& p) { step_of(p, 1, 2, 0).after.erase(step_of(p, 1, 2, 0).after.begin() + 1); },
       "rank 1, lane 1, step 0: landing in scratch chunk 0 is not ordered against lane 2, step 0: reading scratch"},
      {"release_not_awaited",
       examples::flat(2),
       [](Plans& p) { step_of(p, 0, 1, 1).after[0].released = false; },
       "rank 0, lane 0, step 0: reading input chunk 0 (and sending it) is not ordered against lane 1, step 1: writing "
       "output chunk 0",
       {.in_place = {true, false}}},
      {"landing_before_its_lane",
       examples::ring(3),
       [](Plans& p) { step_of(p, 0, 0, 4).after.clear(); },
       "landing in output chunk 2",
       {.in_place = {true, true, true}}},
      {"window_too_small", examples::flat_through_scratch(3), [](Plans& p) { p[2].window = 1; }, "of the tile 1 later"},
      {"overlap_within_step", examples::ring_all_gather(3),
       [](Plans& p) {
         Step& step = step_of(p, 0, 0, 1);
         step.destinations.push_back(step.destinations[0]);
       },
       "rank 0, lane 0, step 1: landing in output chunk 2 (and sending it) overlaps landing in output chunk 2"},
      {"circle_of_after", examples::flat(2),
       [](Plans& p) {
         step_of(p, 0, 0, 0).after.push_back({1, 1, 0, false});
       },
       "waits for itself"},
  };
}

std::vector<Fault> progress_faults() {
  return {
      {"credit_too_small", examples::ring(4),
       [](Plans& p) {
         for (Plan& plan : p) plan.credit = 1;
       },
       "credit 1 is declared, 2 is the least: "},
      {"receive_first", examples::ring_all_gather(2), [](Plans& p) { become(p, receive_first()); },
       "waits forever for a message"},
      {"release_circle", examples::flat(2), [](Plans& p) { become(p, flat_into_output()); },
       "waits forever for the release of what was sent"},
      {"not_straight", examples::pairwise(3),
       [](Plans& p) {
         for (Plan& plan : p) {
           for (std::size_t lane = 0; lane < plan.lanes.size(); ++lane) {
             plan.lanes[lane].steps[0].issue = static_cast<int>(lane % 2 == 0 ? lane : 100 + lane);
           }
           plan.straight_line = true;
         }
       },
       "straight_line is declared, but in the order of issue rank"},
  };
}

/// Damages one plan of flat_through_scratch(3), ring(3) or pairwise(3).
std::vector<Fault> structure_faults() {
  const Plans flat = examples::flat_through_scratch(3);
  const Plans pairwise = examples::pairwise(3);
  return {
      {"rank", flat, [](Plans& p) { p[1].rank = 2; }, "plan 1 of 3 says that it is of rank 2 of 3"},
      {"ranks", flat, [](Plans& p) { p[1].ranks = 4; }, "plan 1 of 3 says that it is of rank 1 of 4"},
      {"root", flat, [](Plans& p) { p[0].root = 3; }, "rank 0: root 3 is no rank"},
      {"roots_differ", flat, [](Plans& p) { p[1].root = 1; }, "rank 1 and rank 0 do not agree"},
      {"collectives_differ", flat, [](Plans& p) { p[1].collective = Collective::kReduce; }, "do not agree"},
      {"algorithms_differ", flat, [](Plans& p) { p[2].algorithm = "ring"; }, "rank 2 and rank 0 do not agree"},
      {"credits_differ", flat, [](Plans& p) { p[2].credit = 2; }, "rank 2 declares credit 2, rank 0 credit 1"},
      {"credit_zero", flat, [](Plans& p) { p[0].credit = 0; }, "rank 0: credit 0 is not within"},
      {"window_zero", flat, [](Plans& p) { p[0].window = 0; }, "rank 0: window 0 is not within"},
      {"window_huge", flat, [](Plans& p) { p[0].window = 1 << 30; }, "is not within 1..64"},
      {"parts_differ", flat, [](Plans& p) { p[1].input.chunks = p[1].output.chunks = 2; }, "rank 1 cuts the vector"},
      {"parts_of_input", flat, [](Plans& p) { p[1].output.chunks = 2; }, "rank 1 cuts the vector"},
      {"no_output", flat, [](Plans& p) { p[0].output.chunks = 0; }, "rank 0: the output's layout is not that of"},
      {"blocks_for_parts", flat, [](Plans& p) { p[0].input.cut = Cut::kBlocks; }, "rank 0: the input's layout"},
      {"blocks_missing", pairwise, [](Plans& p) { p[0].output.chunks = 2; }, "rank 0: the output's layout"},
      {"scratch_of_scratch", flat, [](Plans& p) { p[0].scratch[0].space = Space::kScratch; }, "scratch chunk 0 is not"},
      {"scratch_of_two", flat, [](Plans& p) { p[0].scratch[1].runs[0].count = 2; }, "scratch chunk 1 is not modelled"},
      {"stream_rank", flat, [](Plans& p) { p[0].streams[0].sender = 3; }, "stream 0 names a rank that is not within"},
      {"receivers_order", flat,
       [](Plans& p) {
         p[0].streams[0].receivers = {2, 1};
       },
       "are not ascending"},
      {"receivers_twice", flat,
       [](Plans& p) {
         p[0].streams[0].receivers = {1, 1};
       },
       "are not ascending"},
      {"receivers_self", flat,
       [](Plans& p) {
         p[0].streams[0].receivers = {0, 1};
       },
       "without the sender"},
      {"receivers_none", flat, [](Plans& p) { p[0].streams[0].receivers = {}; }, "not empty"},
      {"stream_twice", flat, [](Plans& p) { p[0].streams.push_back(p[0].streams[0]); }, "stream 3 (0->{1,2}#0) is"},
      {"no_source", flat, [](Plans& p) { step_of(p, 0, 0, 0).sources.clear(); }, "lane 0, step 0: no source"},
      {"no_destination", flat, [](Plans& p) { step_of(p, 0, 0, 0).destinations.clear(); }, "step 0: no destination"},
      {"no_shape", flat, [](Plans& p) { step_of(p, 0, 0, 0).shape.runs.clear(); }, "the region of a shape is empty"},
      {"run_below", flat, [](Plans& p) { step_of(p, 0, 0, 0).sources[0] = in(-1); }, "1 chunks from input chunk -1"},
      {"run_above", flat, [](Plans& p) { step_of(p, 0, 0, 0).sources[0] = in(0, 2); }, "2 chunks from input chunk 0"},
      {"run_overflow", flat, [](Plans& p) { step_of(p, 0, 0, 0).sources[0] = in(1, 0x7fffffff); }, "where there are 1"},
      {"run_empty", flat, [](Plans& p) { step_of(p, 0, 0, 0).sources[0] = in(0, 0); }, "0 chunks from input chunk 0"},
      {"into_input", flat,
       [](Plans& p) {
         step_of(p, 0, 3, 0).destinations[0] = {-1, in(0).region};
       },
       "into the input"},
      {"stream_index", flat, [](Plans& p) { step_of(p, 0, 0, 0).destinations[0] = send(9); },
       "stream 9 does not exist"},
      {"not_sender", flat, [](Plans& p) { step_of(p, 0, 0, 0).destinations[0] = send(1); }, "it is not the sender"},
      {"not_receiver", flat, [](Plans& p) { step_of(p, 0, 1, 0).sources[0] = recv(0); }, "of which it is no receiver"},
      {"stream_twice_in_step", flat,
       [](Plans& p) { step_of(p, 0, 0, 0).destinations.push_back(step_of(p, 0, 0, 0).destinations[0]); },
       "sends twice on stream"},
      {"two_messages_in_step", flat,
       [](Plans& p) { step_of(p, 0, 1, 0).sources.push_back(step_of(p, 0, 1, 0).sources[0]); }, "takes two messages"},
      {"arithmetic", pairwise, [](Plans& p) { step_of(p, 0, 0, 0).apply_post = true; }, "arithmetic, in a collective"},
      {"after_lane", flat,
       [](Plans& p) {
         step_of(p, 0, 0, 0).after.push_back({7, 0, 0, false});
       },
       "does not exist"},
      {"after_step", flat,
       [](Plans& p) {
         step_of(p, 0, 0, 0).after.push_back({1, 1, 0, false});
       },
       "does not exist"},
      {"after_future", flat,
       [](Plans& p) {
         step_of(p, 0, 0, 0).after.push_back({1, 0, -1, false});
       },
       "comes later"},
      {"issue_twice", flat, [](Plans& p) { step_of(p, 0, 1, 0).issue = 0; }, "two steps have issue 0"},
      {"issue_descending", examples::ring(3), [](Plans& p) { step_of(p, 0, 0, 2).issue = 0; }, "issue 0 is not above"},
      {"no_plans", flat, [](Plans& p) { p.clear(); }, "no plans"},
  };
}

std::string name_of_case(const testing::TestParamInfo<Fault>& info) { return info.param.name; }

INSTANTIATE_TEST_SUITE_P(Meaning, VerifyFault, testing::ValuesIn(meaning_faults()), name_of_case);
INSTANTIATE_TEST_SUITE_P(Messages, VerifyFault, testing::ValuesIn(message_faults()), name_of_case);
INSTANTIATE_TEST_SUITE_P(Races, VerifyFault, testing::ValuesIn(race_faults()), name_of_case);
INSTANTIATE_TEST_SUITE_P(Progress, VerifyFault, testing::ValuesIn(progress_faults()), name_of_case);
INSTANTIATE_TEST_SUITE_P(Structure, VerifyFault, testing::ValuesIn(structure_faults()), name_of_case);

}  // namespace
}  // namespace hawser::plan
