// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// The NCCL API, compatible in source and in binary with NCCL 2.32.3, as libnccl.so.2 of Hawser offers it. C99 or C++11.
// Needs no CUDA toolkit: with HAWSER_NO_CUDA_HEADERS defined, or where cuda_runtime.h is not found, streams and events
// are opaque handles and the null stream is the one that the host device takes.
//
// Unless a call says otherwise: it may be called from any thread, but one communicator is used by one thread at a time;
// it returns ncclSuccess, or a code whose story ncclGetLastError() tells; buffers are borrowed until the operation has
// finished (the null stream: until the call, or the outermost ncclGroupEnd, returns); `count` counts elements.
// Calls that this version of Hawser does not have yet return ncclInvalidUsage and say so.
#ifndef NCCL_H_
#define NCCL_H_

#include <limits.h>
#include <stddef.h>
#include <stdint.h>

#if !defined(HAWSER_NO_CUDA_HEADERS) && defined(__has_include)
#if __has_include(<cuda_runtime.h>)
#define HAWSER_HAS_CUDA_HEADERS 1
#endif
#endif

#ifdef HAWSER_HAS_CUDA_HEADERS
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#if CUDART_VERSION >= 11000
#include <cuda_bf16.h>
#endif
#if defined(__cplusplus) && CUDART_VERSION >= 11080
#include <cuda_fp8.h>
#endif
#else
typedef struct CUstream_st* cudaStream_t;
typedef struct CUevent_st* cudaEvent_t;
#endif

#define NCCL_MAJOR 2
#define NCCL_MINOR 32
#define NCCL_PATCH 3
#define NCCL_SUFFIX ""
#define NCCL_VERSION_CODE 23203
// Up to 2.8 the code had one digit less for the minor number.
#define NCCL_VERSION(X, Y, Z) (((X) <= 2 && (Y) <= 8) ? (X)*1000 + (Y)*100 + (Z) : (X)*10000 + (Y)*100 + (Z))

