// Code generated from capi/api.json by capi/api/generate.py; DO NOT EDIT.
//
// All calls, through cgo. One list, hence the length.
//
// SPDX-License-Identifier: Apache-2.0

//go:build dataline_static && cgo

package abi

/*
#include <dataline.h>

#if DL_ABI_VERSION != 2
#error "this package is for DL_ABI_VERSION 2"
#endif

// With a loan the arrays are borrowed, without one they are copied.
extern void dataline_go_release(void*);
typedef void (*release_callback)(void*);
static release_callback release_for(uintptr_t loan) { return loan ? dataline_go_release : NULL; }
static dl_status go_dl_options_set_indices(dl_options* options, const int64_t* indices, int64_t count, uintptr_t loan,
    dl_error* error) {
  return dl_options_set_indices(options, indices, count, release_for(loan), (void*)loan, error);
}
static dl_status go_dl_options_set_weights(dl_options* options, const double* weights, int64_t count, uintptr_t loan,
    dl_error* error) {
  return dl_options_set_weights(options, weights, count, release_for(loan), (void*)loan, error);
}
static dl_status go_dl_options_set_lengths(dl_options* options, const int64_t* lengths, int64_t count, uintptr_t loan,
    dl_error* error) {
  return dl_options_set_lengths(options, lengths, count, release_for(loan), (void*)loan, error);
}
static dl_status go_dl_dataset_from_arrays(const dl_array* arrays, int32_t count, uintptr_t loan,
    const dl_options* options, dl_dataset** out, dl_error* error) {
  return dl_dataset_from_arrays(arrays, count, release_for(loan), (void*)loan, options, out, error);
}
static dl_status go_dl_dataset_subset(dl_dataset* dataset, const int64_t* indices, int64_t count, uintptr_t loan,
    const dl_options* options, dl_dataset** out, dl_error* error) {
  return dl_dataset_subset(dataset, indices, count, release_for(loan), (void*)loan, options, out, error);
}
static dl_status go_dl_loader_set_indices(dl_loader* loader, const int64_t* indices, int64_t count, uintptr_t loan,
    dl_error* error) {
  return dl_loader_set_indices(loader, indices, count, release_for(loan), (void*)loan, error);
}
static dl_status go_dl_batch_wait(dl_batch* batch, uintptr_t stream, dl_error* error) {
  return dl_batch_wait(batch, (void*)stream, error);
}
static dl_status go_dl_batch_release_on(dl_batch* batch, uintptr_t stream, dl_error* error) {
  return dl_batch_release_on(batch, (void*)stream, error);
}
*/
import "C"

import "unsafe"

func VersionNumber() int32 {
	return int32(C.dl_version_number())
}

func VersionString() *byte {
	return (*byte)(unsafe.Pointer(C.dl_version_string()))
}

func AbiVersion() int32 {
	return int32(C.dl_abi_version())
}

func BuildInfo() *byte {
	return (*byte)(unsafe.Pointer(C.dl_build_info()))
}

func StatusName(status int32) *byte {
	return (*byte)(unsafe.Pointer(C.dl_status_name(C.dl_status(status))))
}

func ErrorInit(err *Error, structSize uint32) {
	C.dl_error_init((*C.dl_error)(unsafe.Pointer(err)), C.uint32_t(structSize))
}

func OptionsCreate(out *Handle, err *Error) int32 {
	return int32(C.dl_options_create((**C.dl_options)(unsafe.Pointer(out)), (*C.dl_error)(unsafe.Pointer(err))))
}

func OptionsDestroy(options Handle) {
	C.dl_options_destroy((*C.dl_options)(options))
}

func OptionsCopy(options Handle, out *Handle, err *Error) int32 {
	return int32(C.dl_options_copy((*C.dl_options)(options), (**C.dl_options)(unsafe.Pointer(out)),
		(*C.dl_error)(unsafe.Pointer(err))))
}

