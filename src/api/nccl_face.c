// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// libnccl.so.2: NCCL's names, each a jump to its twin in libhawser.so.0. As in NCCL the strong name is pnccl*, and nccl*
// is a weak second name of the same code, so that a profiler may define its own.
// Written by tools/generate_api.py; do not edit.

#include "nccl_face.h"

ncclResult_t pncclGetVersion(int* version) { return hawserGetVersion(version); }
HAWSER_WEAK_NAME(ncclGetVersion)

const char* pncclGetErrorString(ncclResult_t result) { return hawserGetErrorString(result); }
HAWSER_WEAK_NAME(ncclGetErrorString)

const char* pncclGetLastError(ncclComm_t comm) { return hawserGetLastError(comm); }
HAWSER_WEAK_NAME(ncclGetLastError)

void pncclResetDebugInit(void) { hawserResetDebugInit(); }
HAWSER_WEAK_NAME(ncclResetDebugInit)

ncclResult_t pncclGetUniqueId(ncclUniqueId* unique_id) { return hawserGetUniqueId(unique_id); }
HAWSER_WEAK_NAME(ncclGetUniqueId)

ncclResult_t pncclCommInitRank(ncclComm_t* comm, int nranks, ncclUniqueId comm_id, int rank) {
  return hawserCommInitRank(comm, nranks, comm_id, rank);
}
HAWSER_WEAK_NAME(ncclCommInitRank)

ncclResult_t pncclCommInitRankConfig(ncclComm_t* comm, int nranks, ncclUniqueId comm_id, int rank,
                                     ncclConfig_t* config) {
  return hawserCommInitRankConfig(comm, nranks, comm_id, rank, config);
}
HAWSER_WEAK_NAME(ncclCommInitRankConfig)

ncclResult_t pncclCommInitRankScalable(ncclComm_t* newcomm, int nranks, int myrank, int n_id, ncclUniqueId* comm_ids,
                                       ncclConfig_t* config) {
  return hawserCommInitRankScalable(newcomm, nranks, myrank, n_id, comm_ids, config);
}
HAWSER_WEAK_NAME(ncclCommInitRankScalable)

ncclResult_t pncclCommInitAll(ncclComm_t* comm, int ndev, const int* devlist) {
  return hawserCommInitAll(comm, ndev, devlist);
}
HAWSER_WEAK_NAME(ncclCommInitAll)

ncclResult_t pncclCommSplit(ncclComm_t comm, int color, int key, ncclComm_t* newcomm, ncclConfig_t* config) {
  return hawserCommSplit(comm, color, key, newcomm, config);
}
HAWSER_WEAK_NAME(ncclCommSplit)

ncclResult_t pncclCommShrink(ncclComm_t comm, int* exclude_ranks_list, int exclude_ranks_count, ncclComm_t* newcomm,
                             ncclConfig_t* config, int shrink_flags) {
  return hawserCommShrink(comm, exclude_ranks_list, exclude_ranks_count, newcomm, config, shrink_flags);
}
HAWSER_WEAK_NAME(ncclCommShrink)

ncclResult_t pncclCommGetUniqueId(ncclComm_t comm, ncclUniqueId* unique_id) {
  return hawserCommGetUniqueId(comm, unique_id);
}
HAWSER_WEAK_NAME(ncclCommGetUniqueId)

ncclResult_t pncclCommGrow(ncclComm_t comm, int n_ranks, const ncclUniqueId* unique_id, int rank, ncclComm_t* newcomm,
                           ncclConfig_t* config) {
  return hawserCommGrow(comm, n_ranks, unique_id, rank, newcomm, config);
}
HAWSER_WEAK_NAME(ncclCommGrow)

ncclResult_t pncclSetEncryption(const ncclEncryptionConfig_t* config) { return hawserSetEncryption(config); }
HAWSER_WEAK_NAME(ncclSetEncryption)

ncclResult_t pncclCommFinalize(ncclComm_t comm) { return hawserCommFinalize(comm); }
HAWSER_WEAK_NAME(ncclCommFinalize)

ncclResult_t pncclCommDestroy(ncclComm_t comm) { return hawserCommDestroy(comm); }
HAWSER_WEAK_NAME(ncclCommDestroy)

ncclResult_t pncclCommAbort(ncclComm_t comm) { return hawserCommAbort(comm); }
HAWSER_WEAK_NAME(ncclCommAbort)