#ifdef __cplusplus
extern "C" {
#endif

// ---- Handles and results

// One rank's end of a communicator. Made by ncclCommInit*, ended by ncclCommDestroy or ncclCommAbort.
typedef struct ncclComm* ncclComm_t;
// Memory that all ranks of a communicator registered together.
typedef struct ncclWindow_vidmem* ncclWindow_t;
// One parameter of the library, found by its name.
typedef struct ncclParamHandle* ncclParamHandle_t;
#define NCCL_COMM_NULL NULL

// What ranks need to find each other: addresses and a secret. Whoever has these bytes may join. Passed by value.
#define NCCL_UNIQUE_ID_BYTES 128
typedef struct {
  char internal[NCCL_UNIQUE_ID_BYTES];
} ncclUniqueId;

typedef enum {
  ncclSuccess = 0,
  ncclUnhandledCudaError = 1,  // a device runtime failed
  ncclSystemError = 2,         // the operating system refused: memory, sockets, files
  ncclInternalError = 3,       // a defect of the library
  ncclInvalidArgument = 4,     // one argument is wrong in itself
  ncclInvalidUsage = 5,        // right arguments at the wrong time, or ranks that disagree
  ncclRemoteError = 6,         // a peer died or its network failed
  ncclInProgress = 7,          // not an error: ask ncclCommGetAsyncError() again
  ncclTimeout = 8,             // a limit that the user set has passed
  ncclNumResults = 9
} ncclResult_t;

// ---- Constants

// "Not set" in the records below: the library chooses.
#define NCCL_CONFIG_UNDEF_INT INT_MIN
#define NCCL_CONFIG_UNDEF_PTR NULL
#define NCCL_UNDEF_FLOAT -1.0f
// Second member of every record below that starts with its size; the initialisers set it.
#define NCCL_API_MAGIC 0xcafebeef

// Colour of ncclCommSplit for a rank that joins no new communicator.
#define NCCL_SPLIT_NOCOLOR -1

// Flags of ncclCommWindowRegister, and what the address and size of a window are multiples of.
#define NCCL_WIN_DEFAULT 0x00
#define NCCL_WIN_COLL_SYMMETRIC 0x01   // every rank will use equal offsets in each collective
#define NCCL_WIN_STRICT_ORDERING 0x02  // writes become visible in the order they were issued
#define NCCL_WIN_GIN_ONLY 0x04         // only for network operations that kernels start
#define NCCL_WIN_CFT_COUNTED 0x08      // arrivals are counted
#define NCCL_WIN_REQUIRED_ALIGNMENT 4096

// Bits of CTAPolicy.
#define NCCL_CTA_POLICY_DEFAULT 0x00
#define NCCL_CTA_POLICY_EFFICIENCY 0x01  // fewest processors that still reach full bandwidth
#define NCCL_CTA_POLICY_ZERO 0x02        // none, where copy engines can do it

// Flags of ncclCommShrink, ncclCommRevoke and ncclCommSuspend.
#define NCCL_SHRINK_DEFAULT 0x00
#define NCCL_SHRINK_ABORT 0x01  // stop what is running on the parent first
#define NCCL_REVOKE_DEFAULT 0x00
#define NCCL_SUSPEND_MEM 0x01  // give memory back

// Values of ncclConfig_t.hostCftMode.
typedef enum {
  ncclHostCftDefault = NCCL_CONFIG_UNDEF_INT,
  ncclHostCftEnable = 1,
  ncclHostCftDisable = 2,
  ncclHostCftFallback = 3
} ncclHostCftMode_t;

// Values of ncclConfig_t.nvlsHostMode; the two in the middle are bits.
typedef enum {
  ncclNvlsHostModeDefault = NCCL_CONFIG_UNDEF_INT,
  ncclNvlsHostModeEnable = 0,
  ncclNvlsHostModeDisableTransport = 1,
  ncclNvlsHostModeDisableSymmetricMultimem = 2,
  ncclNvlsHostModeDisable = INT_MAX
} ncclNvlsHostMode_t;

// ---- Records: each starts with its size, magic and version, so that a library takes those of older programs too.
// Always begin with the initialiser. Strings are borrowed for the call.

// Wishes for one communicator.
typedef struct ncclConfig_v23100 {
  size_t size;
  unsigned int magic;
  unsigned int version;
  int blocking;             // 1 (default): calls return when done; 0: they may return ncclInProgress
  int cgaClusterSize;       // thread blocks per cluster, 0 to 8
  int minCTAs;              // fewest processors that kernels may take, from 1
  int maxCTAs;              // most
  const char* netName;      // network to use; NULL: the best
  int splitShare;           // 1: children of ncclCommSplit may share resources of this one
  int trafficClass;         // of network packets
  const char* commName;     // name in logs and traces
  int collnetEnable;        // 1: reductions in the network where it can
  int CTAPolicy;            // NCCL_CTA_POLICY_* bits
  int shrinkShare;          // as splitShare, for ncclCommShrink
  int nvlsCTAs;             // processors for multicast algorithms, from 1
  int nChannelsPerNetPeer;  // from 1 to 64
  int nvlinkCentricSched;   // 1: schedule for the links between GPUs first
  int graphUsageMode;       // 0: no graphs, 1: one graph at a time, 2: graphs and plain calls mixed
  int numRmaCtx;            // contexts for one-sided operations, from 1
  int maxP2pPeers;          // peers of ncclSend and ncclRecv at most, from 1
  int graphStreamOrdering;  // 1: replays of graphs keep stream order
  int launchOrderImplicit;  // 1: kernels of several communicators start in the order of the calls
  int numRmaSig;            // signals for one-sided operations
  int rmaEagerInit;         // 1: set one-sided operations up at once
  int hostCftMode;          // ncclHostCftMode_t
  int nvlsHostMode;         // ncclNvlsHostMode_t
} ncclConfig_t;

// clang-format off
#define NCCL_CONFIG_INITIALIZER {                                                                    \
  sizeof(ncclConfig_t),  /* size */                                                                  \
  NCCL_API_MAGIC,        /* magic */                                                                 \
  NCCL_VERSION_CODE,     /* version */                                                               \
  NCCL_CONFIG_UNDEF_INT, /* blocking */            NCCL_CONFIG_UNDEF_INT, /* cgaClusterSize */       \
  NCCL_CONFIG_UNDEF_INT, /* minCTAs */             NCCL_CONFIG_UNDEF_INT, /* maxCTAs */              \
  NCCL_CONFIG_UNDEF_PTR, /* netName */             NCCL_CONFIG_UNDEF_INT, /* splitShare */           \
  NCCL_CONFIG_UNDEF_INT, /* trafficClass */        NCCL_CONFIG_UNDEF_PTR, /* commName */             \
  NCCL_CONFIG_UNDEF_INT, /* collnetEnable */       NCCL_CONFIG_UNDEF_INT, /* CTAPolicy */            \
  NCCL_CONFIG_UNDEF_INT, /* shrinkShare */         NCCL_CONFIG_UNDEF_INT, /* nvlsCTAs */             \
  NCCL_CONFIG_UNDEF_INT, /* nChannelsPerNetPeer */ NCCL_CONFIG_UNDEF_INT, /* nvlinkCentricSched */   \
  NCCL_CONFIG_UNDEF_INT, /* graphUsageMode */      NCCL_CONFIG_UNDEF_INT, /* numRmaCtx */            \
  NCCL_CONFIG_UNDEF_INT, /* maxP2pPeers */         NCCL_CONFIG_UNDEF_INT, /* graphStreamOrdering */  \
  NCCL_CONFIG_UNDEF_INT, /* launchOrderImplicit */ NCCL_CONFIG_UNDEF_INT, /* numRmaSig */            \
  NCCL_CONFIG_UNDEF_INT, /* rmaEagerInit */        NCCL_CONFIG_UNDEF_INT, /* hostCftMode */          \
  NCCL_CONFIG_UNDEF_INT, /* nvlsHostMode */                                                          \
}
// clang-format on