func OptionsSet(options Handle, key *byte, value *byte, err *Error) int32 {
	return int32(C.dl_options_set((*C.dl_options)(options), (*C.char)(unsafe.Pointer(key)),
		(*C.char)(unsafe.Pointer(value)), (*C.dl_error)(unsafe.Pointer(err))))
}

func OptionsSetI64(options Handle, key *byte, value int64, err *Error) int32 {
	return int32(C.dl_options_set_i64((*C.dl_options)(options), (*C.char)(unsafe.Pointer(key)), C.int64_t(value),
		(*C.dl_error)(unsafe.Pointer(err))))
}

func OptionsSetIndices(options Handle, indices *int64, count int64, loan uintptr, err *Error) int32 {
	return int32(C.go_dl_options_set_indices((*C.dl_options)(options), (*C.int64_t)(unsafe.Pointer(indices)),
		C.int64_t(count), C.uintptr_t(loan), (*C.dl_error)(unsafe.Pointer(err))))
}

func OptionsSetWeights(options Handle, weights *float64, count int64, loan uintptr, err *Error) int32 {
	return int32(C.go_dl_options_set_weights((*C.dl_options)(options), (*C.double)(unsafe.Pointer(weights)),
		C.int64_t(count), C.uintptr_t(loan), (*C.dl_error)(unsafe.Pointer(err))))
}

func OptionsSetLengths(options Handle, lengths *int64, count int64, loan uintptr, err *Error) int32 {
	return int32(C.go_dl_options_set_lengths((*C.dl_options)(options), (*C.int64_t)(unsafe.Pointer(lengths)),
		C.int64_t(count), C.uintptr_t(loan), (*C.dl_error)(unsafe.Pointer(err))))
}

func OptionsSetAllocator(options Handle, allocator *Allocator, err *Error) int32 {
	return int32(C.dl_options_set_allocator((*C.dl_options)(options), (*C.dl_allocator)(unsafe.Pointer(allocator)),
		(*C.dl_error)(unsafe.Pointer(err))))
}

func OptionsSetLog(options Handle, log *Log, err *Error) int32 {
	return int32(C.dl_options_set_log((*C.dl_options)(options), (*C.dl_log)(unsafe.Pointer(log)),
		(*C.dl_error)(unsafe.Pointer(err))))
}

func OptionsSetCancelToken(options Handle, token Handle, err *Error) int32 {
	return int32(C.dl_options_set_cancel_token((*C.dl_options)(options), (*C.dl_cancel_token)(token),
		(*C.dl_error)(unsafe.Pointer(err))))
}

func OptionsSetEnvironment(options Handle, environment **byte, err *Error) int32 {
	return int32(C.dl_options_set_environment((*C.dl_options)(options), (**C.char)(unsafe.Pointer(environment)),
		(*C.dl_error)(unsafe.Pointer(err))))
}

func OptionsGet(options Handle, key *byte, out **byte, err *Error) int32 {
	return int32(C.dl_options_get((*C.dl_options)(options), (*C.char)(unsafe.Pointer(key)),
		(**C.char)(unsafe.Pointer(out)), (*C.dl_error)(unsafe.Pointer(err))))
}

func LauncherDetect(environment **byte, out *Launcher, err *Error) int32 {
	return int32(C.dl_launcher_detect((**C.char)(unsafe.Pointer(environment)), (*C.dl_launcher)(unsafe.Pointer(out)),
		(*C.dl_error)(unsafe.Pointer(err))))
}

func OptionCount() int32 {
	return int32(C.dl_option_count())
}

func OptionAt(index int32, out *OptionInfo, err *Error) int32 {
	return int32(C.dl_option_at(C.int32_t(index), (*C.dl_option_info)(unsafe.Pointer(out)),
		(*C.dl_error)(unsafe.Pointer(err))))
}

func TransformCount(extensions Handle) int32 {
	return int32(C.dl_transform_count((*C.dl_extensions)(extensions)))
}

func TransformAt(extensions Handle, index int32, out *TransformInfo, err *Error) int32 {
	return int32(C.dl_transform_at((*C.dl_extensions)(extensions), C.int32_t(index),
		(*C.dl_transform_info)(unsafe.Pointer(out)), (*C.dl_error)(unsafe.Pointer(err))))
}

