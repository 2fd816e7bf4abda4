// What the generated calls through cgo need, linked with the static library that pkg-config knows, and the calls of the
// hot path, which are made by hand.
//
// SPDX-License-Identifier: Apache-2.0

//go:build dataline_static && cgo

package abi

/*
#cgo pkg-config: --static dataline
#cgo LDFLAGS: -Wl,--as-needed -l:libdataline.a
#include <dataline.h>

// In callbacks_static.go.
extern void dataline_go_release(void*);
extern int32_t dataline_go_read(void*, void*);
extern void dataline_go_log(void*, int32_t, char*, size_t);
extern int32_t dataline_go_trace(void*, char*, size_t);

static int32_t read_records(void* context, dl_reader_request* request) {
  const int32_t code = dataline_go_read(context, request);
  if (request->release_context != NULL) request->release = dataline_go_release;
  return code;
}
static void write_log(void* context, int32_t level, const char* message, size_t length) {
  dataline_go_log(context, level, (char*)message, length);
}
static int32_t write_trace(void* context, const char* text, size_t length) {
  return dataline_go_trace(context, (char*)text, length);
}
static void bind_trace(dl_trace_sink* sink) { sink->write = write_trace; }
static void bind_reader(dl_reader* reader) {
  reader->read = read_records;
  reader->destroy = dataline_go_release;
}
static void bind_log(dl_log* log) {
  log->write = write_log;
  log->destroy = dataline_go_release;
}

// One crossing for the two calls of each batch. The struct is Frame.
typedef struct {
  dl_batch* batch;
  const dl_view* views;
  dl_error error;
  int32_t count;
  uintptr_t arguments[5];
} frame;
static dl_status next_views(dl_loader* loader, int64_t timeout_ns, frame* f) {
  const dl_status status = dl_loader_next(loader, timeout_ns, &f->batch, &f->error);
  if (status == DL_OK) f->views = dl_batch_views(f->batch, &f->count);
  return status;
}
static dl_status next_views_of(dl_epoch* epoch, int64_t timeout_ns, frame* f) {
  const dl_status status = dl_epoch_next(epoch, timeout_ns, &f->batch, &f->error);
  if (status == DL_OK) f->views = dl_batch_views(f->batch, &f->count);
  return status;
}
static dl_status read_views(dl_dataset* dataset, int64_t index, dl_options* options, frame* f) {
  const dl_status status = dl_dataset_read(dataset, index, options, &f->batch, &f->error);
  if (status == DL_OK) f->views = dl_batch_views(f->batch, &f->count);
  return status;
}
*/
import "C"

import "unsafe"

// load has nothing to find: the library is in the program.
func load() error {
	return checkVersion()
}

// SetData cannot be followed: the library is in the program.
func SetData([]byte) error {
	return errLinkedIn
}

// SetPath cannot be followed: the library is in the program.
func SetPath(string) error {
	return errLinkedIn
}

// Bind fills in what the library calls.
func (l *Log) Bind() {
	C.bind_log((*C.dl_log)(unsafe.Pointer(l)))
}

// Bind fills in what the library calls.
func (s *TraceSink) Bind() {
	C.bind_trace((*C.dl_trace_sink)(unsafe.Pointer(s)))
}

// Bind fills in what the library calls.
func (r *Reader) Bind() {
	C.bind_reader((*C.dl_reader)(unsafe.Pointer(r)))
}

// Next is dl_loader_next, then dl_batch_views if it returned a batch.
func (f *Frame) Next(loader Handle, timeoutNs int64) int32 {
	return int32(C.next_views((*C.dl_loader)(loader), C.int64_t(timeoutNs), (*C.frame)(unsafe.Pointer(f))))
}

// NextOf is Next for one epoch: dl_epoch_next.
func (f *Frame) NextOf(epoch Handle, timeoutNs int64) int32 {
	return int32(C.next_views_of((*C.dl_epoch)(epoch), C.int64_t(timeoutNs), (*C.frame)(unsafe.Pointer(f))))
}

// Read reads one sample: its lease is in the frame when the status is 0.
func (f *Frame) Read(dataset Handle, index int64, options Handle) int32 {
	return int32(C.read_views((*C.dl_dataset)(dataset), C.int64_t(index), (*C.dl_options)(options),
		(*C.frame)(unsafe.Pointer(f))))
}

// As the struct of C beside next_views.
var _ = [1]struct{}{}[unsafe.Sizeof(Frame{})-unsafe.Sizeof(C.frame{})]