// An option of one vendor. A library skips those whose vendor it is not.
typedef struct ncclConfigExt {
  struct ncclConfigExt* next;
  struct {
    int vendorId;
    int optionId;
  } key;
  union {
    int i;
    const char* s;
    void* raw;
  } val;
} ncclConfigExt_t;

// Wishes for one collective. Equal on all ranks, but for userProfilerTag and launchCompletionEvent.
typedef struct ncclCollConfig_v23200 {
  size_t size;
  unsigned int magic;
  unsigned int version;
  ncclConfigExt_t* ext;  // list without a cycle, or NULL
  int minCTAs;           // the next four: as in ncclConfig_t, for this call alone
  int maxCTAs;
  int nvlsCTAs;
  int cgaClusterSize;
  const char* algSelection;           // names separated by commas, any case; a leading ^ excludes; NULL: any
  int forceAlgSelection;              // 1: an error if none of them can be used; 0: then any
  int CTAPolicy;                      // NCCL_CTA_POLICY_* bits
  uint64_t userProfilerTag;           // handed to profilers as it is; below 2^63
  cudaEvent_t launchCompletionEvent;  // recorded when the work has been launched; may be NULL
} ncclCollConfig_t;

// clang-format off
#define NCCL_COLLCONFIG_INITIALIZER {                                                                \
  sizeof(ncclCollConfig_t), /* size */                                                               \
  NCCL_API_MAGIC,           /* magic */                                                              \
  NCCL_VERSION_CODE,        /* version */                                                            \
  NCCL_CONFIG_UNDEF_PTR, /* ext */                                                                   \
  NCCL_CONFIG_UNDEF_INT, /* minCTAs */             NCCL_CONFIG_UNDEF_INT, /* maxCTAs */              \
  NCCL_CONFIG_UNDEF_INT, /* nvlsCTAs */            NCCL_CONFIG_UNDEF_INT, /* cgaClusterSize */       \
  NCCL_CONFIG_UNDEF_PTR, /* algSelection */        1,                     /* forceAlgSelection */    \
  NCCL_CONFIG_UNDEF_INT, /* CTAPolicy */           0,                     /* userProfilerTag */      \
  NCCL_CONFIG_UNDEF_PTR, /* launchCompletionEvent */                                                 \
}
// clang-format on

// What ncclGroupSimulateEnd() answers.
typedef struct ncclSimInfo_v22200 {
  size_t size;
  unsigned int magic;
  unsigned int version;
  float estimatedTime;  // in microseconds
} ncclSimInfo_t;

#define NCCL_SIM_INFO_INITIALIZER \
  { sizeof(ncclSimInfo_t), 0x74685283, NCCL_VERSION_CODE, NCCL_UNDEF_FLOAT }

typedef enum { NCCL_ENCRYPTION_MODE_NONE = 0, NCCL_ENCRYPTION_MODE_PSK = 1 } ncclEncryptionMode_t;

// How sockets between ranks are protected.
typedef struct ncclEncryptionConfig_v23200 {
  size_t size;
  unsigned int magic;
  unsigned int version;
  int mode;         // ncclEncryptionMode_t
  const char* psk;  // with NCCL_ENCRYPTION_MODE_PSK: the key that all ranks share
} ncclEncryptionConfig_t;

#define NCCL_ENCRYPTION_CONFIG_INITIALIZER                                                        \
  {                                                                                               \
    sizeof(ncclEncryptionConfig_t), NCCL_API_MAGIC, NCCL_VERSION_CODE, NCCL_ENCRYPTION_MODE_NONE, \
        NCCL_CONFIG_UNDEF_PTR                                                                     \
  }

// One arrival that ncclWaitSignal() waits for.
typedef struct {
  int opCnt;   // how many signals
  int peer;    // from which rank
  int sigIdx;  // on which signal
  int ctx;     // of which context
} ncclWaitSignalDesc_t;

// What ncclCommMemStats() tells.
typedef enum {
  ncclStatGpuMemSuspend = 0,    // bytes that ncclCommSuspend would give back
  ncclStatGpuMemSuspended = 1,  // 1 while they are given back
  ncclStatGpuMemPersist = 2,    // bytes that stay
  ncclStatGpuMemTotal = 3       // bytes in all
} ncclCommMemStat_t;

// ---- Elements and reductions

typedef enum {
  ncclInt8 = 0,
  ncclChar = 0,
  ncclUint8 = 1,
  ncclInt32 = 2,
  ncclInt = 2,
  ncclUint32 = 3,
  ncclInt64 = 4,
  ncclUint64 = 5,
  ncclFloat16 = 6,
  ncclHalf = 6,
  ncclFloat32 = 7,
  ncclFloat = 7,
  ncclFloat64 = 8,
  ncclDouble = 8,
  ncclBfloat16 = 9,
  ncclFloat8e4m3 = 10,
  ncclFloat8e5m2 = 11,
  ncclNumTypes = 12
} ncclDataType_t;

