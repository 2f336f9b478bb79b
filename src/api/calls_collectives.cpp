// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// Collectives: the arguments are checked here and become a call of src/group. This is the start of the fast path: what
// follows from here for a small message allocates nothing and takes no lock.
#include "api/checks.h"
#include "api/exports.h"
#include "api/guard.h"
#include "group/group.h"

using hawser::DataType;
using hawser::ReduceOp;
using hawser::Status;
using hawser::api::guard;

ncclResult_t hawserAllReduce(const void* sendbuff, void* recvbuff, size_t count, ncclDataType_t datatype,
                             ncclRedOp_t op, ncclComm_t comm, cudaStream_t stream) {
  return guard([&]() -> Status {
    HAWSER_TRY(hawser::api::check_communicator(comm, "AllReduce"));
    HAWSER_TRY(hawser::api::check_data_type(datatype, "AllReduce"));
    HAWSER_TRY(hawser::api::check_reduction(op, "AllReduce"));
    HAWSER_TRY(hawser::api::check_buffer(sendbuff, count, datatype, "AllReduce", "sendbuff"));
    HAWSER_TRY(hawser::api::check_buffer(recvbuff, count, datatype, "AllReduce", "recvbuff"));
    HAWSER_TRY(hawser::api::check_stream(stream, "AllReduce"));
    return hawser::group::all_reduce({
        .send = sendbuff,
        .receive = recvbuff,
        .count = count,
        .type = static_cast<DataType>(datatype),
        .op = static_cast<ReduceOp>(op),
        .comm = hawser::api::to_communicator(comm),
    });
  });
}
