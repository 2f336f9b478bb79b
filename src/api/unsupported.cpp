// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// Calls that are exported but not there yet: each says so in ncclGetLastError() and returns what its type allows.
// Written by tools/generate_api.py; do not edit.
#include "api/exports.h"
#include "api/missing.h"

using hawser::api::missing;

void hawserResetDebugInit() { return missing<void>("ncclResetDebugInit"); }
ncclResult_t hawserCommInitRankScalable(ncclComm_t*, int, int, int, ncclUniqueId*, ncclConfig_t*) {
  return missing<ncclResult_t>("ncclCommInitRankScalable");
}
ncclResult_t hawserCommSplit(ncclComm_t, int, int, ncclComm_t*, ncclConfig_t*) {
  return missing<ncclResult_t>("ncclCommSplit");
}
ncclResult_t hawserCommShrink(ncclComm_t, int*, int, ncclComm_t*, ncclConfig_t*, int) {
  return missing<ncclResult_t>("ncclCommShrink");
}
ncclResult_t hawserCommGetUniqueId(ncclComm_t, ncclUniqueId*) { return missing<ncclResult_t>("ncclCommGetUniqueId"); }
ncclResult_t hawserCommGrow(ncclComm_t, int, const ncclUniqueId*, int, ncclComm_t*, ncclConfig_t*) {
  return missing<ncclResult_t>("ncclCommGrow");
}
ncclResult_t hawserSetEncryption(const ncclEncryptionConfig_t*) { return missing<ncclResult_t>("ncclSetEncryption"); }
ncclResult_t hawserCommRevoke(ncclComm_t, int) { return missing<ncclResult_t>("ncclCommRevoke"); }
ncclResult_t hawserCommMemStats(ncclComm_t, ncclCommMemStat_t, uint64_t*) {
  return missing<ncclResult_t>("ncclCommMemStats");
}
ncclResult_t hawserCommSuspend(ncclComm_t, int) { return missing<ncclResult_t>("ncclCommSuspend"); }
ncclResult_t hawserCommResume(ncclComm_t) { return missing<ncclResult_t>("ncclCommResume"); }
ncclResult_t hawserCommRegister(const ncclComm_t, void*, size_t, void**) {
  return missing<ncclResult_t>("ncclCommRegister");
}
ncclResult_t hawserCommDeregister(const ncclComm_t, void*) { return missing<ncclResult_t>("ncclCommDeregister"); }
ncclResult_t hawserCommWindowRegister(ncclComm_t, void*, size_t, ncclWindow_t*, int) {
  return missing<ncclResult_t>("ncclCommWindowRegister");
}
ncclResult_t hawserCommWindowDeregister(ncclComm_t, ncclWindow_t) {
  return missing<ncclResult_t>("ncclCommWindowDeregister");
}
ncclResult_t hawserWinGetUserPtr(ncclComm_t, ncclWindow_t, void**) {
  return missing<ncclResult_t>("ncclWinGetUserPtr");
}
ncclResult_t hawserRedOpCreatePreMulSum(ncclRedOp_t*, void*, ncclDataType_t, ncclScalarResidence_t, ncclComm_t) {
  return missing<ncclResult_t>("ncclRedOpCreatePreMulSum");
}
ncclResult_t hawserRedOpDestroy(ncclRedOp_t, ncclComm_t) { return missing<ncclResult_t>("ncclRedOpDestroy"); }
ncclResult_t hawserReduce(const void*, void*, size_t, ncclDataType_t, ncclRedOp_t, int, ncclComm_t, cudaStream_t) {
  return missing<ncclResult_t>("ncclReduce");
}
ncclResult_t hawserBcast(void*, size_t, ncclDataType_t, int, ncclComm_t, cudaStream_t) {
  return missing<ncclResult_t>("ncclBcast");
}
ncclResult_t hawserBroadcast(const void*, void*, size_t, ncclDataType_t, int, ncclComm_t, cudaStream_t) {
  return missing<ncclResult_t>("ncclBroadcast");
}
ncclResult_t hawserReduceScatter(const void*, void*, size_t, ncclDataType_t, ncclRedOp_t, ncclComm_t, cudaStream_t) {
  return missing<ncclResult_t>("ncclReduceScatter");
}
ncclResult_t hawserAllGather(const void*, void*, size_t, ncclDataType_t, ncclComm_t, cudaStream_t) {
  return missing<ncclResult_t>("ncclAllGather");
}
ncclResult_t hawserAlltoAll(const void*, void*, size_t, ncclDataType_t, ncclComm_t, cudaStream_t) {
  return missing<ncclResult_t>("ncclAlltoAll");
}
ncclResult_t hawserGather(const void*, void*, size_t, ncclDataType_t, int, ncclComm_t, cudaStream_t) {
  return missing<ncclResult_t>("ncclGather");
}
ncclResult_t hawserScatter(const void*, void*, size_t, ncclDataType_t, int, ncclComm_t, cudaStream_t) {
  return missing<ncclResult_t>("ncclScatter");
}
ncclResult_t hawserReduceConfig(const void*, void*, size_t, ncclDataType_t, ncclRedOp_t, int, ncclComm_t, cudaStream_t,
                                const ncclCollConfig_t*) {
  return missing<ncclResult_t>("ncclReduceConfig");
}
ncclResult_t hawserBroadcastConfig(const void*, void*, size_t, ncclDataType_t, int, ncclComm_t, cudaStream_t,
                                   const ncclCollConfig_t*) {
  return missing<ncclResult_t>("ncclBroadcastConfig");
}
ncclResult_t hawserAllReduceConfig(const void*, void*, size_t, ncclDataType_t, ncclRedOp_t, ncclComm_t, cudaStream_t,
                                   const ncclCollConfig_t*) {
  return missing<ncclResult_t>("ncclAllReduceConfig");
}
ncclResult_t hawserReduceScatterConfig(const void*, void*, size_t, ncclDataType_t, ncclRedOp_t, ncclComm_t,
                                       cudaStream_t, const ncclCollConfig_t*) {
  return missing<ncclResult_t>("ncclReduceScatterConfig");
}
ncclResult_t hawserAllGatherConfig(const void*, void*, size_t, ncclDataType_t, ncclComm_t, cudaStream_t,
                                   const ncclCollConfig_t*) {
  return missing<ncclResult_t>("ncclAllGatherConfig");
}
ncclResult_t hawserAlltoAllConfig(const void*, void*, size_t, ncclDataType_t, ncclComm_t, cudaStream_t,
                                  const ncclCollConfig_t*) {
  return missing<ncclResult_t>("ncclAlltoAllConfig");
}
ncclResult_t hawserGatherConfig(const void*, void*, size_t, ncclDataType_t, int, ncclComm_t, cudaStream_t,
                                const ncclCollConfig_t*) {
  return missing<ncclResult_t>("ncclGatherConfig");
}
ncclResult_t hawserScatterConfig(const void*, void*, size_t, ncclDataType_t, int, ncclComm_t, cudaStream_t,
                                 const ncclCollConfig_t*) {
  return missing<ncclResult_t>("ncclScatterConfig");
}
ncclResult_t hawserSend(const void*, size_t, ncclDataType_t, int, ncclComm_t, cudaStream_t) {
  return missing<ncclResult_t>("ncclSend");
}
ncclResult_t hawserRecv(void*, size_t, ncclDataType_t, int, ncclComm_t, cudaStream_t) {
  return missing<ncclResult_t>("ncclRecv");
}
ncclResult_t hawserPutSignal(const void*, size_t, ncclDataType_t, int, ncclWindow_t, size_t, int, int, unsigned int,
                             ncclComm_t, cudaStream_t) {
  return missing<ncclResult_t>("ncclPutSignal");
}
ncclResult_t hawserSignal(int, int, int, unsigned int, ncclComm_t, cudaStream_t) {
  return missing<ncclResult_t>("ncclSignal");
}
ncclResult_t hawserWaitSignal(int, ncclWaitSignalDesc_t*, ncclComm_t, cudaStream_t) {
  return missing<ncclResult_t>("ncclWaitSignal");
}
ncclResult_t hawserGroupSimulateEnd(ncclSimInfo_t*) { return missing<ncclResult_t>("ncclGroupSimulateEnd"); }
ncclResult_t hawserParamBind(ncclParamHandle_t*, const char*) { return missing<ncclResult_t>("ncclParamBind"); }
ncclResult_t hawserParamGetI8(ncclParamHandle_t, int8_t*) { return missing<ncclResult_t>("ncclParamGetI8"); }
ncclResult_t hawserParamGetI16(ncclParamHandle_t, int16_t*) { return missing<ncclResult_t>("ncclParamGetI16"); }
ncclResult_t hawserParamGetI32(ncclParamHandle_t, int32_t*) { return missing<ncclResult_t>("ncclParamGetI32"); }
ncclResult_t hawserParamGetI64(ncclParamHandle_t, int64_t*) { return missing<ncclResult_t>("ncclParamGetI64"); }
ncclResult_t hawserParamGetU8(ncclParamHandle_t, uint8_t*) { return missing<ncclResult_t>("ncclParamGetU8"); }
ncclResult_t hawserParamGetU16(ncclParamHandle_t, uint16_t*) { return missing<ncclResult_t>("ncclParamGetU16"); }
ncclResult_t hawserParamGetU32(ncclParamHandle_t, uint32_t*) { return missing<ncclResult_t>("ncclParamGetU32"); }
ncclResult_t hawserParamGetU64(ncclParamHandle_t, uint64_t*) { return missing<ncclResult_t>("ncclParamGetU64"); }
ncclResult_t hawserParamGetStr(ncclParamHandle_t, const char**) { return missing<ncclResult_t>("ncclParamGetStr"); }
ncclResult_t hawserParamGet(ncclParamHandle_t, void*, int, int*) { return missing<ncclResult_t>("ncclParamGet"); }
ncclResult_t hawserParamGetParameter(const char*, const char**, int*) {
  return missing<ncclResult_t>("ncclParamGetParameter");
}
ncclResult_t hawserParamGetAllParameterKeys(const char***, int*) {
  return missing<ncclResult_t>("ncclParamGetAllParameterKeys");
}
void hawserParamDumpAll() { return missing<void>("ncclParamDumpAll"); }
ncclResult_t hawserCommQueryProperties(ncclComm_t, struct ncclCommProperties*) {
  return missing<ncclResult_t>("ncclCommQueryProperties");
}
ncclResult_t hawserDevCommCreate(ncclComm_t, const struct ncclDevCommRequirements*, struct ncclDevComm*) {
  return missing<ncclResult_t>("ncclDevCommCreate");
}
ncclResult_t hawserDevCommDestroy(ncclComm_t, const struct ncclDevComm*) {
  return missing<ncclResult_t>("ncclDevCommDestroy");
}
ncclResult_t hawserGetCftDeviceLeInfo(ncclWindow_t, size_t, int, struct ncclTeam, uint32_t*, size_t*) {
  return missing<ncclResult_t>("ncclGetCftDeviceLeInfo");
}
ncclResult_t hawserGetLsaDevicePointer(ncclWindow_t, size_t, int, void**) {
  return missing<ncclResult_t>("ncclGetLsaDevicePointer");
}
ncclResult_t hawserGetLsaMultimemDevicePointer(ncclWindow_t, size_t, void**) {
  return missing<ncclResult_t>("ncclGetLsaMultimemDevicePointer");
}
ncclResult_t hawserGetMultimemDeviceLeInfo(ncclWindow_t, size_t, uint32_t*, size_t*) {
  return missing<ncclResult_t>("ncclGetMultimemDeviceLeInfo");
}
ncclResult_t hawserGetMultimemDevicePointer(ncclWindow_t, size_t, struct ncclMultimemHandle, void**) {
  return missing<ncclResult_t>("ncclGetMultimemDevicePointer");
}
ncclResult_t hawserGetPeerDeviceLeInfo(ncclWindow_t, size_t, int, uint32_t*, size_t*) {
  return missing<ncclResult_t>("ncclGetPeerDeviceLeInfo");
}
ncclResult_t hawserGetPeerDevicePointer(ncclWindow_t, size_t, int, void**) {
  return missing<ncclResult_t>("ncclGetPeerDevicePointer");
}
ncclResult_t hawserGinBarrierCreateRequirement(ncclComm_t, struct ncclTeam, int, struct ncclGinBarrierHandle*,
                                               struct ncclDevResourceRequirements*) {
  return missing<ncclResult_t>("ncclGinBarrierCreateRequirement");
}
ncclResult_t hawserGinInboxA2ACreateRequirement() { return missing<ncclResult_t>("ncclGinInboxA2ACreateRequirement"); }
ncclResult_t hawserGinOutboxCreateRequirement() { return missing<ncclResult_t>("ncclGinOutboxCreateRequirement"); }
int hawserLLA2ACalcSlots(int, int) { return missing<int>("ncclLLA2ACalcSlots"); }
ncclResult_t hawserLLA2ACreateRequirement(int, int, struct ncclLLA2AHandle*, struct ncclDevResourceRequirements*) {
  return missing<ncclResult_t>("ncclLLA2ACreateRequirement");
}
ncclResult_t hawserLsaBarrierCreateRequirement(struct ncclTeam, int, struct ncclLsaBarrierHandle*,
                                               struct ncclDevResourceRequirements*) {
  return missing<ncclResult_t>("ncclLsaBarrierCreateRequirement");
}
void hawserResetDebugInitInternal() { return missing<void>("ncclResetDebugInitInternal"); }
struct ncclTeam hawserTeamCft(ncclComm_t, unsigned int) {
  return missing<struct ncclTeam>("ncclTeamCft");
}
struct ncclTeam hawserTeamCftMultimem(ncclComm_t) {
  return missing<struct ncclTeam>("ncclTeamCftMultimem");
}
struct ncclTeam hawserTeamLsa(ncclComm_t) {
  return missing<struct ncclTeam>("ncclTeamLsa");
}
struct ncclTeam hawserTeamRail(ncclComm_t) {
  return missing<struct ncclTeam>("ncclTeamRail");
}
int hawserTeamRankToLsa(ncclComm_t, struct ncclTeam, int) { return missing<int>("ncclTeamRankToLsa"); }
int hawserTeamRankToWorld(ncclComm_t, struct ncclTeam, int) { return missing<int>("ncclTeamRankToWorld"); }
struct ncclTeam hawserTeamWorld(ncclComm_t) {
  return missing<struct ncclTeam>("ncclTeamWorld");
}