typedef enum { ncclNumOps_dummy = 5 } ncclRedOp_dummy_t;

// Values from ncclNumOps to ncclMaxRedOp are handles of ncclRedOpCreatePreMulSum().
typedef enum {
  ncclSum = 0,
  ncclProd = 1,
  ncclMax = 2,
  ncclMin = 3,
  ncclAvg = 4,
  ncclNumOps = 5,
  ncclMaxRedOp = 0x7fffffff >> (32 - 8 * sizeof(ncclRedOp_dummy_t))
} ncclRedOp_t;

// Where the scalar of ncclRedOpCreatePreMulSum() lies.
typedef enum {
  ncclScalarDevice = 0,        // in memory that the device reads when the operation runs
  ncclScalarHostImmediate = 1  // in host memory, read before the call returns
} ncclScalarResidence_t;

// ---- Version and errors

// Writes NCCL_VERSION_CODE of the library.
ncclResult_t ncclGetVersion(int* version);
// A sentence for a result code. Never NULL; lives for ever.
const char* ncclGetErrorString(ncclResult_t result);
// What went wrong last in this process, in one sentence; empty if nothing has. `comm` may be NULL. The text is the
// caller's own until the same thread asks again.
const char* ncclGetLastError(ncclComm_t comm);
// Reads the variables of the log again. Left over from older releases.
#ifdef __GNUC__
__attribute__((deprecated("ncclResetDebugInit may be missing from later releases")))
#endif
void ncclResetDebugInit(void);

// ---- Communicators: creation. Collective over the ranks that it is about.

// Makes an id for one communicator. One process calls this and hands the bytes to all others by its own means. The
// process must live until all ranks have joined.
ncclResult_t ncclGetUniqueId(ncclUniqueId* unique_id);
// Joins as `rank` of `nranks`. Several joins of one thread go between ncclGroupStart and ncclGroupEnd, and `comm` is
// written by the latter.
ncclResult_t ncclCommInitRank(ncclComm_t* comm, int nranks, ncclUniqueId comm_id, int rank);
// The same with wishes; `config` may be NULL and is not kept.
ncclResult_t ncclCommInitRankConfig(ncclComm_t* comm, int nranks, ncclUniqueId comm_id, int rank, ncclConfig_t* config);
// The same with `n_id` ids, made by as many processes, that share the work of meeting.
ncclResult_t ncclCommInitRankScalable(ncclComm_t* newcomm, int nranks, int myrank, int n_id, ncclUniqueId* comm_ids,
                                      ncclConfig_t* config);
// All ranks in this process: comm[i] gets rank i on device devlist[i], or on device i where `devlist` is NULL.
ncclResult_t ncclCommInitAll(ncclComm_t* comm, int ndev, const int* devlist);
// New communicators of the ranks with equal `color`, ordered by `key`, then by rank.
ncclResult_t ncclCommSplit(ncclComm_t comm, int color, int key, ncclComm_t* newcomm, ncclConfig_t* config);
// A new communicator without the ranks listed. Called by the others.
ncclResult_t ncclCommShrink(ncclComm_t comm, int* exclude_ranks_list, int exclude_ranks_count, ncclComm_t* newcomm,
                            ncclConfig_t* config, int shrink_flags);
// An id by which ncclCommGrow() adds ranks to this communicator.
ncclResult_t ncclCommGetUniqueId(ncclComm_t comm, ncclUniqueId* unique_id);
// A new communicator of `n_ranks`: old members give `comm` and rank -1 (one of them the id), new ones NULL and a rank.
ncclResult_t ncclCommGrow(ncclComm_t comm, int n_ranks, const ncclUniqueId* unique_id, int rank, ncclComm_t* newcomm,
                          ncclConfig_t* config);
// Protection of all sockets made from now on; NULL: back to none.
ncclResult_t ncclSetEncryption(const ncclEncryptionConfig_t* config);

// ---- Communicators: end

// Lets everything that was issued come to its end. Collective. Only ncclCommDestroy and ncclCommAbort may follow.
ncclResult_t ncclCommFinalize(ncclComm_t comm);
// Finalizes if that was not done, then frees. NULL is fine.
ncclResult_t ncclCommDestroy(ncclComm_t comm);
// Stops what is running, waits for no peer, frees. May be called while other threads are inside calls on `comm`: they
// return with an error. NULL is fine.
ncclResult_t ncclCommAbort(ncclComm_t comm);
// Stops what is running but frees nothing: the communicator can then be shrunk or destroyed.
ncclResult_t ncclCommRevoke(ncclComm_t comm, int revoke_flags);
// Writes the first error that struck the communicator outside a call, ncclInProgress while a non-blocking call is
// running, else ncclSuccess.
ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t* async_error);

// ---- Communicators: questions

