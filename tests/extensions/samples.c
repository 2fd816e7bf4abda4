/* The format, operator and storage of README.md as a plug-in in C. It does not link with the library: all calls go through
 * dl_plugin.find.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "capi/dataline.h"

static struct {
  dl_status (*error_set)(dl_error*, dl_status, const char*);
  dl_status (*file_open)(const char*, const dl_options*, dl_file**, dl_error*);
  int64_t (*file_bytes)(const dl_file*);
  dl_status (*file_read)(const dl_file*, int64_t, int64_t, void*, const int32_t*, dl_error*);
  void (*file_destroy)(dl_file*);
  dl_status (*from_reader)(const dl_reader*, const dl_options*, dl_dataset**, dl_error*);
  uint64_t (*random)(const dl_operator_row*, int64_t);
  dl_status (*add_format)(dl_extensions*, const dl_format*, dl_error*);
  dl_status (*add_operator)(dl_extensions*, const dl_operator*, dl_error*);
  dl_status (*add_storage)(dl_extensions*, const dl_storage*, dl_error*);
} dl;

/* ---- Format dlrec ---- */

enum { kHeader = 16 };
static const char kMagic[8] = "DLREC1\n";

typedef struct {
  dl_file* file;
  int64_t row_bytes;
  int32_t sums; /* labels=sum */
} Records;

static void free_records(void* context) {
  Records* records = context;
  dl.file_destroy(records->file);
  free(records);
}

static int32_t read_record(const Records* records, const dl_reader_request* request, int32_t r) {
  dl_reader_cell* cell = dl_reader_cell_at(request, r, 0);
  uint8_t* row = cell->data;
  char* message = request->messages + r * request->message_bytes;
  dl_error error = DL_ERROR_INIT;
  if (dl.file_read(records->file, kHeader + request->indices[r] * records->row_bytes, records->row_bytes, row,
                   request->cancelled, &error) != DL_OK) {
    snprintf(message, (size_t)request->message_bytes, "%s", error.message);
    return 2;
  }
  if (row[0] == 255) {
    snprintf(message, (size_t)request->message_bytes, "the row is marked bad");
    return 1;
  }
  if (records->sums) {
    int64_t sum = 0;
    for (int64_t i = 0; i < records->row_bytes; ++i) sum += row[i];
    memcpy(dl_reader_cell_at(request, r, 1)->data, &sum, sizeof sum);
  }
  return 0;
}

static int32_t read_records(void* context, dl_reader_request* request) {
  for (int32_t r = 0; r < request->record_count; ++r)
    dl_reader_cell_at(request, r, 0)->status = read_record(context, request, r);
  return 0;
}

static int32_t sniff_records(void* context, const char* path, const void* bytes, int64_t count,
                             int64_t file_bytes) {
  (void)context, (void)path, (void)file_bytes;
  return count >= kHeader && memcmp(bytes, kMagic, sizeof kMagic) == 0 ? DL_SNIFF_CERTAIN : DL_SNIFF_NO;
}

