/* Leases on batches, and their fields as tensors.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kept.h"

/* DLPack's structs as far as this program looks at them; frozen by its specification. */
typedef struct {
  void* data;
  int32_t device_type, device_id, ndim;
  uint8_t code, bits;
  uint16_t lanes;
  int64_t *shape, *strides;
  uint64_t byte_offset;
} Tensor;
struct DLManagedTensor {
  Tensor tensor;
  void* manager;
  void (*deleter)(struct DLManagedTensor*);
};
struct DLManagedTensorVersioned {
  uint32_t major, minor;
  void* manager;
  void (*deleter)(struct DLManagedTensorVersioned*);
  uint64_t flags;
  Tensor tensor;
};

static int32_t item(const Tensor* tensor, int64_t at) {
  return ((const int32_t*)(const void*)((const char*)tensor->data + tensor->byte_offset))[at];
}

/* As in Arrow's C data interface. */
struct ArrowSchema {
  const char *format, *name, *metadata;
  int64_t flags, n_children;
  struct ArrowSchema **children, *dictionary;
  void (*release)(struct ArrowSchema*);
  void* private_data;
};
struct ArrowArray {
  int64_t length, null_count, offset, n_buffers, n_children;
  const void** buffers;
  struct ArrowArray **children, *dictionary;
  void (*release)(struct ArrowArray*);
  void* private_data;
};

static void check_arrow(dl_batch* batch) {
  struct ArrowSchema schema;
  struct ArrowArray array;
  OK(dl_batch_arrow(batch, &schema, &array, &last));
  CHECK(schema.n_children == 2 && strcmp(schema.children[0]->format, "+w:3") == 0 && array.length == 4);
  const int32_t* items = array.children[0]->children[0]->buffers[1];
  CHECK(items[4] == 4);
  schema.release(&schema);
  array.release(&array);
}

/* A stream of one batch. */
struct ArrowArrayStream {
  int (*get_schema)(struct ArrowArrayStream*, struct ArrowSchema*);
  int (*get_next)(struct ArrowArrayStream*, struct ArrowArray*);
  const char* (*get_last_error)(struct ArrowArrayStream*);
  void (*release)(struct ArrowArrayStream*);
  void* private_data;
};
typedef struct {
  struct ArrowSchema schema;
  struct ArrowArray array;
} Stream;
static int stream_schema(struct ArrowArrayStream* self, struct ArrowSchema* out) {
  *out = ((Stream*)self->private_data)->schema;
  return 0;
}
static int stream_next(struct ArrowArrayStream* self, struct ArrowArray* out) {
  Stream* stream = self->private_data;
  *out = stream->array;
  stream->array.release = NULL;
  return 0;
}
static const char* stream_error(struct ArrowArrayStream* self) { return self == NULL ? "no stream" : NULL; }
static void stream_release(struct ArrowArrayStream* self) { self->release = NULL; }

/* A batch is a table, by itself and in a stream. */
static void check_tables_of_batches(dl_batch* batch) {
  Stream stream;
  dl_dataset* dataset = NULL;
  OK(dl_batch_arrow(batch, &stream.schema, &stream.array, &last));
  OK(dl_dataset_from_arrow_array(&stream.schema, &stream.array, "fields=y", NULL, &dataset, &last));
  CHECK(dl_dataset_count(dataset) == 4 && stream.schema.release == NULL && stream.array.release == NULL);
  dl_dataset_destroy(dataset);
  OK(dl_batch_arrow(batch, &stream.schema, &stream.array, &last));
  struct ArrowArrayStream given = {stream_schema, stream_next, stream_error, stream_release, &stream};
  OK(dl_dataset_from_arrow(&given, NULL, NULL, &dataset, &last));
  CHECK(dl_dataset_count(dataset) == 4 && given.release == NULL);
  dl_dataset_destroy(dataset);
}

static void check_tensors(dl_batch* batch) {
  struct DLManagedTensor* old = NULL;
  struct DLManagedTensorVersioned* tensor = NULL;
  OK(dl_batch_dlpack_versioned(batch, 0, &tensor, &last));
  CHECK(tensor->major == 1 && tensor->tensor.ndim == 2 && tensor->tensor.bits == 32 &&
        item(&tensor->tensor, 4) == 4);
  tensor->deleter(tensor);
  if (dl_batch_dlpack(batch, 0, &old, &last) != DL_OK) {
    CHECK(last.code == DL_ERR_UNSUPPORTED && old == NULL); /* a field that is read-only */
    return;
  }
  CHECK(old->tensor.shape[1] == kRow && item(&old->tensor, 5) == 5);
  old->deleter(old);
}

void check_batches(void) {
  static const char* const settings[] = {"batch_size", "4", "transform", "y: cast(f32)", NULL};
  dl_batch* batch = NULL;
  dl_dataset* dataset = open_numbers(NULL);
  dl_loader* loader = loader_of(dataset, settings);
  OK(dl_loader_next(loader, -1, &batch, &last));
  int32_t count = 0;
  const dl_view* views = dl_batch_views(batch, &count);
  const dl_view *x = field_of(views, count, "x"), *y = field_of(views, count, "y");
  CHECK(count == 2 && x->rank == 2 && x->shape[0] == 4 && x->strides[0] == kRow &&
        x->device_type == DL_DEVICE_CPU);
  CHECK(y->dtype == DL_DTYPE_F32 && y->bytes == 16 && ((const float*)y->data)[3] == 103);
  CHECK(y->offsets == NULL && y->axes != NULL);
  check_arrow(batch);
  check_tables_of_batches(batch);
  check_tensors(batch);
  OK(dl_batch_wait(batch, NULL, &last));
  dl_batch_retain(batch);
  dl_batch_release(batch);
  dl_loader_destroy(loader), dl_dataset_destroy(dataset);
  CHECK(((const float*)y->data)[2] == 102); /* a batch outlives what it is made from */
  OK(dl_batch_release_on(batch, NULL, &last));
}
