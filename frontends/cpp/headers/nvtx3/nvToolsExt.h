#ifndef ALLRANKS_NVTX_H
#define ALLRANKS_NVTX_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#define NVTX_VERSION 3
#define NVTX_EVENT_ATTRIB_STRUCT_SIZE 48
#define NVTX_COLOR_ARGB 1
#define NVTX_MESSAGE_TYPE_ASCII 1
typedef struct { const char *ascii; } nvtxMessageValue_t;
typedef struct nvtxEventAttributes_t {
  uint16_t version, size;
  uint32_t category;
  int32_t colorType;
  uint32_t color;
  int32_t messageType;
  nvtxMessageValue_t message;
} nvtxEventAttributes_t;
typedef struct nvtxDomainRegistration *nvtxDomainHandle_t;
int nvtxRangePushA(const char *message);
int nvtxRangePush(const char *message);
int nvtxRangePushEx(const nvtxEventAttributes_t *attributes);
int nvtxRangePop(void);
void nvtxMarkA(const char *message);
void nvtxMark(const char *message);
#ifdef __cplusplus
}
#endif
#endif