ncclResult_t ncclCommCount(const ncclComm_t comm, int* count);
ncclResult_t ncclCommCuDevice(const ncclComm_t comm, int* device);
ncclResult_t ncclCommUserRank(const ncclComm_t comm, int* rank);
ncclResult_t ncclCommMemStats(ncclComm_t comm, ncclCommMemStat_t stat, uint64_t* value);
// Gives the memory that `flags` name back until ncclCommResume(). Collective.
ncclResult_t ncclCommSuspend(ncclComm_t comm, int flags);
ncclResult_t ncclCommResume(ncclComm_t comm);

// ---- Memory

// Memory that peers can reach directly: on the host device zeroed shared pages. 0 bytes: NULL.
ncclResult_t ncclMemAlloc(void** ptr, size_t size);
// Frees memory of ncclMemAlloc(). NULL is fine.
ncclResult_t ncclMemFree(void* ptr);
// Tells the communicator of a buffer that will be used often. Local.
ncclResult_t ncclCommRegister(const ncclComm_t comm, void* buff, size_t size, void** handle);
ncclResult_t ncclCommDeregister(const ncclComm_t comm, void* handle);
// Opens memory of every rank to all others. Collective; sizes may differ. `*win` is NULL where it cannot be done.
ncclResult_t ncclCommWindowRegister(ncclComm_t comm, void* buff, size_t size, ncclWindow_t* win, int win_flags);
ncclResult_t ncclCommWindowDeregister(ncclComm_t comm, ncclWindow_t win);
// The address that this rank gave when it registered.
ncclResult_t ncclWinGetUserPtr(ncclComm_t comm, ncclWindow_t win, void** out_user_ptr);

// ---- Collectives. Every rank calls with equal count, type, operation and root. In place: as each call says. n: ranks.

// A sum whose inputs are first multiplied by each rank's scalar. Local to `comm`.
ncclResult_t ncclRedOpCreatePreMulSum(ncclRedOp_t* op, void* scalar, ncclDataType_t datatype,
                                      ncclScalarResidence_t residence, ncclComm_t comm);
// May follow at once on the last call that uses the operation.
ncclResult_t ncclRedOpDestroy(ncclRedOp_t op, ncclComm_t comm);

// recvbuff of `root` = sendbuff of all ranks, combined. In place where they are equal.
ncclResult_t ncclReduce(const void* sendbuff, void* recvbuff, size_t count, ncclDataType_t datatype, ncclRedOp_t op,
                        int root, ncclComm_t comm, cudaStream_t stream);
// ncclBroadcast in place. Older form.
ncclResult_t ncclBcast(void* buff, size_t count, ncclDataType_t datatype, int root, ncclComm_t comm,
                       cudaStream_t stream);
// recvbuff of all = sendbuff of `root`.
ncclResult_t ncclBroadcast(const void* sendbuff, void* recvbuff, size_t count, ncclDataType_t datatype, int root,
                           ncclComm_t comm, cudaStream_t stream);
// recvbuff of all = sendbuff of all ranks, combined. In place where they are equal.
ncclResult_t ncclAllReduce(const void* sendbuff, void* recvbuff, size_t count, ncclDataType_t datatype, ncclRedOp_t op,
                           ncclComm_t comm, cudaStream_t stream);
// recvbuff of rank r = part r of the combination of n * recvcount elements. In place: recvbuff is part r of sendbuff.
ncclResult_t ncclReduceScatter(const void* sendbuff, void* recvbuff, size_t recvcount, ncclDataType_t datatype,
                               ncclRedOp_t op, ncclComm_t comm, cudaStream_t stream);
// recvbuff of all = sendbuff of rank 0, 1, ... one after the other. In place: sendbuff is part r of recvbuff.
ncclResult_t ncclAllGather(const void* sendbuff, void* recvbuff, size_t sendcount, ncclDataType_t datatype,
                           ncclComm_t comm, cudaStream_t stream);
// Part r of recvbuff = this rank's part of sendbuff of rank r; `count` elements each. Not in place.
ncclResult_t ncclAlltoAll(const void* sendbuff, void* recvbuff, size_t count, ncclDataType_t datatype, ncclComm_t comm,
                          cudaStream_t stream);
// recvbuff of `root` = sendbuff of rank 0, 1, ... one after the other.
ncclResult_t ncclGather(const void* sendbuff, void* recvbuff, size_t count, ncclDataType_t datatype, int root,
                        ncclComm_t comm, cudaStream_t stream);
// recvbuff of rank r = part r of sendbuff of `root`.
ncclResult_t ncclScatter(const void* sendbuff, void* recvbuff, size_t count, ncclDataType_t datatype, int root,
                         ncclComm_t comm, cudaStream_t stream);

// The same with wishes for this one call; `config` may be NULL.
ncclResult_t ncclReduceConfig(const void* sendbuff, void* recvbuff, size_t count, ncclDataType_t datatype,
                              ncclRedOp_t op, int root, ncclComm_t comm, cudaStream_t stream,
                              const ncclCollConfig_t* config);
