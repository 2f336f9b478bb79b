// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
#include "api/comm_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <climits>
#include <cstddef>
#include <cstring>

namespace hawser::api {

namespace {

/// One member of ncclConfig_t that is a number. A program's version says whether it knew the member: up to the size that
/// its record has, what it did not know is padding.
struct Number {
  std::string_view name;
  int ncclConfig_t::*member;
  unsigned int since;  ///< first NCCL_VERSION_CODE that has it
  int lowest;
  int highest;
};

constexpr std::array kNumbers = {
    Number{"blocking", &ncclConfig_t::blocking, 21400, 0, 1},
    Number{"cgaClusterSize", &ncclConfig_t::cgaClusterSize, 21700, 0, INT_MAX},
    Number{"minCTAs", &ncclConfig_t::minCTAs, 21700, 1, INT_MAX},
    Number{"maxCTAs", &ncclConfig_t::maxCTAs, 21700, 1, INT_MAX},
    Number{"splitShare", &ncclConfig_t::splitShare, 21800, 0, 1},
    Number{"trafficClass", &ncclConfig_t::trafficClass, 22600, INT_MIN, INT_MAX},
    Number{"collnetEnable", &ncclConfig_t::collnetEnable, 22700, 0, 1},
    Number{"CTAPolicy", &ncclConfig_t::CTAPolicy, 22700, 0, NCCL_CTA_POLICY_EFFICIENCY | NCCL_CTA_POLICY_ZERO},
    Number{"shrinkShare", &ncclConfig_t::shrinkShare, 22700, 0, 1},
    Number{"nvlsCTAs", &ncclConfig_t::nvlsCTAs, 22700, 1, INT_MAX},
    Number{"nChannelsPerNetPeer", &ncclConfig_t::nChannelsPerNetPeer, 22800, 1, 64},
    Number{"nvlinkCentricSched", &ncclConfig_t::nvlinkCentricSched, 22800, 0, 1},
    Number{"graphUsageMode", &ncclConfig_t::graphUsageMode, 22900, 0, 2},
    Number{"numRmaCtx", &ncclConfig_t::numRmaCtx, 22900, 1, INT_MAX},
    Number{"maxP2pPeers", &ncclConfig_t::maxP2pPeers, 23000, 1, INT_MAX},
    Number{"graphStreamOrdering", &ncclConfig_t::graphStreamOrdering, 23005, 0, 1},
    Number{"launchOrderImplicit", &ncclConfig_t::launchOrderImplicit, 23100, 0, 1},
    Number{"numRmaSig", &ncclConfig_t::numRmaSig, 23100, 0, INT_MAX},
    Number{"rmaEagerInit", &ncclConfig_t::rmaEagerInit, 23100, 0, 1},
    Number{"hostCftMode", &ncclConfig_t::hostCftMode, 23100, ncclHostCftEnable, ncclHostCftFallback},
    Number{"nvlsHostMode", &ncclConfig_t::nvlsHostMode, 23200, ncclNvlsHostModeEnable, ncclNvlsHostModeDisable},
};

struct Text {
  const char* ncclConfig_t::*member;
  unsigned int since;
};

constexpr std::array kTexts = {
    Text{&ncclConfig_t::netName, 21700},
    Text{&ncclConfig_t::commName, 22700},
};

/// Size of the record up to its first member: less is none.
constexpr std::size_t kSmallestBytes = offsetof(ncclConfig_t, blocking) + sizeof(int);

Status not_initialized(std::string_view call) {
  return {Code::kInvalidArgument,
          fmt::format("{} : ncclConfig_t argument not initialized via NCCL_CONFIG_INITIALIZER", call)};
}

Status out_of_range(std::string_view call, const Number& number, int value) {
  const std::string range = number.highest == INT_MAX ? fmt::format("at least {}", number.lowest)
                                                      : fmt::format("{} to {}", number.lowest, number.highest);
  return {Code::kInvalidArgument,
          fmt::format("{} : invalid config member {} {}: it may be {}", call, number.name, value, range)};
}

}  // namespace

Result<ncclConfig_t> complete_config(const ncclConfig_t* config, std::string_view call) {
  const ncclConfig_t undefined = NCCL_CONFIG_INITIALIZER;
  if (config == nullptr) return undefined;
  // The caller's record may be shorter than the type says: it is never used as a whole.
  std::size_t bytes = 0;
  std::memcpy(&bytes, config, sizeof(bytes));
  if (bytes < kSmallestBytes) return not_initialized(call);
  ncclConfig_t own = undefined;
  std::memcpy(static_cast<void*>(&own), config, std::min(bytes, sizeof(own)));
  if (own.magic != NCCL_API_MAGIC) return not_initialized(call);
  for (const Number& number : kNumbers) {
    if (own.version < number.since) own.*number.member = undefined.*number.member;
  }
  for (const Text& text : kTexts) {
    if (own.version < text.since) own.*text.member = undefined.*text.member;
  }
  own.size = sizeof(own);
  return own;
}

Status check_config(const ncclConfig_t& config, std::string_view call) {
  for (const Number& number : kNumbers) {
    const int value = config.*number.member;
    if (value == NCCL_CONFIG_UNDEF_INT) continue;
    if (value < number.lowest || value > number.highest) return out_of_range(call, number, value);
  }
  const bool both_set = config.minCTAs != NCCL_CONFIG_UNDEF_INT && config.maxCTAs != NCCL_CONFIG_UNDEF_INT;
  if (both_set && config.minCTAs > config.maxCTAs)
    return {Code::kInvalidArgument, fmt::format("{} : invalid config members minCTAs {} and maxCTAs {}: the first is "
                                                "the larger one",
                                                call, config.minCTAs, config.maxCTAs)};
  return {};
}

}  // namespace hawser::api
