// The calls through cgo, linked with the static library that pkg-config knows; long, for each function of the header is
// one here.
//
// SPDX-License-Identifier: Apache-2.0

//go:build dataline_static && cgo

package abi

/*
#cgo pkg-config: --static dataline
#cgo LDFLAGS: -Wl,--as-needed -l:libdataline.a
#include <dataline.h>

#if DL_ABI_VERSION != 2
#error "this package is for DL_ABI_VERSION 2"
#endif

// In callbacks_static.go.
extern void dataline_go_release(void*);
extern int32_t dataline_go_read(void*, int64_t*, int64_t, void*, char*, size_t);
extern void dataline_go_log(void*, int32_t, char*, size_t);

static int32_t read_records(void* context, const int64_t* indices, int64_t count, dl_reader_cell* cells,
		char* message,
                            size_t message_bytes) {
  return dataline_go_read(context, (int64_t*)indices, count, cells, message, message_bytes);
}
static void write_log(void* context, int32_t level, const char* message, size_t length) {
  dataline_go_log(context, level, (char*)message, length);
}

// With a loan the arrays are borrowed, without one they are copied.
typedef void (*release_callback)(void*);
static release_callback release_for(uintptr_t loan) { return loan ? dataline_go_release : NULL; }
static dl_status set_indices(dl_options* options, int64_t* indices, int64_t count, uintptr_t loan, dl_error* error) {
  return dl_options_set_indices(options, indices, count, release_for(loan), (void*)loan, error);
}
static dl_status set_weights(dl_options* options, double* weights, int64_t count, uintptr_t loan, dl_error* error) {
  return dl_options_set_weights(options, weights, count, release_for(loan), (void*)loan, error);
}
static dl_status from_arrays(dl_array* arrays, int32_t count, uintptr_t loan, dl_options* options, dl_dataset** out,
                             dl_error* error) {
  return dl_dataset_from_arrays(arrays, count, release_for(loan), (void*)loan, options, out, error);
}
static dl_status subset(dl_dataset* dataset, int64_t* indices, int64_t count, uintptr_t loan, dl_dataset** out,
                        dl_error* error) {
  return dl_dataset_subset(dataset, indices, count, release_for(loan), (void*)loan, NULL, out, error);
}
static dl_status loader_set_indices(dl_loader* loader, int64_t* indices, int64_t count, uintptr_t loan,
		dl_error* error) {
  return dl_loader_set_indices(loader, indices, count, release_for(loan), (void*)loan, error);
}
static dl_status from_reader(dl_reader* reader, dl_options* options, dl_dataset** out, dl_error* error) {
  reader->read = read_records;
  reader->destroy = dataline_go_release;
  return dl_dataset_from_reader(reader, options, out, error);
}
static dl_status set_log(dl_options* options, dl_log* log, dl_error* error) {
  log->write = write_log;
  log->destroy = dataline_go_release;
  return dl_options_set_log(options, log, error);
}
static dl_status batch_wait(dl_batch* batch, uintptr_t stream, dl_error* error) {
  return dl_batch_wait(batch, (void*)stream, error);
}
static dl_status batch_release_on(dl_batch* batch, uintptr_t stream, dl_error* error) {
  return dl_batch_release_on(batch, (void*)stream, error);
}

// One crossing for the two calls of each batch. The struct is Frame.
typedef struct {
  dl_batch* batch;
  const dl_view* views;
  dl_error error;
  int32_t count;
  uintptr_t arguments[4];
} frame;
static dl_status next_views(dl_loader* loader, int64_t timeout_ns, frame* f) {
  const dl_status status = dl_loader_next(loader, timeout_ns, &f->batch, &f->error);
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

// SetPath cannot be followed: the library is in the program.
func SetPath(string) error {
	return errLinkedIn
}

func AbiVersion() int32 {
	return int32(C.dl_abi_version())
}

func VersionString() *byte {
	return (*byte)(unsafe.Pointer(C.dl_version_string()))
}

func BuildInfo() *byte {
	return (*byte)(unsafe.Pointer(C.dl_build_info()))
}

func StatusName(status int32) *byte {
	return (*byte)(unsafe.Pointer(C.dl_status_name(C.int32_t(status))))
}

func DtypeName(dtype int32) *byte {
	return (*byte)(unsafe.Pointer(C.dl_dtype_name(C.int32_t(dtype))))
}

func DtypeBytes(dtype int32) int32 {
	return int32(C.dl_dtype_bytes(C.int32_t(dtype)))
}

func OptionCount() int32 {
	return int32(C.dl_option_count())
}

func OptionAt(index int32, out *OptionInfo, err *Error) int32 {
	return int32(C.dl_option_at(C.int32_t(index), (*C.dl_option_info)(unsafe.Pointer(out)),
		(*C.dl_error)(unsafe.Pointer(err))))
}

func TransformCount() int32 {
	return int32(C.dl_transform_count())
}

func TransformAt(index int32, out *TransformInfo, err *Error) int32 {
	return int32(C.dl_transform_at(C.int32_t(index), (*C.dl_transform_info)(unsafe.Pointer(out)),
		(*C.dl_error)(unsafe.Pointer(err))))
}

func TransformArgumentAt(index, argument int32, out *ArgumentInfo, err *Error) int32 {
	return int32(C.dl_transform_argument_at(C.int32_t(index), C.int32_t(argument),
		(*C.dl_argument_info)(unsafe.Pointer(out)), (*C.dl_error)(unsafe.Pointer(err))))
}

func OptionsCreate(out *Handle, err *Error) int32 {
	return int32(C.dl_options_create((**C.dl_options)(unsafe.Pointer(out)), (*C.dl_error)(unsafe.Pointer(err))))
}

func OptionsDestroy(options Handle) {
	C.dl_options_destroy((*C.dl_options)(options))
}

func OptionsSet(options Handle, key, value *byte, err *Error) int32 {
	return int32(C.dl_options_set((*C.dl_options)(options), (*C.char)(unsafe.Pointer(key)),
		(*C.char)(unsafe.Pointer(value)), (*C.dl_error)(unsafe.Pointer(err))))
}

func OptionsGet(options Handle, key *byte, out **byte, err *Error) int32 {
	return int32(C.dl_options_get((*C.dl_options)(options), (*C.char)(unsafe.Pointer(key)),
		(**C.char)(unsafe.Pointer(out)), (*C.dl_error)(unsafe.Pointer(err))))
}

func OptionsSetIndices(options Handle, indices *int64, count int64, loan uintptr, err *Error) int32 {
	return int32(C.set_indices((*C.dl_options)(options), (*C.int64_t)(unsafe.Pointer(indices)), C.int64_t(count),
		C.uintptr_t(loan), (*C.dl_error)(unsafe.Pointer(err))))
}

func OptionsSetWeights(options Handle, weights *float64, count int64, loan uintptr, err *Error) int32 {
	return int32(C.set_weights((*C.dl_options)(options), (*C.double)(unsafe.Pointer(weights)), C.int64_t(count),
		C.uintptr_t(loan), (*C.dl_error)(unsafe.Pointer(err))))
}

func OptionsSetLog(options Handle, log *Log, err *Error) int32 {
	return int32(C.set_log((*C.dl_options)(options), (*C.dl_log)(unsafe.Pointer(log)),
		(*C.dl_error)(unsafe.Pointer(err))))
}

func OptionsSetCancelToken(options, token Handle, err *Error) int32 {
	return int32(C.dl_options_set_cancel_token((*C.dl_options)(options), (*C.dl_cancel_token)(token),
		(*C.dl_error)(unsafe.Pointer(err))))
}

func CancelTokenCreate(out *Handle, err *Error) int32 {
	return int32(C.dl_cancel_token_create((**C.dl_cancel_token)(unsafe.Pointer(out)),
		(*C.dl_error)(unsafe.Pointer(err))))
}

func CancelTokenCancel(token Handle) {
	C.dl_cancel_token_cancel((*C.dl_cancel_token)(token))
}

func CancelTokenDestroy(token Handle) {
	C.dl_cancel_token_destroy((*C.dl_cancel_token)(token))
}

func DatasetOpen(uri *byte, options Handle, out *Handle, err *Error) int32 {
	return int32(C.dl_dataset_open((*C.char)(unsafe.Pointer(uri)), (*C.dl_options)(options),
		(**C.dl_dataset)(unsafe.Pointer(out)), (*C.dl_error)(unsafe.Pointer(err))))
}

func DatasetFromArrays(arrays *Array, count int32, loan uintptr, options Handle, out *Handle, err *Error) int32 {
	return int32(C.from_arrays((*C.dl_array)(unsafe.Pointer(arrays)), C.int32_t(count), C.uintptr_t(loan),
		(*C.dl_options)(options), (**C.dl_dataset)(unsafe.Pointer(out)), (*C.dl_error)(unsafe.Pointer(err))))
}

func DatasetFromReader(reader *Reader, options Handle, out *Handle, err *Error) int32 {
	return int32(C.from_reader((*C.dl_reader)(unsafe.Pointer(reader)), (*C.dl_options)(options),
		(**C.dl_dataset)(unsafe.Pointer(out)), (*C.dl_error)(unsafe.Pointer(err))))
}

func DatasetZip(parts *Handle, names **byte, count int32, out *Handle, err *Error) int32 {
	return int32(C.dl_dataset_zip((**C.dl_dataset)(unsafe.Pointer(parts)), (**C.char)(unsafe.Pointer(names)),
		C.int32_t(count), nil, (**C.dl_dataset)(unsafe.Pointer(out)), (*C.dl_error)(unsafe.Pointer(err))))
}

func DatasetConcat(parts *Handle, count int32, out *Handle, err *Error) int32 {
	return int32(C.dl_dataset_concat((**C.dl_dataset)(unsafe.Pointer(parts)), C.int32_t(count),
		nil, (**C.dl_dataset)(unsafe.Pointer(out)), (*C.dl_error)(unsafe.Pointer(err))))
}

func DatasetSubset(dataset Handle, indices *int64, count int64, loan uintptr, out *Handle, err *Error) int32 {
	return int32(C.subset((*C.dl_dataset)(dataset), (*C.int64_t)(unsafe.Pointer(indices)), C.int64_t(count),
		C.uintptr_t(loan), (**C.dl_dataset)(unsafe.Pointer(out)), (*C.dl_error)(unsafe.Pointer(err))))
}

func DatasetCount(dataset Handle) int64 {
	return int64(C.dl_dataset_count((*C.dl_dataset)(dataset)))
}

func DatasetFields(dataset Handle, count *int32) *View {
	return (*View)(unsafe.Pointer(C.dl_dataset_fields((*C.dl_dataset)(dataset), (*C.int32_t)(unsafe.Pointer(count)))))
}

func DatasetFormat(dataset Handle) *byte {
	return (*byte)(unsafe.Pointer(C.dl_dataset_format((*C.dl_dataset)(dataset))))
}

func DatasetURI(dataset Handle) *byte {
	return (*byte)(unsafe.Pointer(C.dl_dataset_uri((*C.dl_dataset)(dataset))))
}

func DatasetNoteCount(dataset Handle) int32 {
	return int32(C.dl_dataset_note_count((*C.dl_dataset)(dataset)))
}

func DatasetNote(dataset Handle, index int32) *byte {
	return (*byte)(unsafe.Pointer(C.dl_dataset_note((*C.dl_dataset)(dataset), C.int32_t(index))))
}

func DatasetClassCount(dataset Handle) int64 {
	return int64(C.dl_dataset_class_count((*C.dl_dataset)(dataset)))
}

func DatasetClassName(dataset Handle, index int64) *byte {
	return (*byte)(unsafe.Pointer(C.dl_dataset_class_name((*C.dl_dataset)(dataset), C.int64_t(index))))
}

func DatasetImageInfo(dataset Handle, field *byte, index int64, out *ImageInfo, err *Error) int32 {
	return int32(C.dl_dataset_image_info((*C.dl_dataset)(dataset), (*C.char)(unsafe.Pointer(field)), C.int64_t(index),
		(*C.dl_image_info)(unsafe.Pointer(out)), (*C.dl_error)(unsafe.Pointer(err))))
}

func DatasetDestroy(dataset Handle) {
	C.dl_dataset_destroy((*C.dl_dataset)(dataset))
}

func LoaderCreate(dataset, options Handle, out *Handle, err *Error) int32 {
	return int32(C.dl_loader_create((*C.dl_dataset)(dataset), (*C.dl_options)(options),
		(**C.dl_loader)(unsafe.Pointer(out)), (*C.dl_error)(unsafe.Pointer(err))))
}

func LoaderBeginEpoch(loader Handle, err *Error) int32 {
	return int32(C.dl_loader_begin_epoch((*C.dl_loader)(loader), (*C.dl_error)(unsafe.Pointer(err))))
}

func LoaderPosition(loader Handle, epoch, step *int64, err *Error) int32 {
	return int32(C.dl_loader_position((*C.dl_loader)(loader), (*C.int64_t)(unsafe.Pointer(epoch)),
		(*C.int64_t)(unsafe.Pointer(step)), (*C.dl_error)(unsafe.Pointer(err))))
}

func LoaderSeek(loader Handle, epoch, step int64, err *Error) int32 {
	return int32(C.dl_loader_seek((*C.dl_loader)(loader), C.int64_t(epoch), C.int64_t(step),
		(*C.dl_error)(unsafe.Pointer(err))))
}

func LoaderSteps(loader Handle) int64 {
	return int64(C.dl_loader_steps((*C.dl_loader)(loader)))
}

func LoaderSetIndices(loader Handle, indices *int64, count int64, loan uintptr, err *Error) int32 {
	return int32(C.loader_set_indices((*C.dl_loader)(loader), (*C.int64_t)(unsafe.Pointer(indices)),
		C.int64_t(count), C.uintptr_t(loan), (*C.dl_error)(unsafe.Pointer(err))))
}

func LoaderStateSave(loader Handle, text *byte, bytes *uintptr, err *Error) int32 {
	return int32(C.dl_loader_state_save((*C.dl_loader)(loader), (*C.char)(unsafe.Pointer(text)),
		(*C.size_t)(unsafe.Pointer(bytes)), (*C.dl_error)(unsafe.Pointer(err))))
}

func LoaderStateLoad(loader Handle, text *byte, err *Error) int32 {
	return int32(C.dl_loader_state_load((*C.dl_loader)(loader), (*C.char)(unsafe.Pointer(text)),
		(*C.dl_error)(unsafe.Pointer(err))))
}

func LoaderCancel(loader Handle) {
	C.dl_loader_cancel((*C.dl_loader)(loader))
}

func LoaderInterrupt(loader Handle) {
	C.dl_loader_interrupt((*C.dl_loader)(loader))
}

func LoaderWaitHandle(loader Handle, out *uintptr, err *Error) int32 {
	return int32(C.dl_loader_wait_handle((*C.dl_loader)(loader), (*C.intptr_t)(unsafe.Pointer(out)),
		(*C.dl_error)(unsafe.Pointer(err))))
}

func LoaderFields(loader Handle, count *int32) *View {
	return (*View)(unsafe.Pointer(C.dl_loader_fields((*C.dl_loader)(loader), (*C.int32_t)(unsafe.Pointer(count)))))
}

func LoaderPixelScale(loader Handle, field int32, channel int64, scale, offset *float64, err *Error) int32 {
	return int32(C.dl_loader_pixel_scale((*C.dl_loader)(loader), C.int32_t(field), C.int64_t(channel),
		(*C.double)(unsafe.Pointer(scale)), (*C.double)(unsafe.Pointer(offset)), (*C.dl_error)(unsafe.Pointer(err))))
}

func LoaderPlanCount(loader Handle) int32 {
	return int32(C.dl_loader_plan_count((*C.dl_loader)(loader)))
}

func LoaderPlanAt(loader Handle, index int32, out *PlanStage, err *Error) int32 {
	return int32(C.dl_loader_plan_at((*C.dl_loader)(loader), C.int32_t(index), (*C.dl_plan_stage)(unsafe.Pointer(out)),
		(*C.dl_error)(unsafe.Pointer(err))))
}

func LoaderStats(loader Handle, out *Stats, err *Error) int32 {
	return int32(C.dl_loader_stats((*C.dl_loader)(loader), (*C.dl_stats)(unsafe.Pointer(out)),
		(*C.dl_error)(unsafe.Pointer(err))))
}

func LoaderBadSampleCount(loader Handle) int64 {
	return int64(C.dl_loader_bad_sample_count((*C.dl_loader)(loader)))
}

func LoaderBadSampleAt(loader Handle, index int64, out *BadSample, err *Error) int32 {
	return int32(C.dl_loader_bad_sample_at((*C.dl_loader)(loader), C.int64_t(index),
		(*C.dl_bad_sample)(unsafe.Pointer(out)), (*C.dl_error)(unsafe.Pointer(err))))
}

func LoaderDestroy(loader Handle) {
	C.dl_loader_destroy((*C.dl_loader)(loader))
}

func BatchGetInfo(batch Handle, out *BatchInfo, err *Error) int32 {
	return int32(C.dl_batch_get_info((*C.dl_batch)(batch), (*C.dl_batch_info)(unsafe.Pointer(out)),
		(*C.dl_error)(unsafe.Pointer(err))))
}

func BatchRelease(batch Handle) {
	C.dl_batch_release((*C.dl_batch)(batch))
}

func BatchWait(batch Handle, stream uintptr, err *Error) int32 {
	return int32(C.batch_wait((*C.dl_batch)(batch), C.uintptr_t(stream), (*C.dl_error)(unsafe.Pointer(err))))
}

func BatchReleaseOn(batch Handle, stream uintptr, err *Error) int32 {
	return int32(C.batch_release_on((*C.dl_batch)(batch), C.uintptr_t(stream), (*C.dl_error)(unsafe.Pointer(err))))
}

// Next is dl_loader_next, and dl_batch_views where it gave a batch.
func (f *Frame) Next(loader Handle, timeoutNs int64) int32 {
	return int32(C.next_views((*C.dl_loader)(loader), C.int64_t(timeoutNs), (*C.frame)(unsafe.Pointer(f))))
}

// As the struct of C beside next_views.
var _ = [1]struct{}{}[unsafe.Sizeof(Frame{})-unsafe.Sizeof(C.frame{})]
