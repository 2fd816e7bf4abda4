/* The CUDA driver's functions that the fake exports, for tests that act as a consumer. Names and signatures are the
 * driver's own. SPDX-License-Identifier: Apache-2.0 */
#ifndef FAKE_CUDA_DRIVER_API_H
#define FAKE_CUDA_DRIVER_API_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define FAKE_DRIVER_API __attribute__((visibility("default")))

typedef int CUresult;
typedef int CUdevice;
typedef unsigned long long CUdeviceptr;
typedef struct CUctx_st* CUcontext;
typedef struct CUstream_st* CUstream;
typedef struct CUevent_st* CUevent;
typedef struct CUmod_st* CUmodule;
typedef struct CUfunc_st* CUfunction;
typedef struct CUgraph_st* CUgraph;

FAKE_DRIVER_API CUresult cuGetProcAddress_v2(const char* symbol, void** function, int version, uint64_t flags,
                                             int* found);
FAKE_DRIVER_API CUresult cuInit(unsigned flags);
FAKE_DRIVER_API CUresult cuDriverGetVersion(int* version);
FAKE_DRIVER_API CUresult cuGetErrorName(CUresult code, const char** name);
FAKE_DRIVER_API CUresult cuGetErrorString(CUresult code, const char** text);
FAKE_DRIVER_API CUresult cuDeviceGetCount(int* count);
FAKE_DRIVER_API CUresult cuDeviceGet(CUdevice* device, int ordinal);
FAKE_DRIVER_API CUresult cuDeviceGetName(char* name, int length, CUdevice device);
FAKE_DRIVER_API CUresult cuDeviceGetAttribute(int* value, int attribute, CUdevice device);
FAKE_DRIVER_API CUresult cuDeviceTotalMem_v2(size_t* bytes, CUdevice device);
FAKE_DRIVER_API CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned* flags, int* active);
FAKE_DRIVER_API CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device);
FAKE_DRIVER_API CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device);
FAKE_DRIVER_API CUresult cuCtxGetCurrent(CUcontext* context);
FAKE_DRIVER_API CUresult cuCtxSetCurrent(CUcontext context);
FAKE_DRIVER_API CUresult cuCtxGetDevice(CUdevice* device);
FAKE_DRIVER_API CUresult cuCtxPushCurrent_v2(CUcontext context);
FAKE_DRIVER_API CUresult cuCtxPopCurrent_v2(CUcontext* context);
FAKE_DRIVER_API CUresult cuCtxSynchronize(void);
FAKE_DRIVER_API CUresult cuThreadExchangeStreamCaptureMode(int* mode);

FAKE_DRIVER_API CUresult cuMemGetInfo_v2(size_t* free, size_t* total);
FAKE_DRIVER_API CUresult cuMemAlloc_v2(CUdeviceptr* address, size_t bytes);
FAKE_DRIVER_API CUresult cuMemFree_v2(CUdeviceptr address);
FAKE_DRIVER_API CUresult cuMemAllocAsync(CUdeviceptr* address, size_t bytes, CUstream stream);
FAKE_DRIVER_API CUresult cuMemFreeAsync(CUdeviceptr address, CUstream stream);
FAKE_DRIVER_API CUresult cuMemHostRegister_v2(void* memory, size_t bytes, unsigned flags);
FAKE_DRIVER_API CUresult cuMemHostUnregister(void* memory);
FAKE_DRIVER_API CUresult cuMemHostGetFlags(unsigned* flags, void* memory);
FAKE_DRIVER_API CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void* from, size_t bytes,
                                              CUstream stream);
FAKE_DRIVER_API CUresult cuMemcpyDtoHAsync_v2(void* to, CUdeviceptr from, size_t bytes, CUstream stream);
FAKE_DRIVER_API CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes,
                                              CUstream stream);
FAKE_DRIVER_API CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void* from, size_t bytes);
FAKE_DRIVER_API CUresult cuMemcpyDtoH_v2(void* to, CUdeviceptr from, size_t bytes);
FAKE_DRIVER_API CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t bytes, CUstream stream);
FAKE_DRIVER_API CUresult cuPointerGetAttribute(void* value, int attribute, CUdeviceptr address);

FAKE_DRIVER_API CUresult cuStreamCreate(CUstream* stream, unsigned flags);
FAKE_DRIVER_API CUresult cuStreamDestroy_v2(CUstream stream);
FAKE_DRIVER_API CUresult cuStreamQuery(CUstream stream);
FAKE_DRIVER_API CUresult cuStreamSynchronize(CUstream stream);
FAKE_DRIVER_API CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned flags);
FAKE_DRIVER_API CUresult cuStreamGetCtx(CUstream stream, CUcontext* context);
FAKE_DRIVER_API CUresult cuStreamGetId(CUstream stream, unsigned long long* id);
FAKE_DRIVER_API CUresult cuStreamBeginCapture_v2(CUstream stream, int mode);
FAKE_DRIVER_API CUresult cuStreamEndCapture(CUstream stream, CUgraph* graph);
FAKE_DRIVER_API CUresult cuStreamIsCapturing(CUstream stream, int* status);
FAKE_DRIVER_API CUresult cuGraphDestroy(CUgraph graph);
FAKE_DRIVER_API CUresult cuEventCreate(CUevent* event, unsigned flags);
FAKE_DRIVER_API CUresult cuEventDestroy_v2(CUevent event);
FAKE_DRIVER_API CUresult cuEventRecord(CUevent event, CUstream stream);
FAKE_DRIVER_API CUresult cuEventQuery(CUevent event);
FAKE_DRIVER_API CUresult cuEventSynchronize(CUevent event);
FAKE_DRIVER_API CUresult cuEventElapsedTime(float* milliseconds, CUevent begin, CUevent end);

FAKE_DRIVER_API CUresult cuModuleLoadData(CUmodule* module, const void* image);
FAKE_DRIVER_API CUresult cuModuleUnload(CUmodule module);
FAKE_DRIVER_API CUresult cuModuleGetFunction(CUfunction* function, CUmodule module, const char* name);
FAKE_DRIVER_API CUresult cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y,
                                        unsigned grid_z, unsigned block_x, unsigned block_y, unsigned block_z,
                                        unsigned shared_bytes, CUstream stream, void** parameters,
                                        void** extra);

#ifdef __cplusplus
}
#endif

/* As the driver's own header does. */
#define cuDeviceTotalMem cuDeviceTotalMem_v2
#define cuDevicePrimaryCtxRelease cuDevicePrimaryCtxRelease_v2
#define cuCtxPushCurrent cuCtxPushCurrent_v2
#define cuCtxPopCurrent cuCtxPopCurrent_v2
#define cuMemGetInfo cuMemGetInfo_v2
#define cuMemAlloc cuMemAlloc_v2
#define cuMemFree cuMemFree_v2
#define cuMemHostRegister cuMemHostRegister_v2
#define cuMemcpyHtoDAsync cuMemcpyHtoDAsync_v2
#define cuMemcpyDtoHAsync cuMemcpyDtoHAsync_v2
#define cuMemcpyDtoDAsync cuMemcpyDtoDAsync_v2
#define cuMemcpyHtoD cuMemcpyHtoD_v2
#define cuMemcpyDtoH cuMemcpyDtoH_v2
#define cuStreamBeginCapture cuStreamBeginCapture_v2
#define cuStreamDestroy cuStreamDestroy_v2
#define cuEventDestroy cuEventDestroy_v2

#endif