ncclResult_t ncclBroadcastConfig(const void* sendbuff, void* recvbuff, size_t count, ncclDataType_t datatype, int root,
                                 ncclComm_t comm, cudaStream_t stream, const ncclCollConfig_t* config);
ncclResult_t ncclAllReduceConfig(const void* sendbuff, void* recvbuff, size_t count, ncclDataType_t datatype,
                                 ncclRedOp_t op, ncclComm_t comm, cudaStream_t stream, const ncclCollConfig_t* config);
ncclResult_t ncclReduceScatterConfig(const void* sendbuff, void* recvbuff, size_t recvcount, ncclDataType_t datatype,
                                     ncclRedOp_t op, ncclComm_t comm, cudaStream_t stream,
                                     const ncclCollConfig_t* config);
ncclResult_t ncclAllGatherConfig(const void* sendbuff, void* recvbuff, size_t sendcount, ncclDataType_t datatype,
                                 ncclComm_t comm, cudaStream_t stream, const ncclCollConfig_t* config);
ncclResult_t ncclAlltoAllConfig(const void* sendbuff, void* recvbuff, size_t count, ncclDataType_t datatype,
                                ncclComm_t comm, cudaStream_t stream, const ncclCollConfig_t* config);
ncclResult_t ncclGatherConfig(const void* sendbuff, void* recvbuff, size_t count, ncclDataType_t datatype, int root,
                              ncclComm_t comm, cudaStream_t stream, const ncclCollConfig_t* config);
ncclResult_t ncclScatterConfig(const void* sendbuff, void* recvbuff, size_t count, ncclDataType_t datatype, int root,
                               ncclComm_t comm, cudaStream_t stream, const ncclCollConfig_t* config);

// ---- Between two ranks

// Meets an ncclRecv of equal count and type at `peer`. Calls that wait for each other go in one group.
ncclResult_t ncclSend(const void* sendbuff, size_t count, ncclDataType_t datatype, int peer, ncclComm_t comm,
                      cudaStream_t stream);
ncclResult_t ncclRecv(void* recvbuff, size_t count, ncclDataType_t datatype, int peer, ncclComm_t comm,
                      cudaStream_t stream);
// Writes into the window of `peer`, then signals it. In order with other puts and signals to that peer and context.
ncclResult_t ncclPutSignal(const void* localbuff, size_t count, ncclDataType_t datatype, int peer,
                           ncclWindow_t peer_win, size_t peer_win_offset, int sig_idx, int ctx, unsigned int flags,
                           ncclComm_t comm, cudaStream_t stream);
ncclResult_t ncclSignal(int peer, int sig_idx, int ctx, unsigned int flags, ncclComm_t comm, cudaStream_t stream);
// Waits until all `n_desc` arrivals have come.
ncclResult_t ncclWaitSignal(int n_desc, ncclWaitSignalDesc_t* signal_descs, ncclComm_t comm, cudaStream_t stream);

// ---- Groups: calls of one thread between start and end are issued together at the outermost end. They may nest.

ncclResult_t ncclGroupStart(void);
ncclResult_t ncclGroupEnd(void);
// Ends the group without running it and writes how long it would have taken.
ncclResult_t ncclGroupSimulateEnd(ncclSimInfo_t* sim_info);

// ---- Parameters of the library, by name

ncclResult_t ncclParamBind(ncclParamHandle_t* out, const char* key);
ncclResult_t ncclParamGetI8(ncclParamHandle_t h, int8_t* out);
ncclResult_t ncclParamGetI16(ncclParamHandle_t h, int16_t* out);
ncclResult_t ncclParamGetI32(ncclParamHandle_t h, int32_t* out);
ncclResult_t ncclParamGetI64(ncclParamHandle_t h, int64_t* out);
ncclResult_t ncclParamGetU8(ncclParamHandle_t h, uint8_t* out);
ncclResult_t ncclParamGetU16(ncclParamHandle_t h, uint16_t* out);
ncclResult_t ncclParamGetU32(ncclParamHandle_t h, uint32_t* out);
ncclResult_t ncclParamGetU64(ncclParamHandle_t h, uint64_t* out);
// The string belongs to the library.
ncclResult_t ncclParamGetStr(ncclParamHandle_t h, const char** out);
// The bytes of any type: at most `max_len` of them, and how many there are.
ncclResult_t ncclParamGet(ncclParamHandle_t h, void* out, int max_len, int* len);
// The value as text, and its length.
ncclResult_t ncclParamGetParameter(const char* key, const char** value, int* value_len);
// All names. The table belongs to the library.
ncclResult_t ncclParamGetAllParameterKeys(const char*** table, int* table_len);
// Prints all names and values.
void ncclParamDumpAll(void);

// ---- Second names of all calls, for profilers: these stay the library's own where a profiler defines the first names.