ncclResult_t pncclCommRevoke(ncclComm_t comm, int revoke_flags) { return hawserCommRevoke(comm, revoke_flags); }
HAWSER_WEAK_NAME(ncclCommRevoke)

ncclResult_t pncclCommGetAsyncError(ncclComm_t comm, ncclResult_t* async_error) {
  return hawserCommGetAsyncError(comm, async_error);
}
HAWSER_WEAK_NAME(ncclCommGetAsyncError)

ncclResult_t pncclCommCount(const ncclComm_t comm, int* count) { return hawserCommCount(comm, count); }
HAWSER_WEAK_NAME(ncclCommCount)

ncclResult_t pncclCommCuDevice(const ncclComm_t comm, int* device) { return hawserCommCuDevice(comm, device); }
HAWSER_WEAK_NAME(ncclCommCuDevice)

ncclResult_t pncclCommUserRank(const ncclComm_t comm, int* rank) { return hawserCommUserRank(comm, rank); }
HAWSER_WEAK_NAME(ncclCommUserRank)

ncclResult_t pncclCommMemStats(ncclComm_t comm, ncclCommMemStat_t stat, uint64_t* value) {
  return hawserCommMemStats(comm, stat, value);
}
HAWSER_WEAK_NAME(ncclCommMemStats)

ncclResult_t pncclCommSuspend(ncclComm_t comm, int flags) { return hawserCommSuspend(comm, flags); }
HAWSER_WEAK_NAME(ncclCommSuspend)

ncclResult_t pncclCommResume(ncclComm_t comm) { return hawserCommResume(comm); }
HAWSER_WEAK_NAME(ncclCommResume)

ncclResult_t pncclMemAlloc(void** ptr, size_t size) { return hawserMemAlloc(ptr, size); }
HAWSER_WEAK_NAME(ncclMemAlloc)

ncclResult_t pncclMemFree(void* ptr) { return hawserMemFree(ptr); }
HAWSER_WEAK_NAME(ncclMemFree)

ncclResult_t pncclCommRegister(const ncclComm_t comm, void* buff, size_t size, void** handle) {
  return hawserCommRegister(comm, buff, size, handle);
}
HAWSER_WEAK_NAME(ncclCommRegister)

ncclResult_t pncclCommDeregister(const ncclComm_t comm, void* handle) { return hawserCommDeregister(comm, handle); }
HAWSER_WEAK_NAME(ncclCommDeregister)

ncclResult_t pncclCommWindowRegister(ncclComm_t comm, void* buff, size_t size, ncclWindow_t* win, int win_flags) {
  return hawserCommWindowRegister(comm, buff, size, win, win_flags);
}
HAWSER_WEAK_NAME(ncclCommWindowRegister)

ncclResult_t pncclCommWindowDeregister(ncclComm_t comm, ncclWindow_t win) {
  return hawserCommWindowDeregister(comm, win);
}
HAWSER_WEAK_NAME(ncclCommWindowDeregister)

ncclResult_t pncclWinGetUserPtr(ncclComm_t comm, ncclWindow_t win, void** out_user_ptr) {
  return hawserWinGetUserPtr(comm, win, out_user_ptr);
}
HAWSER_WEAK_NAME(ncclWinGetUserPtr)

ncclResult_t pncclRedOpCreatePreMulSum(ncclRedOp_t* op, void* scalar, ncclDataType_t datatype,
                                       ncclScalarResidence_t residence, ncclComm_t comm) {
  return hawserRedOpCreatePreMulSum(op, scalar, datatype, residence, comm);
}
HAWSER_WEAK_NAME(ncclRedOpCreatePreMulSum)

ncclResult_t pncclRedOpDestroy(ncclRedOp_t op, ncclComm_t comm) { return hawserRedOpDestroy(op, comm); }
HAWSER_WEAK_NAME(ncclRedOpDestroy)

ncclResult_t pncclReduce(const void* sendbuff, void* recvbuff, size_t count, ncclDataType_t datatype, ncclRedOp_t op,
                         int root, ncclComm_t comm, cudaStream_t stream) {
  return hawserReduce(sendbuff, recvbuff, count, datatype, op, root, comm, stream);
}
HAWSER_WEAK_NAME(ncclReduce)

ncclResult_t pncclBcast(void* buff, size_t count, ncclDataType_t datatype, int root, ncclComm_t comm,
                        cudaStream_t stream) {
  return hawserBcast(buff, count, datatype, root, comm, stream);
}
HAWSER_WEAK_NAME(ncclBcast)