static uint32_t little_u32(const uint8_t* bytes) {
  return bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

static dl_status corrupt(const char* path, dl_error* error) {
  char message[300];
  snprintf(message, sizeof message, "%s: not a dlrec file, or a part of one", path);
  return dl.error_set(error, DL_ERR_CORRUPT, message);
}

/* Makes the dataset of an open file; the records own the file then. */
static dl_status make_records(const dl_format_request* request, Records* records, int64_t count,
                              dl_dataset** out, dl_error* error) {
  dl_view fields[2] = {{0}, {0}};
  fields[0].struct_size = fields[1].struct_size = sizeof(dl_view);
  fields[0].name = "x";
  fields[0].dtype = DL_DTYPE_U8;
  fields[0].rank = 1;
  fields[0].shape = &records->row_bytes;
  fields[1].name = "label";
  fields[1].dtype = DL_DTYPE_I64;
  dl_reader reader = {0};
  reader.struct_size = sizeof reader;
  reader.fields = fields;
  reader.field_count = records->sums ? 2 : 1;
  reader.record_count = count;
  reader.context = records;
  reader.read = read_records;
  reader.destroy = free_records;
  reader.file_count = 1;
  reader.files = &request->path;
  return dl.from_reader(&reader, request->options, out, error);
}

static dl_status open_records(void* context, const dl_format_request* request, dl_dataset** out,
                              dl_error* error) {
  (void)context;
  dl_file* file = NULL;
  dl_status status = dl.file_open(request->path, request->options, &file, error);
  if (status != DL_OK) return status;
  uint8_t header[kHeader] = {0};
  if (dl.file_bytes(file) >= kHeader) status = dl.file_read(file, 0, kHeader, header, NULL, error);
  const int64_t count = little_u32(header + 8), row_bytes = little_u32(header + 12);
  if (status == DL_OK && (memcmp(header, kMagic, sizeof kMagic) != 0 || row_bytes == 0 ||
                          dl.file_bytes(file) != kHeader + count * row_bytes))
    status = corrupt(request->path, error);
  Records* records = status == DL_OK ? malloc(sizeof *records) : NULL;
  if (status == DL_OK && records == NULL) status = dl.error_set(error, DL_ERR_NO_MEMORY, "out of memory");
  if (status == DL_OK) {
    records->file = file;
    records->row_bytes = row_bytes;
    records->sums = strcmp(request->values[0], "sum") == 0;
    status = make_records(request, records, count, out, error);
  }
  if (status == DL_OK) return DL_OK;
  dl.file_destroy(file);
  free(records);
  return status;
}

/* ---- Operator offset(value, noise=0) ---- */

typedef struct {
  double value, noise;
} Offset;

static dl_status refuse(dl_operator_use* use, int32_t argument, dl_error* error, const char* message) {
  use->wrong_argument = argument;
  return dl.error_set(error, DL_ERR_BAD_TRANSFORM, message);
}

static const dl_argument_value* argument_at(const dl_operator_use* use, int32_t index) {
  return (const void*)((const char*)use->arguments + (size_t)index * use->arguments->struct_size);
}

static dl_status prepare_offset(void* context, dl_operator_use* use, dl_error* error) {
  (void)context;
  if (use->kind != DL_KIND_DENSE || use->dtype != DL_DTYPE_U8)
    return refuse(use, -1, error, "expected a dense field of u8");
  double numbers[2];
  for (int32_t i = 0; i < 2; ++i) {
    const dl_argument_value* value = argument_at(use, i);
    if (value->number_count != 1) return refuse(use, i, error, "expected a number");
    numbers[i] = value->numbers[0];
  }
  if (numbers[1] < 0) return refuse(use, 1, error, "expected 0 or more");
  Offset* offset = malloc(sizeof *offset);
  if (offset == NULL) return dl.error_set(error, DL_ERR_NO_MEMORY, "out of memory");
  offset->value = numbers[0];
  offset->noise = numbers[1];
  use->state = offset;
  use->dtype = DL_DTYPE_F32;
  use->draws = offset->noise > 0;
  return DL_OK;
}

static dl_status apply_offset(void* context, dl_operator_row* row, dl_error* error) {
  (void)context, (void)error;
  const Offset* offset = row->state;
  const uint8_t* from = row->input;
  float* to = row->output;
  const double u = offset->noise > 0 ? (double)(dl.random(row, 0) >> 11) * 0x1p-53 : 0;
  for (int64_t i = 0; i < row->input_bytes; ++i) to[i] = (float)(from[i] + offset->value + offset->noise * u);
  return DL_OK;
}

static void forget_offset(void* context, void* state) {
  (void)context;
  free(state);
}

/* ---- Storage xor:// ---- */

static dl_status open_object(void* context, dl_storage_object* object, dl_error* error) {
  (void)context;
  const char* path = object->path + strlen("xor://");
  const size_t length = strlen(path);
  if (length >= 5 && strcmp(path + length - 5, ".gone") == 0)
    return dl.error_set(error, DL_ERR_NOT_FOUND, "no such object");
  dl_file* file = NULL;
  const dl_status status = dl.file_open(path, object->options, &file, error);
  if (status != DL_OK) return status;
  object->object = file;
  object->bytes = dl.file_bytes(file);
  return DL_OK;
}

static dl_status read_object(void* context, dl_storage_read* request, dl_error* error) {
  (void)context;
  const dl_status status =
      dl.file_read(request->object, request->offset, request->bytes, request->out, request->cancelled, error);
  uint8_t* bytes = request->out;
  for (int64_t i = 0; status == DL_OK && i < request->bytes; ++i) bytes[i] ^= 0x5A;
  return status;
}

static void close_object(void* context, void* object) {
  (void)context;
  dl.file_destroy(object);
}

/* ---- The plug-in ---- */

static dl_status add_format(dl_extensions* extensions, dl_error* error) {
  static const dl_format_key kKey = {sizeof kKey, 0,      "labels",
                                     "none|sum",  "none", "sum: a field label, the sum of the row's bytes"};
  dl_format format = {0};
  format.struct_size = sizeof format;
  format.name = "dlrec";
  format.doc = "rows of bytes, for tests";
  format.keys = &kKey;
  format.key_count = 1;
  format.suffixes = ".dlrec";
  format.sniff = sniff_records;
  format.open = open_records;
  return dl.add_format(extensions, &format, error);
}

static dl_status add_operator(dl_extensions* extensions, dl_error* error) {
  static const dl_argument_info kArguments[] = {{sizeof kArguments[0], 0, "value", "number", ""},
                                                {sizeof kArguments[0], 0, "noise", "number", "0"}};
  dl_operator offset = {0};
  offset.struct_size = sizeof offset;
  offset.name = "offset";
  offset.doc = "Adds a number, and noise times a draw, to bytes.";
  offset.arguments = kArguments;
  offset.argument_count = 2;
  offset.prepare = prepare_offset;
  offset.apply = apply_offset;
  offset.forget = forget_offset;
  return dl.add_operator(extensions, &offset, error);
}

static dl_status add_storage(dl_extensions* extensions, dl_error* error) {
  dl_storage storage = {0};
  storage.struct_size = sizeof storage;
  storage.scheme = "xor";
  storage.doc = "files with every byte XORed with 0x5A, for tests";
  storage.open = open_object;
  storage.read = read_object;
  storage.close = close_object;
  return dl.add_storage(extensions, &storage, error);
}

DL_API dl_status dl_plugin_register(dl_plugin* plugin, dl_error* error);
dl_status dl_plugin_register(dl_plugin* plugin, dl_error* error) {
  const struct {
    const char* name;
    void* to;
  } wanted[] = {{"dl_error_set", &dl.error_set},
                {"dl_file_open", &dl.file_open},
                {"dl_file_bytes", &dl.file_bytes},
                {"dl_file_read", &dl.file_read},
                {"dl_file_destroy", &dl.file_destroy},
                {"dl_dataset_from_reader", &dl.from_reader},
                {"dl_operator_random", &dl.random},
                {"dl_extensions_add_format", &dl.add_format},
                {"dl_extensions_add_operator", &dl.add_operator},
                {"dl_extensions_add_storage", &dl.add_storage}};
  plugin->built_for = DL_ABI_VERSION;
  for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; ++i) {
    void (*found)(void) = plugin->find(wanted[i].name);
    if (found == NULL) return DL_ERR_UNSUPPORTED;
    memcpy(wanted[i].to, &found, sizeof found);
  }
  dl_status status = add_format(plugin->extensions, error);
  if (status == DL_OK) status = add_operator(plugin->extensions, error);
  return status == DL_OK ? add_storage(plugin->extensions, error) : status;
}
