/* The structs of DLPack 1.x (dmlc/dlpack), by which tensors pass between libraries.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef DATALINE_PYTHON_DLPACK_H
#define DATALINE_PYTHON_DLPACK_H

#include <stdint.h>

#define DLPACK_MAJOR 1
#define DLPACK_PLAIN "dltensor"
#define DLPACK_VERSIONED "dltensor_versioned"
#define DLPACK_READ_ONLY 1u
#define DLPACK_IS_COPIED 2u
#define DLPACK_CPU 1
#define DLPACK_CUDA_HOST 3

typedef struct {
  int32_t device_type;
  int32_t device_id;
} DLDevice;

typedef struct {
  uint8_t code;
  uint8_t bits;
  uint16_t lanes;
} DLDataType;

typedef struct {
  void* data;
  DLDevice device;
  int32_t ndim;
  DLDataType dtype;
  int64_t* shape;
  int64_t* strides; /* items, not bytes */
  uint64_t byte_offset;
} DLTensor;

typedef struct DLManagedTensor {
  DLTensor tensor;
  void* context;
  void (*deleter)(struct DLManagedTensor* self);
} DLManagedTensor;

typedef struct DLManagedTensorVersioned {
  struct {
    uint32_t major;
    uint32_t minor;
  } version;
  void* context;
  void (*deleter)(struct DLManagedTensorVersioned* self);
  uint64_t flags;
  DLTensor tensor;
} DLManagedTensorVersioned;

int32_t dlpack_dtype(DLDataType type); /* a DL_DTYPE_*, or 0 */
DLDataType dlpack_type(int32_t dtype);

#endif