ncclResult_t pncclBroadcast(const void* sendbuff, void* recvbuff, size_t count, ncclDataType_t datatype, int root,
                            ncclComm_t comm, cudaStream_t stream) {
  return hawserBroadcast(sendbuff, recvbuff, count, datatype, root, comm, stream);
}
HAWSER_WEAK_NAME(ncclBroadcast)

ncclResult_t pncclAllReduce(const void* sendbuff, void* recvbuff, size_t count, ncclDataType_t datatype, ncclRedOp_t op,
                            ncclComm_t comm, cudaStream_t stream) {
  return hawserAllReduce(sendbuff, recvbuff, count, datatype, op, comm, stream);
}
HAWSER_WEAK_NAME(ncclAllReduce)

ncclResult_t pncclReduceScatter(const void* sendbuff, void* recvbuff, size_t recvcount, ncclDataType_t datatype,
                                ncclRedOp_t op, ncclComm_t comm, cudaStream_t stream) {
  return hawserReduceScatter(sendbuff, recvbuff, recvcount, datatype, op, comm, stream);
}
HAWSER_WEAK_NAME(ncclReduceScatter)

ncclResult_t pncclAllGather(const void* sendbuff, void* recvbuff, size_t sendcount, ncclDataType_t datatype,
                            ncclComm_t comm, cudaStream_t stream) {
  return hawserAllGather(sendbuff, recvbuff, sendcount, datatype, comm, stream);
}
HAWSER_WEAK_NAME(ncclAllGather)

ncclResult_t pncclAlltoAll(const void* sendbuff, void* recvbuff, size_t count, ncclDataType_t datatype, ncclComm_t comm,
                           cudaStream_t stream) {
  return hawserAlltoAll(sendbuff, recvbuff, count, datatype, comm, stream);
}
HAWSER_WEAK_NAME(ncclAlltoAll)

ncclResult_t pncclGather(const void* sendbuff, void* recvbuff, size_t count, ncclDataType_t datatype, int root,
                         ncclComm_t comm, cudaStream_t stream) {
  return hawserGather(sendbuff, recvbuff, count, datatype, root, comm, stream);
}
HAWSER_WEAK_NAME(ncclGather)

ncclResult_t pncclScatter(const void* sendbuff, void* recvbuff, size_t count, ncclDataType_t datatype, int root,
                          ncclComm_t comm, cudaStream_t stream) {
  return hawserScatter(sendbuff, recvbuff, count, datatype, root, comm, stream);
}
HAWSER_WEAK_NAME(ncclScatter)

ncclResult_t pncclReduceConfig(const void* sendbuff, void* recvbuff, size_t count, ncclDataType_t datatype,
                               ncclRedOp_t op, int root, ncclComm_t comm, cudaStream_t stream,
                               const ncclCollConfig_t* config) {
  return hawserReduceConfig(sendbuff, recvbuff, count, datatype, op, root, comm, stream, config);
}
HAWSER_WEAK_NAME(ncclReduceConfig)

ncclResult_t pncclBroadcastConfig(const void* sendbuff, void* recvbuff, size_t count, ncclDataType_t datatype, int root,
                                  ncclComm_t comm, cudaStream_t stream, const ncclCollConfig_t* config) {
  return hawserBroadcastConfig(sendbuff, recvbuff, count, datatype, root, comm, stream, config);
}
HAWSER_WEAK_NAME(ncclBroadcastConfig)

ncclResult_t pncclAllReduceConfig(const void* sendbuff, void* recvbuff, size_t count, ncclDataType_t datatype,
                                  ncclRedOp_t op, ncclComm_t comm, cudaStream_t stream,
                                  const ncclCollConfig_t* config) {
  return hawserAllReduceConfig(sendbuff, recvbuff, count, datatype, op, comm, stream, config);
}
HAWSER_WEAK_NAME(ncclAllReduceConfig)

ncclResult_t pncclReduceScatterConfig(const void* sendbuff, void* recvbuff, size_t recvcount, ncclDataType_t datatype,
                                      ncclRedOp_t op, ncclComm_t comm, cudaStream_t stream,
                                      const ncclCollConfig_t* config) {
  return hawserReduceScatterConfig(sendbuff, recvbuff, recvcount, datatype, op, comm, stream, config);
}
HAWSER_WEAK_NAME(ncclReduceScatterConfig)

