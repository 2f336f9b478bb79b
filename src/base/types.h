// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// Element types, reductions and collectives, as every room names them. Values equal those of nccl.h where nccl.h has
// them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace hawser {

/// Element types; the values are those of ncclDataType_t.
enum class DataType : std::uint8_t {
  kInt8 = 0,
  kUint8 = 1,
  kInt32 = 2,
  kUint32 = 3,
  kInt64 = 4,
  kUint64 = 5,
  kFloat16 = 6,
  kFloat32 = 7,
  kFloat64 = 8,
  kBfloat16 = 9,
  kFloat8e4m3 = 10,
  kFloat8e5m2 = 11,
};
inline constexpr int kDataTypeCount = 12;

/// Reductions as a user asks for them; the first five values are those of ncclRedOp_t. kPreMulSum stands for every
/// handle that ncclRedOpCreatePreMulSum gave out: each rank's input is multiplied by its scalar, then summed.
enum class ReduceOp : std::uint8_t { kSum = 0, kProd = 1, kMax = 2, kMin = 3, kAvg = 4, kPreMulSum = 5 };
inline constexpr int kReduceOpCount = 6;

enum class Collective : std::uint8_t {
  kAllReduce,
  kAllGather,
  kReduceScatter,
  kBroadcast,
  kReduce,
  kAllToAll,
  kGather,
  kScatter,
};
inline constexpr int kCollectiveCount = 8;

/// Bytes of one element.
constexpr std::size_t size_of(DataType type) {
  switch (type) {
    case DataType::kInt8:
    case DataType::kUint8:
    case DataType::kFloat8e4m3:
    case DataType::kFloat8e5m2:
      return 1;
    case DataType::kFloat16:
    case DataType::kBfloat16:
      return 2;
    case DataType::kInt32:
    case DataType::kUint32:
    case DataType::kFloat32:
      return 4;
    case DataType::kInt64:
    case DataType::kUint64:
    case DataType::kFloat64:
      return 8;
  }
  return 0;
}

/// nccl-tests' short names: "float", "half", "bfloat16", ...
std::string_view name_of(DataType type);
/// nccl-tests' short names: "sum", "prod", ...
std::string_view name_of(ReduceOp op);
/// "all_reduce", "all_gather", ...
std::string_view name_of(Collective collective);

}  // namespace hawser