ncclResult_t pncclGetVersion(int* version);
const char* pncclGetErrorString(ncclResult_t result);
const char* pncclGetLastError(ncclComm_t comm);
#ifdef __GNUC__
__attribute__((deprecated("pncclResetDebugInit may be missing from later releases")))
#endif
void pncclResetDebugInit(void);
ncclResult_t pncclGetUniqueId(ncclUniqueId* unique_id);
ncclResult_t pncclCommInitRank(ncclComm_t* comm, int nranks, ncclUniqueId comm_id, int rank);
ncclResult_t pncclCommInitRankConfig(ncclComm_t* comm, int nranks, ncclUniqueId comm_id, int rank,
                                     ncclConfig_t* config);
ncclResult_t pncclCommInitRankScalable(ncclComm_t* newcomm, int nranks, int myrank, int n_id, ncclUniqueId* comm_ids,
                                       ncclConfig_t* config);
ncclResult_t pncclCommInitAll(ncclComm_t* comm, int ndev, const int* devlist);
ncclResult_t pncclCommSplit(ncclComm_t comm, int color, int key, ncclComm_t* newcomm, ncclConfig_t* config);
ncclResult_t pncclCommShrink(ncclComm_t comm, int* exclude_ranks_list, int exclude_ranks_count, ncclComm_t* newcomm,
                             ncclConfig_t* config, int shrink_flags);
ncclResult_t pncclCommGetUniqueId(ncclComm_t comm, ncclUniqueId* unique_id);
ncclResult_t pncclCommGrow(ncclComm_t comm, int n_ranks, const ncclUniqueId* unique_id, int rank, ncclComm_t* newcomm,
                           ncclConfig_t* config);
ncclResult_t pncclSetEncryption(const ncclEncryptionConfig_t* config);
ncclResult_t pncclCommFinalize(ncclComm_t comm);
ncclResult_t pncclCommDestroy(ncclComm_t comm);
ncclResult_t pncclCommAbort(ncclComm_t comm);
ncclResult_t pncclCommRevoke(ncclComm_t comm, int revoke_flags);
ncclResult_t pncclCommGetAsyncError(ncclComm_t comm, ncclResult_t* async_error);
ncclResult_t pncclCommCount(const ncclComm_t comm, int* count);
ncclResult_t pncclCommCuDevice(const ncclComm_t comm, int* device);
ncclResult_t pncclCommUserRank(const ncclComm_t comm, int* rank);
ncclResult_t pncclCommMemStats(ncclComm_t comm, ncclCommMemStat_t stat, uint64_t* value);
ncclResult_t pncclCommSuspend(ncclComm_t comm, int flags);
ncclResult_t pncclCommResume(ncclComm_t comm);
ncclResult_t pncclMemAlloc(void** ptr, size_t size);
ncclResult_t pncclMemFree(void* ptr);
ncclResult_t pncclCommRegister(const ncclComm_t comm, void* buff, size_t size, void** handle);
ncclResult_t pncclCommDeregister(const ncclComm_t comm, void* handle);
ncclResult_t pncclCommWindowRegister(ncclComm_t comm, void* buff, size_t size, ncclWindow_t* win, int win_flags);
ncclResult_t pncclCommWindowDeregister(ncclComm_t comm, ncclWindow_t win);
ncclResult_t pncclWinGetUserPtr(ncclComm_t comm, ncclWindow_t win, void** out_user_ptr);
ncclResult_t pncclRedOpCreatePreMulSum(ncclRedOp_t* op, void* scalar, ncclDataType_t datatype,
                                       ncclScalarResidence_t residence, ncclComm_t comm);
ncclResult_t pncclRedOpDestroy(ncclRedOp_t op, ncclComm_t comm);
ncclResult_t pncclReduce(const void* sendbuff, void* recvbuff, size_t count, ncclDataType_t datatype, ncclRedOp_t op,
                         int root, ncclComm_t comm, cudaStream_t stream);
ncclResult_t pncclBcast(void* buff, size_t count, ncclDataType_t datatype, int root, ncclComm_t comm,
                        cudaStream_t stream);
ncclResult_t pncclBroadcast(const void* sendbuff, void* recvbuff, size_t count, ncclDataType_t datatype, int root,
                            ncclComm_t comm, cudaStream_t stream);
ncclResult_t pncclAllReduce(const void* sendbuff, void* recvbuff, size_t count, ncclDataType_t datatype, ncclRedOp_t op,
                            ncclComm_t comm, cudaStream_t stream);
ncclResult_t pncclReduceScatter(const void* sendbuff, void* recvbuff, size_t recvcount, ncclDataType_t datatype,
                                ncclRedOp_t op, ncclComm_t comm, cudaStream_t stream);
ncclResult_t pncclAllGather(const void* sendbuff, void* recvbuff, size_t sendcount, ncclDataType_t datatype,
                            ncclComm_t comm, cudaStream_t stream);
