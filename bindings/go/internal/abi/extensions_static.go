// The callbacks of extensions, in the form with cgo: C that has the header's types and calls callbacks_static.go.
//
// SPDX-License-Identifier: Apache-2.0

//go:build dataline_static && cgo

package abi

/*
#include <dataline.h>

// In callbacks_static.go.
extern void dataline_go_release(void*);
extern int32_t dataline_go_sniff(void*, void*, void*, int64_t, int64_t);
extern int32_t dataline_go_open_format(void*, void*, void*, void*);
extern int32_t dataline_go_prepare(void*, void*, void*);
extern int32_t dataline_go_apply(void*, void*, void*);
extern void dataline_go_forget(void*, void*);
extern int32_t dataline_go_open_object(void*, void*, void*);
extern int32_t dataline_go_read_object(void*, void*, void*);
extern void dataline_go_close_object(void*, void*);

static int32_t sniff(void* context, const char* path, const void* bytes, int64_t count, int64_t file_bytes) {
  return dataline_go_sniff(context, (void*)path, (void*)bytes, count, file_bytes);
}
static dl_status open_format(void* context, const dl_format_request* request, dl_dataset** out, dl_error* error) {
  return dataline_go_open_format(context, (void*)request, out, error);
}
static dl_status prepare(void* context, dl_operator_use* use, dl_error* error) {
  return dataline_go_prepare(context, use, error);
}
static dl_status apply(void* context, dl_operator_row* row, dl_error* error) {
  return dataline_go_apply(context, row, error);
}
static dl_status open_object(void* context, dl_storage_object* object, dl_error* error) {
  return dataline_go_open_object(context, object, error);
}
static dl_status read_object(void* context, dl_storage_read* request, dl_error* error) {
  return dataline_go_read_object(context, request, error);
}
static void bind_format(dl_format* format) {
  format->sniff = sniff;
  format->open = open_format;
  format->destroy = dataline_go_release;
}
static void bind_operator(dl_operator* table) {
  table->prepare = prepare;
  table->apply = apply;
  table->forget = dataline_go_forget;
  table->destroy = dataline_go_release;
}
static void bind_storage(dl_storage* storage) {
  storage->open = open_object;
  storage->read = read_object;
  storage->close = dataline_go_close_object;
  storage->destroy = dataline_go_release;
}
*/
import "C"

import "unsafe"

// Bind fills in what the library calls.
func (f *Format) Bind() {
	C.bind_format((*C.dl_format)(unsafe.Pointer(f)))
}

// Bind fills in what the library calls.
func (o *Operator) Bind() {
	C.bind_operator((*C.dl_operator)(unsafe.Pointer(o)))
}

// Bind fills in what the library calls.
func (s *Storage) Bind() {
	C.bind_storage((*C.dl_storage)(unsafe.Pointer(s)))
}