ncclResult_t pncclAllGatherConfig(const void* sendbuff, void* recvbuff, size_t sendcount, ncclDataType_t datatype,
                                  ncclComm_t comm, cudaStream_t stream, const ncclCollConfig_t* config) {
  return hawserAllGatherConfig(sendbuff, recvbuff, sendcount, datatype, comm, stream, config);
}
HAWSER_WEAK_NAME(ncclAllGatherConfig)

ncclResult_t pncclAlltoAllConfig(const void* sendbuff, void* recvbuff, size_t count, ncclDataType_t datatype,
                                 ncclComm_t comm, cudaStream_t stream, const ncclCollConfig_t* config) {
  return hawserAlltoAllConfig(sendbuff, recvbuff, count, datatype, comm, stream, config);
}
HAWSER_WEAK_NAME(ncclAlltoAllConfig)

ncclResult_t pncclGatherConfig(const void* sendbuff, void* recvbuff, size_t count, ncclDataType_t datatype, int root,
                               ncclComm_t comm, cudaStream_t stream, const ncclCollConfig_t* config) {
  return hawserGatherConfig(sendbuff, recvbuff, count, datatype, root, comm, stream, config);
}
HAWSER_WEAK_NAME(ncclGatherConfig)

ncclResult_t pncclScatterConfig(const void* sendbuff, void* recvbuff, size_t count, ncclDataType_t datatype, int root,
                                ncclComm_t comm, cudaStream_t stream, const ncclCollConfig_t* config) {
  return hawserScatterConfig(sendbuff, recvbuff, count, datatype, root, comm, stream, config);
}
HAWSER_WEAK_NAME(ncclScatterConfig)

ncclResult_t pncclSend(const void* sendbuff, size_t count, ncclDataType_t datatype, int peer, ncclComm_t comm,
                       cudaStream_t stream) {
  return hawserSend(sendbuff, count, datatype, peer, comm, stream);
}
HAWSER_WEAK_NAME(ncclSend)

ncclResult_t pncclRecv(void* recvbuff, size_t count, ncclDataType_t datatype, int peer, ncclComm_t comm,
                       cudaStream_t stream) {
  return hawserRecv(recvbuff, count, datatype, peer, comm, stream);
}
HAWSER_WEAK_NAME(ncclRecv)

ncclResult_t pncclPutSignal(const void* localbuff, size_t count, ncclDataType_t datatype, int peer,
                            ncclWindow_t peer_win, size_t peer_win_offset, int sig_idx, int ctx, unsigned int flags,
                            ncclComm_t comm, cudaStream_t stream) {
  return hawserPutSignal(localbuff, count, datatype, peer, peer_win, peer_win_offset, sig_idx, ctx, flags, comm,
                         stream);
}
HAWSER_WEAK_NAME(ncclPutSignal)

ncclResult_t pncclSignal(int peer, int sig_idx, int ctx, unsigned int flags, ncclComm_t comm, cudaStream_t stream) {
  return hawserSignal(peer, sig_idx, ctx, flags, comm, stream);
}
HAWSER_WEAK_NAME(ncclSignal)

ncclResult_t pncclWaitSignal(int n_desc, ncclWaitSignalDesc_t* signal_descs, ncclComm_t comm, cudaStream_t stream) {
  return hawserWaitSignal(n_desc, signal_descs, comm, stream);
}
HAWSER_WEAK_NAME(ncclWaitSignal)

ncclResult_t pncclGroupStart(void) { return hawserGroupStart(); }
HAWSER_WEAK_NAME(ncclGroupStart)

ncclResult_t pncclGroupEnd(void) { return hawserGroupEnd(); }
HAWSER_WEAK_NAME(ncclGroupEnd)

ncclResult_t pncclGroupSimulateEnd(ncclSimInfo_t* sim_info) { return hawserGroupSimulateEnd(sim_info); }
HAWSER_WEAK_NAME(ncclGroupSimulateEnd)

ncclResult_t pncclParamBind(ncclParamHandle_t* out, const char* key) { return hawserParamBind(out, key); }
HAWSER_WEAK_NAME(ncclParamBind)

ncclResult_t pncclParamGetI8(ncclParamHandle_t h, int8_t* out) { return hawserParamGetI8(h, out); }
HAWSER_WEAK_NAME(ncclParamGetI8)