func TransformArgumentAt(extensions Handle, index int32, argument int32, out *ArgumentInfo, err *Error) int32 {
	return int32(C.dl_transform_argument_at((*C.dl_extensions)(extensions), C.int32_t(index), C.int32_t(argument),
		(*C.dl_argument_info)(unsafe.Pointer(out)), (*C.dl_error)(unsafe.Pointer(err))))
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

func DtypeName(dtype int32) *byte {
	return (*byte)(unsafe.Pointer(C.dl_dtype_name(C.int32_t(dtype))))
}

func DtypeBytes(dtype int32) int32 {
	return int32(C.dl_dtype_bytes(C.int32_t(dtype)))
}

func DtypeFromName(name *byte) int32 {
	return int32(C.dl_dtype_from_name((*C.char)(unsafe.Pointer(name))))
}

func DatasetOpen(uri *byte, options Handle, out *Handle, err *Error) int32 {
	return int32(C.dl_dataset_open((*C.char)(unsafe.Pointer(uri)), (*C.dl_options)(options),
		(**C.dl_dataset)(unsafe.Pointer(out)), (*C.dl_error)(unsafe.Pointer(err))))
}

func DatasetFromArrays(arrays *Array, count int32, loan uintptr, options Handle, out *Handle, err *Error) int32 {
	return int32(C.go_dl_dataset_from_arrays((*C.dl_array)(unsafe.Pointer(arrays)), C.int32_t(count), C.uintptr_t(loan),
		(*C.dl_options)(options), (**C.dl_dataset)(unsafe.Pointer(out)), (*C.dl_error)(unsafe.Pointer(err))))
}

func DatasetFromArrow(stream Handle, keys *byte, options Handle, out *Handle, err *Error) int32 {
	return int32(C.dl_dataset_from_arrow((*C.struct_ArrowArrayStream)(stream), (*C.char)(unsafe.Pointer(keys)),
		(*C.dl_options)(options), (**C.dl_dataset)(unsafe.Pointer(out)), (*C.dl_error)(unsafe.Pointer(err))))
}

func DatasetFromArrowArray(schema Handle, array Handle, keys *byte, options Handle, out *Handle, err *Error) int32 {
	return int32(C.dl_dataset_from_arrow_array((*C.struct_ArrowSchema)(schema), (*C.struct_ArrowArray)(array),
		(*C.char)(unsafe.Pointer(keys)), (*C.dl_options)(options), (**C.dl_dataset)(unsafe.Pointer(out)),
		(*C.dl_error)(unsafe.Pointer(err))))
}

func DatasetFromReader(reader *Reader, options Handle, out *Handle, err *Error) int32 {
	return int32(C.dl_dataset_from_reader((*C.dl_reader)(unsafe.Pointer(reader)), (*C.dl_options)(options),
		(**C.dl_dataset)(unsafe.Pointer(out)), (*C.dl_error)(unsafe.Pointer(err))))
}

func DatasetZip(parts *Handle, names **byte, count int32, options Handle, out *Handle, err *Error) int32 {
	return int32(C.dl_dataset_zip((**C.dl_dataset)(unsafe.Pointer(parts)), (**C.char)(unsafe.Pointer(names)),
		C.int32_t(count), (*C.dl_options)(options), (**C.dl_dataset)(unsafe.Pointer(out)),
		(*C.dl_error)(unsafe.Pointer(err))))
}

func DatasetConcat(parts *Handle, count int32, options Handle, out *Handle, err *Error) int32 {
	return int32(C.dl_dataset_concat((**C.dl_dataset)(unsafe.Pointer(parts)), C.int32_t(count),
		(*C.dl_options)(options), (**C.dl_dataset)(unsafe.Pointer(out)), (*C.dl_error)(unsafe.Pointer(err))))
}

func DatasetSubset(dataset Handle, indices *int64, count int64, loan uintptr, options Handle, out *Handle,
	err *Error) int32 {
	return int32(C.go_dl_dataset_subset((*C.dl_dataset)(dataset), (*C.int64_t)(unsafe.Pointer(indices)),
		C.int64_t(count), C.uintptr_t(loan), (*C.dl_options)(options), (**C.dl_dataset)(unsafe.Pointer(out)),
		(*C.dl_error)(unsafe.Pointer(err))))
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

func DatasetUri(dataset Handle) *byte {
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

func DatasetRead(dataset Handle, index int64, options Handle, out *Handle, err *Error) int32 {
	return int32(C.dl_dataset_read((*C.dl_dataset)(dataset), C.int64_t(index), (*C.dl_options)(options),
		(**C.dl_batch)(unsafe.Pointer(out)), (*C.dl_error)(unsafe.Pointer(err))))
}

func DatasetDestroy(dataset Handle) {
	C.dl_dataset_destroy((*C.dl_dataset)(dataset))
}

func LoaderCreate(dataset Handle, options Handle, out *Handle, err *Error) int32 {
	return int32(C.dl_loader_create((*C.dl_dataset)(dataset), (*C.dl_options)(options),
		(**C.dl_loader)(unsafe.Pointer(out)), (*C.dl_error)(unsafe.Pointer(err))))
}

func LoaderNext(loader Handle, timeoutNs int64, out *Handle, err *Error) int32 {
	return int32(C.dl_loader_next((*C.dl_loader)(loader), C.int64_t(timeoutNs), (**C.dl_batch)(unsafe.Pointer(out)),
		(*C.dl_error)(unsafe.Pointer(err))))
}

func LoaderWork(loader Handle, budgetNs int64, err *Error) int32 {
	return int32(C.dl_loader_work((*C.dl_loader)(loader), C.int64_t(budgetNs), (*C.dl_error)(unsafe.Pointer(err))))
}

func LoaderEpoch(loader Handle, out *Handle, err *Error) int32 {
	return int32(C.dl_loader_epoch((*C.dl_loader)(loader), (**C.dl_epoch)(unsafe.Pointer(out)),
		(*C.dl_error)(unsafe.Pointer(err))))
}

func LoaderStream(loader Handle, out *Handle, err *Error) int32 {
	return int32(C.dl_loader_stream((*C.dl_loader)(loader), (**C.dl_epoch)(unsafe.Pointer(out)),
		(*C.dl_error)(unsafe.Pointer(err))))
}

func EpochNext(epoch Handle, timeoutNs int64, out *Handle, err *Error) int32 {
	return int32(C.dl_epoch_next((*C.dl_epoch)(epoch), C.int64_t(timeoutNs), (**C.dl_batch)(unsafe.Pointer(out)),
		(*C.dl_error)(unsafe.Pointer(err))))
}

func EpochInterrupt(epoch Handle) {
	C.dl_epoch_interrupt((*C.dl_epoch)(epoch))
}

func EpochRelease(epoch Handle) {
	C.dl_epoch_release((*C.dl_epoch)(epoch))
}

func LoaderBeginEpoch(loader Handle, err *Error) int32 {
	return int32(C.dl_loader_begin_epoch((*C.dl_loader)(loader), (*C.dl_error)(unsafe.Pointer(err))))
}

func LoaderPosition(loader Handle, epoch *int64, step *int64, err *Error) int32 {
	return int32(C.dl_loader_position((*C.dl_loader)(loader), (*C.int64_t)(unsafe.Pointer(epoch)),
		(*C.int64_t)(unsafe.Pointer(step)), (*C.dl_error)(unsafe.Pointer(err))))
}

func LoaderSeek(loader Handle, epoch int64, step int64, err *Error) int32 {
	return int32(C.dl_loader_seek((*C.dl_loader)(loader), C.int64_t(epoch), C.int64_t(step),
		(*C.dl_error)(unsafe.Pointer(err))))
}

func LoaderSteps(loader Handle) int64 {
	return int64(C.dl_loader_steps((*C.dl_loader)(loader)))
}

func LoaderSetIndices(loader Handle, indices *int64, count int64, loan uintptr, err *Error) int32 {
	return int32(C.go_dl_loader_set_indices((*C.dl_loader)(loader), (*C.int64_t)(unsafe.Pointer(indices)),
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

func BatchViews(batch Handle, count *int32) *View {
	return (*View)(unsafe.Pointer(C.dl_batch_views((*C.dl_batch)(batch), (*C.int32_t)(unsafe.Pointer(count)))))
}

func BatchGetInfo(batch Handle, out *BatchInfo, err *Error) int32 {
	return int32(C.dl_batch_get_info((*C.dl_batch)(batch), (*C.dl_batch_info)(unsafe.Pointer(out)),
		(*C.dl_error)(unsafe.Pointer(err))))
}

func BatchRetain(batch Handle) {
	C.dl_batch_retain((*C.dl_batch)(batch))
}

func BatchRelease(batch Handle) {
	C.dl_batch_release((*C.dl_batch)(batch))
}

func BatchWait(batch Handle, stream uintptr, err *Error) int32 {
	return int32(C.go_dl_batch_wait((*C.dl_batch)(batch), C.uintptr_t(stream), (*C.dl_error)(unsafe.Pointer(err))))
}

func BatchReleaseOn(batch Handle, stream uintptr, err *Error) int32 {
	return int32(C.go_dl_batch_release_on((*C.dl_batch)(batch), C.uintptr_t(stream),
		(*C.dl_error)(unsafe.Pointer(err))))
}

func BatchDlpack(batch Handle, field int32, out *Handle, err *Error) int32 {
	return int32(C.dl_batch_dlpack((*C.dl_batch)(batch), C.int32_t(field),
		(**C.struct_DLManagedTensor)(unsafe.Pointer(out)), (*C.dl_error)(unsafe.Pointer(err))))
}

func BatchDlpackVersioned(batch Handle, field int32, out *Handle, err *Error) int32 {
	return int32(C.dl_batch_dlpack_versioned((*C.dl_batch)(batch), C.int32_t(field),
		(**C.struct_DLManagedTensorVersioned)(unsafe.Pointer(out)), (*C.dl_error)(unsafe.Pointer(err))))
}

func BatchArrow(batch Handle, schema Handle, array Handle, err *Error) int32 {
	return int32(C.dl_batch_arrow((*C.dl_batch)(batch), (*C.struct_ArrowSchema)(schema), (*C.struct_ArrowArray)(array),
		(*C.dl_error)(unsafe.Pointer(err))))
}

func DatasetOpenAsync(uri *byte, options Handle, out *Handle, err *Error) int32 {
	return int32(C.dl_dataset_open_async((*C.char)(unsafe.Pointer(uri)), (*C.dl_options)(options),
		(**C.dl_opening)(unsafe.Pointer(out)), (*C.dl_error)(unsafe.Pointer(err))))
}

func OpeningWait(opening Handle, timeoutNs int64, out *Handle, err *Error) int32 {
	return int32(C.dl_opening_wait((*C.dl_opening)(opening), C.int64_t(timeoutNs),
		(**C.dl_dataset)(unsafe.Pointer(out)), (*C.dl_error)(unsafe.Pointer(err))))
}

func OpeningWaitHandle(opening Handle, out *uintptr, err *Error) int32 {
	return int32(C.dl_opening_wait_handle((*C.dl_opening)(opening), (*C.intptr_t)(unsafe.Pointer(out)),
		(*C.dl_error)(unsafe.Pointer(err))))
}

func OpeningProgress(opening Handle, out *Progress, err *Error) int32 {
	return int32(C.dl_opening_progress((*C.dl_opening)(opening), (*C.dl_progress)(unsafe.Pointer(out)),
		(*C.dl_error)(unsafe.Pointer(err))))
}

func OpeningCancel(opening Handle) {
	C.dl_opening_cancel((*C.dl_opening)(opening))
}

func OpeningDestroy(opening Handle) {
	C.dl_opening_destroy((*C.dl_opening)(opening))
}

func DatasetIdentity(dataset Handle, text *byte, bytes *uintptr, err *Error) int32 {
	return int32(C.dl_dataset_identity((*C.dl_dataset)(dataset), (*C.char)(unsafe.Pointer(text)),
		(*C.size_t)(unsafe.Pointer(bytes)), (*C.dl_error)(unsafe.Pointer(err))))
}

func DatasetImageInfo(dataset Handle, field *byte, index int64, out *ImageInfo, err *Error) int32 {
	return int32(C.dl_dataset_image_info((*C.dl_dataset)(dataset), (*C.char)(unsafe.Pointer(field)), C.int64_t(index),
		(*C.dl_image_info)(unsafe.Pointer(out)), (*C.dl_error)(unsafe.Pointer(err))))
}

func LoaderPixelScale(loader Handle, field int32, channel int64, scale *float64, offset *float64, err *Error) int32 {
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

func LoaderMetrics(loader Handle, out *Handle, err *Error) int32 {
	return int32(C.dl_loader_metrics((*C.dl_loader)(loader), (**C.dl_metrics)(unsafe.Pointer(out)),
		(*C.dl_error)(unsafe.Pointer(err))))
}

func MetricsDestroy(metrics Handle) {
	C.dl_metrics_destroy((*C.dl_metrics)(metrics))
}

func MetricsCount(metrics Handle) int64 {
	return int64(C.dl_metrics_count((*C.dl_metrics)(metrics)))
}

func MetricsAt(metrics Handle, index int64, out *Metric, err *Error) int32 {
	return int32(C.dl_metrics_at((*C.dl_metrics)(metrics), C.int64_t(index), (*C.dl_metric)(unsafe.Pointer(out)),
		(*C.dl_error)(unsafe.Pointer(err))))
}

func MetricsText(metrics Handle, labels *byte, text *byte, bytes *uintptr, err *Error) int32 {
	return int32(C.dl_metrics_text((*C.dl_metrics)(metrics), (*C.char)(unsafe.Pointer(labels)),
		(*C.char)(unsafe.Pointer(text)), (*C.size_t)(unsafe.Pointer(bytes)), (*C.dl_error)(unsafe.Pointer(err))))
}

func MetricsStallCount(metrics Handle) int64 {
	return int64(C.dl_metrics_stall_count((*C.dl_metrics)(metrics)))
}

func MetricsStallAt(metrics Handle, index int64, out *Stall, err *Error) int32 {
	return int32(C.dl_metrics_stall_at((*C.dl_metrics)(metrics), C.int64_t(index), (*C.dl_stall)(unsafe.Pointer(out)),
		(*C.dl_error)(unsafe.Pointer(err))))
}

func LoaderTraceStart(loader Handle, path *byte, sink *TraceSink, err *Error) int32 {
	return int32(C.dl_loader_trace_start((*C.dl_loader)(loader), (*C.char)(unsafe.Pointer(path)),
		(*C.dl_trace_sink)(unsafe.Pointer(sink)), (*C.dl_error)(unsafe.Pointer(err))))
}

func LoaderTraceStop(loader Handle, err *Error) int32 {
	return int32(C.dl_loader_trace_stop((*C.dl_loader)(loader), (*C.dl_error)(unsafe.Pointer(err))))
}

func LoaderSetWorkers(loader Handle, count int64, err *Error) int32 {
	return int32(C.dl_loader_set_workers((*C.dl_loader)(loader), C.int64_t(count), (*C.dl_error)(unsafe.Pointer(err))))
}

func LoaderTuned(loader Handle, out *Tuned, err *Error) int32 {
	return int32(C.dl_loader_tuned((*C.dl_loader)(loader), (*C.dl_tuned)(unsafe.Pointer(out)),
		(*C.dl_error)(unsafe.Pointer(err))))
}

func DatasetMix(parts *MixPart, partCount int32, stages *MixStage, stageCount int32, samplesPerEpoch int64,
	options Handle, out *Handle, err *Error) int32 {
	return int32(C.dl_dataset_mix((*C.dl_mix_part)(unsafe.Pointer(parts)), C.int32_t(partCount),
		(*C.dl_mix_stage)(unsafe.Pointer(stages)), C.int32_t(stageCount), C.int64_t(samplesPerEpoch),
		(*C.dl_options)(options), (**C.dl_dataset)(unsafe.Pointer(out)), (*C.dl_error)(unsafe.Pointer(err))))
}

func DatasetPartCount(dataset Handle) int32 {
	return int32(C.dl_dataset_part_count((*C.dl_dataset)(dataset)))
}

func DatasetPartAt(dataset Handle, index int32, out *Part, err *Error) int32 {
	return int32(C.dl_dataset_part_at((*C.dl_dataset)(dataset), C.int32_t(index), (*C.dl_part)(unsafe.Pointer(out)),
		(*C.dl_error)(unsafe.Pointer(err))))
}

func LoaderPartCount(loader Handle) int32 {
	return int32(C.dl_loader_part_count((*C.dl_loader)(loader)))
}

func LoaderPartAt(loader Handle, index int32, out *Part, err *Error) int32 {
	return int32(C.dl_loader_part_at((*C.dl_loader)(loader), C.int32_t(index), (*C.dl_part)(unsafe.Pointer(out)),
		(*C.dl_error)(unsafe.Pointer(err))))
}

func WriterCreate(uri *byte, fields *View, fieldCount int32, job *byte, out *Handle, err *Error) int32 {
	return int32(C.dl_writer_create((*C.char)(unsafe.Pointer(uri)), (*C.dl_view)(unsafe.Pointer(fields)),
		C.int32_t(fieldCount), (*C.char)(unsafe.Pointer(job)), (**C.dl_writer)(unsafe.Pointer(out)),
		(*C.dl_error)(unsafe.Pointer(err))))
}

func WriterAppend(writer Handle, arrays *Array, count int32, position *byte, err *Error) int32 {
	return int32(C.dl_writer_append((*C.dl_writer)(writer), (*C.dl_array)(unsafe.Pointer(arrays)), C.int32_t(count),
		(*C.char)(unsafe.Pointer(position)), (*C.dl_error)(unsafe.Pointer(err))))
}

func WriterFinish(writer Handle, err *Error) int32 {
	return int32(C.dl_writer_finish((*C.dl_writer)(writer), (*C.dl_error)(unsafe.Pointer(err))))
}

func WriterGetInfo(writer Handle, out *WriterInfo, err *Error) int32 {
	return int32(C.dl_writer_get_info((*C.dl_writer)(writer), (*C.dl_writer_info)(unsafe.Pointer(out)),
		(*C.dl_error)(unsafe.Pointer(err))))
}

func WriterPosition(writer Handle) *byte {
	return (*byte)(unsafe.Pointer(C.dl_writer_position((*C.dl_writer)(writer))))
}

func WriterDestroy(writer Handle) {
	C.dl_writer_destroy((*C.dl_writer)(writer))
}

func WriterFormatCount() int32 {
	return int32(C.dl_writer_format_count())
}

func WriterFormatName(index int32) *byte {
	return (*byte)(unsafe.Pointer(C.dl_writer_format_name(C.int32_t(index))))
}

func WriterFormatDoc(index int32) *byte {
	return (*byte)(unsafe.Pointer(C.dl_writer_format_doc(C.int32_t(index))))
}

func ExtensionsCreate(out *Handle, err *Error) int32 {
	return int32(C.dl_extensions_create((**C.dl_extensions)(unsafe.Pointer(out)), (*C.dl_error)(unsafe.Pointer(err))))
}

func ExtensionsDestroy(extensions Handle) {
	C.dl_extensions_destroy((*C.dl_extensions)(extensions))
}

func OptionsSetExtensions(options Handle, extensions Handle, err *Error) int32 {
	return int32(C.dl_options_set_extensions((*C.dl_options)(options), (*C.dl_extensions)(extensions),
		(*C.dl_error)(unsafe.Pointer(err))))
}

func ErrorSet(err *Error, code int32, message *byte) int32 {
	return int32(C.dl_error_set((*C.dl_error)(unsafe.Pointer(err)), C.dl_status(code),
		(*C.char)(unsafe.Pointer(message))))
}

func FileOpen(path *byte, options Handle, out *Handle, err *Error) int32 {
	return int32(C.dl_file_open((*C.char)(unsafe.Pointer(path)), (*C.dl_options)(options),
		(**C.dl_file)(unsafe.Pointer(out)), (*C.dl_error)(unsafe.Pointer(err))))
}

func FileBytes(file Handle) int64 {
	return int64(C.dl_file_bytes((*C.dl_file)(file)))
}

func FileRead(file Handle, offset int64, bytes int64, out Handle, cancelled *int32, err *Error) int32 {
	return int32(C.dl_file_read((*C.dl_file)(file), C.int64_t(offset), C.int64_t(bytes), out,
		(*C.int32_t)(unsafe.Pointer(cancelled)), (*C.dl_error)(unsafe.Pointer(err))))
}

func FileDestroy(file Handle) {
	C.dl_file_destroy((*C.dl_file)(file))
}

func ExtensionsAddFormat(extensions Handle, format *Format, err *Error) int32 {
	return int32(C.dl_extensions_add_format((*C.dl_extensions)(extensions), (*C.dl_format)(unsafe.Pointer(format)),
		(*C.dl_error)(unsafe.Pointer(err))))
}

func ExtensionsAddOperator(extensions Handle, table *Operator, err *Error) int32 {
	return int32(C.dl_extensions_add_operator((*C.dl_extensions)(extensions), (*C.dl_operator)(unsafe.Pointer(table)),
		(*C.dl_error)(unsafe.Pointer(err))))
}

func OperatorRandom(row *OperatorRow, number int64) uint64 {
	return uint64(C.dl_operator_random((*C.dl_operator_row)(unsafe.Pointer(row)), C.int64_t(number)))
}

func ExtensionsAddStorage(extensions Handle, storage *Storage, err *Error) int32 {
	return int32(C.dl_extensions_add_storage((*C.dl_extensions)(extensions), (*C.dl_storage)(unsafe.Pointer(storage)),
		(*C.dl_error)(unsafe.Pointer(err))))
}

func ExtensionsSetThreads(extensions Handle, threads *Threads, err *Error) int32 {
	return int32(C.dl_extensions_set_threads((*C.dl_extensions)(extensions), (*C.dl_threads)(unsafe.Pointer(threads)),
		(*C.dl_error)(unsafe.Pointer(err))))
}

func ExtensionsLoad(extensions Handle, path *byte, err *Error) int32 {
	return int32(C.dl_extensions_load((*C.dl_extensions)(extensions), (*C.char)(unsafe.Pointer(path)),
		(*C.dl_error)(unsafe.Pointer(err))))
}

func FormatCount(extensions Handle) int32 {
	return int32(C.dl_format_count((*C.dl_extensions)(extensions)))
}

func FormatAt(extensions Handle, index int32, out *FormatInfo, err *Error) int32 {
	return int32(C.dl_format_at((*C.dl_extensions)(extensions), C.int32_t(index),
		(*C.dl_format_info)(unsafe.Pointer(out)), (*C.dl_error)(unsafe.Pointer(err))))
}

func FormatKeyAt(extensions Handle, index int32, key int32, out *FormatKey, err *Error) int32 {
	return int32(C.dl_format_key_at((*C.dl_extensions)(extensions), C.int32_t(index), C.int32_t(key),
		(*C.dl_format_key)(unsafe.Pointer(out)), (*C.dl_error)(unsafe.Pointer(err))))
}

func StorageCount(extensions Handle) int32 {
	return int32(C.dl_storage_count((*C.dl_extensions)(extensions)))
}

func StorageAt(extensions Handle, index int32, out *Storage, err *Error) int32 {
	return int32(C.dl_storage_at((*C.dl_extensions)(extensions), C.int32_t(index), (*C.dl_storage)(unsafe.Pointer(out)),
		(*C.dl_error)(unsafe.Pointer(err))))
}
