// NCCL's device interface, since 2.28, for machines without it: what host code says to set it up. Device code that uses it
// issues nothing that ranks must agree on, and its bodies are not read.
#ifndef ALLRANKS_NCCL_DEVICE_H
#define ALLRANKS_NCCL_DEVICE_H

#include <nccl.h>

#ifdef __cplusplus
extern "C" {
#endif
typedef struct ncclDevComm {
  int rank, nRanks;
  int lsaRank, lsaSize;
} ncclDevComm;
typedef ncclDevComm ncclDevComm_t;
typedef struct ncclDevCommRequirements {
  int lsaMultimem;
  int barrierCount;
  int lsaBarrierCount;
  int railGinBarrierCount;
  int lsaLLA2ABlockCount, lsaLLA2ASlotCount;
  int ginForceEnable;
  int ginContextCount;
  int ginSignalCount;
  int ginCounterCount;
} ncclDevCommRequirements;
typedef ncclDevCommRequirements ncclDevCommRequirements_t;
#define NCCL_DEV_COMM_REQUIREMENTS_INITIALIZER {0}
ncclResult_t ncclDevCommCreate(ncclComm_t comm, const ncclDevCommRequirements_t *reqs, ncclDevComm_t *devComm);
ncclResult_t ncclDevCommDestroy(ncclComm_t comm, const ncclDevComm_t *devComm);
#ifdef __cplusplus
}
#endif
#endif