ncclResult_t pncclParamGetI16(ncclParamHandle_t h, int16_t* out) { return hawserParamGetI16(h, out); }
HAWSER_WEAK_NAME(ncclParamGetI16)

ncclResult_t pncclParamGetI32(ncclParamHandle_t h, int32_t* out) { return hawserParamGetI32(h, out); }
HAWSER_WEAK_NAME(ncclParamGetI32)

ncclResult_t pncclParamGetI64(ncclParamHandle_t h, int64_t* out) { return hawserParamGetI64(h, out); }
HAWSER_WEAK_NAME(ncclParamGetI64)

ncclResult_t pncclParamGetU8(ncclParamHandle_t h, uint8_t* out) { return hawserParamGetU8(h, out); }
HAWSER_WEAK_NAME(ncclParamGetU8)

ncclResult_t pncclParamGetU16(ncclParamHandle_t h, uint16_t* out) { return hawserParamGetU16(h, out); }
HAWSER_WEAK_NAME(ncclParamGetU16)

ncclResult_t pncclParamGetU32(ncclParamHandle_t h, uint32_t* out) { return hawserParamGetU32(h, out); }
HAWSER_WEAK_NAME(ncclParamGetU32)

ncclResult_t pncclParamGetU64(ncclParamHandle_t h, uint64_t* out) { return hawserParamGetU64(h, out); }
HAWSER_WEAK_NAME(ncclParamGetU64)

ncclResult_t pncclParamGetStr(ncclParamHandle_t h, const char** out) { return hawserParamGetStr(h, out); }
HAWSER_WEAK_NAME(ncclParamGetStr)

ncclResult_t pncclParamGet(ncclParamHandle_t h, void* out, int max_len, int* len) {
  return hawserParamGet(h, out, max_len, len);
}
HAWSER_WEAK_NAME(ncclParamGet)

ncclResult_t pncclParamGetParameter(const char* key, const char** value, int* value_len) {
  return hawserParamGetParameter(key, value, value_len);
}
HAWSER_WEAK_NAME(ncclParamGetParameter)

ncclResult_t pncclParamGetAllParameterKeys(const char*** table, int* table_len) {
  return hawserParamGetAllParameterKeys(table, table_len);
}
HAWSER_WEAK_NAME(ncclParamGetAllParameterKeys)

void pncclParamDumpAll(void) { hawserParamDumpAll(); }
HAWSER_WEAK_NAME(ncclParamDumpAll)

ncclResult_t pncclCommQueryProperties(ncclComm_t comm, struct ncclCommProperties* properties) {
  return hawserCommQueryProperties(comm, properties);
}
HAWSER_WEAK_NAME(ncclCommQueryProperties)

ncclResult_t pncclDevCommCreate(ncclComm_t comm, const struct ncclDevCommRequirements* requirements,
                                struct ncclDevComm* dev_comm) {
  return hawserDevCommCreate(comm, requirements, dev_comm);
}
HAWSER_WEAK_NAME(ncclDevCommCreate)

ncclResult_t pncclDevCommDestroy(ncclComm_t comm, const struct ncclDevComm* dev_comm) {
  return hawserDevCommDestroy(comm, dev_comm);
}
HAWSER_WEAK_NAME(ncclDevCommDestroy)

ncclResult_t pncclGetCftDeviceLeInfo(ncclWindow_t window, size_t offset, int peer, struct ncclTeam team,
                                     uint32_t* le_id, size_t* le_offset) {
  return hawserGetCftDeviceLeInfo(window, offset, peer, team, le_id, le_offset);
}
HAWSER_WEAK_NAME(ncclGetCftDeviceLeInfo)

ncclResult_t pncclGetLsaDevicePointer(ncclWindow_t window, size_t offset, int lsa_rank, void** pointer) {
  return hawserGetLsaDevicePointer(window, offset, lsa_rank, pointer);
}
HAWSER_WEAK_NAME(ncclGetLsaDevicePointer)

ncclResult_t pncclGetLsaMultimemDevicePointer(ncclWindow_t window, size_t offset, void** pointer) {
  return hawserGetLsaMultimemDevicePointer(window, offset, pointer);
}
HAWSER_WEAK_NAME(ncclGetLsaMultimemDevicePointer)

ncclResult_t pncclGetMultimemDeviceLeInfo(ncclWindow_t window, size_t offset, uint32_t* le_id, size_t* le_offset) {
  return hawserGetMultimemDeviceLeInfo(window, offset, le_id, le_offset);
}
HAWSER_WEAK_NAME(ncclGetMultimemDeviceLeInfo)

