// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// Hawser under its own names: each call is the twin of the NCCL call with the same ending, whose contract nccl.h states.
// A program that links libhawser gets Hawser, whatever libnccl.so.2 is in the same process. C99 or C++11.
// Written by tools/generate_api.py; do not edit.
#ifndef HAWSER_HAWSER_H_
#define HAWSER_HAWSER_H_

#include <nccl.h>
#include <stddef.h>
#include <stdint.h>

#if NCCL_VERSION_CODE < 23203
#error "an older nccl.h comes first on the include path: put the one installed beside this header before it"
#endif

#define HAWSER_VERSION_MAJOR 0
#define HAWSER_VERSION_MINOR 1
#define HAWSER_VERSION_PATCH 0
#define HAWSER_VERSION "0.1.0"

#ifdef __cplusplus
extern "C" {
#endif

ncclResult_t hawserGetVersion(int* version);
const char* hawserGetErrorString(ncclResult_t result);
const char* hawserGetLastError(ncclComm_t comm);
void hawserResetDebugInit(void);
ncclResult_t hawserGetUniqueId(ncclUniqueId* unique_id);
ncclResult_t hawserCommInitRank(ncclComm_t* comm, int nranks, ncclUniqueId comm_id, int rank);
ncclResult_t hawserCommInitRankConfig(ncclComm_t* comm, int nranks, ncclUniqueId comm_id, int rank,
                                      ncclConfig_t* config);
ncclResult_t hawserCommInitRankScalable(ncclComm_t* newcomm, int nranks, int myrank, int n_id, ncclUniqueId* comm_ids,
                                        ncclConfig_t* config);
ncclResult_t hawserCommInitAll(ncclComm_t* comm, int ndev, const int* devlist);
ncclResult_t hawserCommSplit(ncclComm_t comm, int color, int key, ncclComm_t* newcomm, ncclConfig_t* config);
ncclResult_t hawserCommShrink(ncclComm_t comm, int* exclude_ranks_list, int exclude_ranks_count, ncclComm_t* newcomm,
                              ncclConfig_t* config, int shrink_flags);
ncclResult_t hawserCommGetUniqueId(ncclComm_t comm, ncclUniqueId* unique_id);
ncclResult_t hawserCommGrow(ncclComm_t comm, int n_ranks, const ncclUniqueId* unique_id, int rank, ncclComm_t* newcomm,
                            ncclConfig_t* config);
ncclResult_t hawserSetEncryption(const ncclEncryptionConfig_t* config);
ncclResult_t hawserCommFinalize(ncclComm_t comm);
ncclResult_t hawserCommDestroy(ncclComm_t comm);
ncclResult_t hawserCommAbort(ncclComm_t comm);
ncclResult_t hawserCommRevoke(ncclComm_t comm, int revoke_flags);
ncclResult_t hawserCommGetAsyncError(ncclComm_t comm, ncclResult_t* async_error);
ncclResult_t hawserCommCount(const ncclComm_t comm, int* count);
ncclResult_t hawserCommCuDevice(const ncclComm_t comm, int* device);
ncclResult_t hawserCommUserRank(const ncclComm_t comm, int* rank);
ncclResult_t hawserCommMemStats(ncclComm_t comm, ncclCommMemStat_t stat, uint64_t* value);
ncclResult_t hawserCommSuspend(ncclComm_t comm, int flags);
ncclResult_t hawserCommResume(ncclComm_t comm);
ncclResult_t hawserMemAlloc(void** ptr, size_t size);
ncclResult_t hawserMemFree(void* ptr);
ncclResult_t hawserCommRegister(const ncclComm_t comm, void* buff, size_t size, void** handle);
ncclResult_t hawserCommDeregister(const ncclComm_t comm, void* handle);
ncclResult_t hawserCommWindowRegister(ncclComm_t comm, void* buff, size_t size, ncclWindow_t* win, int win_flags);
ncclResult_t hawserCommWindowDeregister(ncclComm_t comm, ncclWindow_t win);
ncclResult_t hawserWinGetUserPtr(ncclComm_t comm, ncclWindow_t win, void** out_user_ptr);
ncclResult_t hawserRedOpCreatePreMulSum(ncclRedOp_t* op, void* scalar, ncclDataType_t datatype,
                                        ncclScalarResidence_t residence, ncclComm_t comm);
ncclResult_t hawserRedOpDestroy(ncclRedOp_t op, ncclComm_t comm);
ncclResult_t hawserReduce(const void* sendbuff, void* recvbuff, size_t count, ncclDataType_t datatype, ncclRedOp_t op,
                          int root, ncclComm_t comm, cudaStream_t stream);
ncclResult_t hawserBcast(void* buff, size_t count, ncclDataType_t datatype, int root, ncclComm_t comm,
                         cudaStream_t stream);
ncclResult_t hawserBroadcast(const void* sendbuff, void* recvbuff, size_t count, ncclDataType_t datatype, int root,
                             ncclComm_t comm, cudaStream_t stream);
ncclResult_t hawserAllReduce(const void* sendbuff, void* recvbuff, size_t count, ncclDataType_t datatype,
                             ncclRedOp_t op, ncclComm_t comm, cudaStream_t stream);
ncclResult_t hawserReduceScatter(const void* sendbuff, void* recvbuff, size_t recvcount, ncclDataType_t datatype,
                                 ncclRedOp_t op, ncclComm_t comm, cudaStream_t stream);
ncclResult_t hawserAllGather(const void* sendbuff, void* recvbuff, size_t sendcount, ncclDataType_t datatype,
                             ncclComm_t comm, cudaStream_t stream);
ncclResult_t hawserAlltoAll(const void* sendbuff, void* recvbuff, size_t count, ncclDataType_t datatype,
                            ncclComm_t comm, cudaStream_t stream);
ncclResult_t hawserGather(const void* sendbuff, void* recvbuff, size_t count, ncclDataType_t datatype, int root,
                          ncclComm_t comm, cudaStream_t stream);
ncclResult_t hawserScatter(const void* sendbuff, void* recvbuff, size_t count, ncclDataType_t datatype, int root,
                           ncclComm_t comm, cudaStream_t stream);
ncclResult_t hawserReduceConfig(const void* sendbuff, void* recvbuff, size_t count, ncclDataType_t datatype,
                                ncclRedOp_t op, int root, ncclComm_t comm, cudaStream_t stream,
                                const ncclCollConfig_t* config);
ncclResult_t hawserBroadcastConfig(const void* sendbuff, void* recvbuff, size_t count, ncclDataType_t datatype,
                                   int root, ncclComm_t comm, cudaStream_t stream, const ncclCollConfig_t* config);
ncclResult_t hawserAllReduceConfig(const void* sendbuff, void* recvbuff, size_t count, ncclDataType_t datatype,
                                   ncclRedOp_t op, ncclComm_t comm, cudaStream_t stream,
                                   const ncclCollConfig_t* config);
ncclResult_t hawserReduceScatterConfig(const void* sendbuff, void* recvbuff, size_t recvcount, ncclDataType_t datatype,
                                       ncclRedOp_t op, ncclComm_t comm, cudaStream_t stream,
                                       const ncclCollConfig_t* config);
ncclResult_t hawserAllGatherConfig(const void* sendbuff, void* recvbuff, size_t sendcount, ncclDataType_t datatype,
                                   ncclComm_t comm, cudaStream_t stream, const ncclCollConfig_t* config);
ncclResult_t hawserAlltoAllConfig(const void* sendbuff, void* recvbuff, size_t count, ncclDataType_t datatype,
                                  ncclComm_t comm, cudaStream_t stream, const ncclCollConfig_t* config);
ncclResult_t hawserGatherConfig(const void* sendbuff, void* recvbuff, size_t count, ncclDataType_t datatype, int root,
                                ncclComm_t comm, cudaStream_t stream, const ncclCollConfig_t* config);
ncclResult_t hawserScatterConfig(const void* sendbuff, void* recvbuff, size_t count, ncclDataType_t datatype, int root,
                                 ncclComm_t comm, cudaStream_t stream, const ncclCollConfig_t* config);
ncclResult_t hawserSend(const void* sendbuff, size_t count, ncclDataType_t datatype, int peer, ncclComm_t comm,
                        cudaStream_t stream);
ncclResult_t hawserRecv(void* recvbuff, size_t count, ncclDataType_t datatype, int peer, ncclComm_t comm,
                        cudaStream_t stream);
ncclResult_t hawserPutSignal(const void* localbuff, size_t count, ncclDataType_t datatype, int peer,
                             ncclWindow_t peer_win, size_t peer_win_offset, int sig_idx, int ctx, unsigned int flags,
                             ncclComm_t comm, cudaStream_t stream);
ncclResult_t hawserSignal(int peer, int sig_idx, int ctx, unsigned int flags, ncclComm_t comm, cudaStream_t stream);
ncclResult_t hawserWaitSignal(int n_desc, ncclWaitSignalDesc_t* signal_descs, ncclComm_t comm, cudaStream_t stream);
ncclResult_t hawserGroupStart(void);
ncclResult_t hawserGroupEnd(void);
ncclResult_t hawserGroupSimulateEnd(ncclSimInfo_t* sim_info);
ncclResult_t hawserParamBind(ncclParamHandle_t* out, const char* key);
ncclResult_t hawserParamGetI8(ncclParamHandle_t h, int8_t* out);
ncclResult_t hawserParamGetI16(ncclParamHandle_t h, int16_t* out);
ncclResult_t hawserParamGetI32(ncclParamHandle_t h, int32_t* out);
ncclResult_t hawserParamGetI64(ncclParamHandle_t h, int64_t* out);
ncclResult_t hawserParamGetU8(ncclParamHandle_t h, uint8_t* out);
ncclResult_t hawserParamGetU16(ncclParamHandle_t h, uint16_t* out);
ncclResult_t hawserParamGetU32(ncclParamHandle_t h, uint32_t* out);
ncclResult_t hawserParamGetU64(ncclParamHandle_t h, uint64_t* out);
ncclResult_t hawserParamGetStr(ncclParamHandle_t h, const char** out);
ncclResult_t hawserParamGet(ncclParamHandle_t h, void* out, int max_len, int* len);
ncclResult_t hawserParamGetParameter(const char* key, const char** value, int* value_len);
ncclResult_t hawserParamGetAllParameterKeys(const char*** table, int* table_len);
void hawserParamDumpAll(void);

// Calls of NCCL's device header, nccl_device.h. It defines these records; here they are only named.
struct ncclCommProperties;
struct ncclDevComm;
struct ncclDevCommRequirements;
struct ncclDevResourceRequirements;
struct ncclGinBarrierHandle;
struct ncclLLA2AHandle;
struct ncclLsaBarrierHandle;
struct ncclMultimemHandle;
struct ncclTeam;

#ifdef __clang__
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wreturn-type-c-linkage"
#endif
ncclResult_t hawserCommQueryProperties(ncclComm_t comm, struct ncclCommProperties* properties);
ncclResult_t hawserDevCommCreate(ncclComm_t comm, const struct ncclDevCommRequirements* requirements,
                                 struct ncclDevComm* dev_comm);
ncclResult_t hawserDevCommDestroy(ncclComm_t comm, const struct ncclDevComm* dev_comm);
ncclResult_t hawserGetCftDeviceLeInfo(ncclWindow_t window, size_t offset, int peer, struct ncclTeam team,
                                      uint32_t* le_id, size_t* le_offset);
ncclResult_t hawserGetLsaDevicePointer(ncclWindow_t window, size_t offset, int lsa_rank, void** pointer);
ncclResult_t hawserGetLsaMultimemDevicePointer(ncclWindow_t window, size_t offset, void** pointer);
ncclResult_t hawserGetMultimemDeviceLeInfo(ncclWindow_t window, size_t offset, uint32_t* le_id, size_t* le_offset);
ncclResult_t hawserGetMultimemDevicePointer(ncclWindow_t window, size_t offset, struct ncclMultimemHandle multimem,
                                            void** pointer);
ncclResult_t hawserGetPeerDeviceLeInfo(ncclWindow_t window, size_t offset, int peer, uint32_t* le_id,
                                       size_t* le_offset);
ncclResult_t hawserGetPeerDevicePointer(ncclWindow_t window, size_t offset, int peer, void** pointer);
ncclResult_t hawserGinBarrierCreateRequirement(ncclComm_t comm, struct ncclTeam team, int barriers,
                                               struct ncclGinBarrierHandle* handle,
                                               struct ncclDevResourceRequirements* requirements);
ncclResult_t hawserGinInboxA2ACreateRequirement(void);
ncclResult_t hawserGinOutboxCreateRequirement(void);
int hawserLLA2ACalcSlots(int max_elements, int max_element_bytes);
ncclResult_t hawserLLA2ACreateRequirement(int blocks, int slots, struct ncclLLA2AHandle* handle,
                                          struct ncclDevResourceRequirements* requirements);
ncclResult_t hawserLsaBarrierCreateRequirement(struct ncclTeam team, int barriers, struct ncclLsaBarrierHandle* handle,
                                               struct ncclDevResourceRequirements* requirements);
void hawserResetDebugInitInternal(void);
struct ncclTeam hawserTeamCft(ncclComm_t comm, unsigned int mode);
struct ncclTeam hawserTeamCftMultimem(ncclComm_t comm);
struct ncclTeam hawserTeamLsa(ncclComm_t comm);
struct ncclTeam hawserTeamRail(ncclComm_t comm);
int hawserTeamRankToLsa(ncclComm_t comm, struct ncclTeam team, int rank);
int hawserTeamRankToWorld(ncclComm_t comm, struct ncclTeam team, int rank);
struct ncclTeam hawserTeamWorld(ncclComm_t comm);
#ifdef __clang__
#pragma clang diagnostic pop
#endif

#ifdef __cplusplus
}
#endif

#endif  // HAWSER_HAWSER_H_
