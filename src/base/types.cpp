// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
#include "base/types.h"

#include <array>

namespace hawser {

std::string_view name_of(DataType type) {
  static constexpr std::array<std::string_view, kDataTypeCount> names = {
      "int8", "uint8", "int32", "uint32", "int64", "uint64", "half", "float", "double", "bfloat16", "f8e4m3", "f8e5m2"};
  return names.at(static_cast<std::size_t>(type));
}

std::string_view name_of(ReduceOp op) {
  static constexpr std::array<std::string_view, kReduceOpCount> names = {"sum", "prod", "max", "min", "avg", "mulsum"};
  return names.at(static_cast<std::size_t>(op));
}

std::string_view name_of(Collective collective) {
  static constexpr std::array<std::string_view, kCollectiveCount> names = {
      "all_reduce", "all_gather", "reduce_scatter", "broadcast", "reduce", "all_to_all", "gather", "scatter"};
  return names.at(static_cast<std::size_t>(collective));
}

}  // namespace hawser