ncclResult_t pncclGetMultimemDevicePointer(ncclWindow_t window, size_t offset, struct ncclMultimemHandle multimem,
                                           void** pointer) {
  return hawserGetMultimemDevicePointer(window, offset, multimem, pointer);
}
HAWSER_WEAK_NAME(ncclGetMultimemDevicePointer)

ncclResult_t pncclGetPeerDeviceLeInfo(ncclWindow_t window, size_t offset, int peer, uint32_t* le_id,
                                      size_t* le_offset) {
  return hawserGetPeerDeviceLeInfo(window, offset, peer, le_id, le_offset);
}
HAWSER_WEAK_NAME(ncclGetPeerDeviceLeInfo)

ncclResult_t pncclGetPeerDevicePointer(ncclWindow_t window, size_t offset, int peer, void** pointer) {
  return hawserGetPeerDevicePointer(window, offset, peer, pointer);
}
HAWSER_WEAK_NAME(ncclGetPeerDevicePointer)

ncclResult_t pncclGinBarrierCreateRequirement(ncclComm_t comm, struct ncclTeam team, int barriers,
                                              struct ncclGinBarrierHandle* handle,
                                              struct ncclDevResourceRequirements* requirements) {
  return hawserGinBarrierCreateRequirement(comm, team, barriers, handle, requirements);
}
HAWSER_WEAK_NAME(ncclGinBarrierCreateRequirement)

ncclResult_t pncclGinInboxA2ACreateRequirement(void) { return hawserGinInboxA2ACreateRequirement(); }
HAWSER_WEAK_NAME(ncclGinInboxA2ACreateRequirement)

ncclResult_t pncclGinOutboxCreateRequirement(void) { return hawserGinOutboxCreateRequirement(); }
HAWSER_WEAK_NAME(ncclGinOutboxCreateRequirement)

int pncclLLA2ACalcSlots(int max_elements, int max_element_bytes) {
  return hawserLLA2ACalcSlots(max_elements, max_element_bytes);
}
HAWSER_WEAK_NAME(ncclLLA2ACalcSlots)

ncclResult_t pncclLLA2ACreateRequirement(int blocks, int slots, struct ncclLLA2AHandle* handle,
                                         struct ncclDevResourceRequirements* requirements) {
  return hawserLLA2ACreateRequirement(blocks, slots, handle, requirements);
}
HAWSER_WEAK_NAME(ncclLLA2ACreateRequirement)

ncclResult_t pncclLsaBarrierCreateRequirement(struct ncclTeam team, int barriers, struct ncclLsaBarrierHandle* handle,
                                              struct ncclDevResourceRequirements* requirements) {
  return hawserLsaBarrierCreateRequirement(team, barriers, handle, requirements);
}
HAWSER_WEAK_NAME(ncclLsaBarrierCreateRequirement)

void ncclResetDebugInitInternal(void) { hawserResetDebugInitInternal(); }

struct ncclTeam pncclTeamCft(ncclComm_t comm, unsigned int mode) {
  return hawserTeamCft(comm, mode);
}
HAWSER_WEAK_NAME(ncclTeamCft)

struct ncclTeam pncclTeamCftMultimem(ncclComm_t comm) {
  return hawserTeamCftMultimem(comm);
}
HAWSER_WEAK_NAME(ncclTeamCftMultimem)

struct ncclTeam pncclTeamLsa(ncclComm_t comm) {
  return hawserTeamLsa(comm);
}
HAWSER_WEAK_NAME(ncclTeamLsa)

struct ncclTeam pncclTeamRail(ncclComm_t comm) {
  return hawserTeamRail(comm);
}
HAWSER_WEAK_NAME(ncclTeamRail)

int pncclTeamRankToLsa(ncclComm_t comm, struct ncclTeam team, int rank) {
  return hawserTeamRankToLsa(comm, team, rank);
}
HAWSER_WEAK_NAME(ncclTeamRankToLsa)

int pncclTeamRankToWorld(ncclComm_t comm, struct ncclTeam team, int rank) {
  return hawserTeamRankToWorld(comm, team, rank);
}
HAWSER_WEAK_NAME(ncclTeamRankToWorld)

struct ncclTeam pncclTeamWorld(ncclComm_t comm) {
  return hawserTeamWorld(comm);
}
HAWSER_WEAK_NAME(ncclTeamWorld)