ncclResult_t pncclAlltoAll(const void* sendbuff, void* recvbuff, size_t count, ncclDataType_t datatype, ncclComm_t comm,
                           cudaStream_t stream);
ncclResult_t pncclGather(const void* sendbuff, void* recvbuff, size_t count, ncclDataType_t datatype, int root,
                         ncclComm_t comm, cudaStream_t stream);
ncclResult_t pncclScatter(const void* sendbuff, void* recvbuff, size_t count, ncclDataType_t datatype, int root,
                          ncclComm_t comm, cudaStream_t stream);
ncclResult_t pncclReduceConfig(const void* sendbuff, void* recvbuff, size_t count, ncclDataType_t datatype,
                               ncclRedOp_t op, int root, ncclComm_t comm, cudaStream_t stream,
                               const ncclCollConfig_t* config);
ncclResult_t pncclBroadcastConfig(const void* sendbuff, void* recvbuff, size_t count, ncclDataType_t datatype, int root,
                                  ncclComm_t comm, cudaStream_t stream, const ncclCollConfig_t* config);
ncclResult_t pncclAllReduceConfig(const void* sendbuff, void* recvbuff, size_t count, ncclDataType_t datatype,
                                  ncclRedOp_t op, ncclComm_t comm, cudaStream_t stream, const ncclCollConfig_t* config);
ncclResult_t pncclReduceScatterConfig(const void* sendbuff, void* recvbuff, size_t recvcount, ncclDataType_t datatype,
                                      ncclRedOp_t op, ncclComm_t comm, cudaStream_t stream,
                                      const ncclCollConfig_t* config);
ncclResult_t pncclAllGatherConfig(const void* sendbuff, void* recvbuff, size_t sendcount, ncclDataType_t datatype,
                                  ncclComm_t comm, cudaStream_t stream, const ncclCollConfig_t* config);
ncclResult_t pncclAlltoAllConfig(const void* sendbuff, void* recvbuff, size_t count, ncclDataType_t datatype,
                                 ncclComm_t comm, cudaStream_t stream, const ncclCollConfig_t* config);
ncclResult_t pncclGatherConfig(const void* sendbuff, void* recvbuff, size_t count, ncclDataType_t datatype, int root,
                               ncclComm_t comm, cudaStream_t stream, const ncclCollConfig_t* config);
ncclResult_t pncclScatterConfig(const void* sendbuff, void* recvbuff, size_t count, ncclDataType_t datatype, int root,
                                ncclComm_t comm, cudaStream_t stream, const ncclCollConfig_t* config);
ncclResult_t pncclSend(const void* sendbuff, size_t count, ncclDataType_t datatype, int peer, ncclComm_t comm,
                       cudaStream_t stream);
ncclResult_t pncclRecv(void* recvbuff, size_t count, ncclDataType_t datatype, int peer, ncclComm_t comm,
                       cudaStream_t stream);
ncclResult_t pncclPutSignal(const void* localbuff, size_t count, ncclDataType_t datatype, int peer,
                            ncclWindow_t peer_win, size_t peer_win_offset, int sig_idx, int ctx, unsigned int flags,
                            ncclComm_t comm, cudaStream_t stream);
ncclResult_t pncclSignal(int peer, int sig_idx, int ctx, unsigned int flags, ncclComm_t comm, cudaStream_t stream);
ncclResult_t pncclWaitSignal(int n_desc, ncclWaitSignalDesc_t* signal_descs, ncclComm_t comm, cudaStream_t stream);
ncclResult_t pncclGroupStart(void);
ncclResult_t pncclGroupEnd(void);
ncclResult_t pncclGroupSimulateEnd(ncclSimInfo_t* sim_info);
ncclResult_t pncclParamBind(ncclParamHandle_t* out, const char* key);
ncclResult_t pncclParamGetI8(ncclParamHandle_t h, int8_t* out);
ncclResult_t pncclParamGetI16(ncclParamHandle_t h, int16_t* out);
ncclResult_t pncclParamGetI32(ncclParamHandle_t h, int32_t* out);
ncclResult_t pncclParamGetI64(ncclParamHandle_t h, int64_t* out);
ncclResult_t pncclParamGetU8(ncclParamHandle_t h, uint8_t* out);
ncclResult_t pncclParamGetU16(ncclParamHandle_t h, uint16_t* out);
ncclResult_t pncclParamGetU32(ncclParamHandle_t h, uint32_t* out);
ncclResult_t pncclParamGetU64(ncclParamHandle_t h, uint64_t* out);
ncclResult_t pncclParamGetStr(ncclParamHandle_t h, const char** out);
ncclResult_t pncclParamGet(ncclParamHandle_t h, void* out, int max_len, int* len);
ncclResult_t pncclParamGetParameter(const char* key, const char** value, int* value_len);
ncclResult_t pncclParamGetAllParameterKeys(const char*** table, int* table_len);
void pncclParamDumpAll(void);

#ifdef __cplusplus
}
#endif

#endif  // NCCL_H_
