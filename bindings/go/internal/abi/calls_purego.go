// The calls through symbols of the shared library, which symbols_purego.go names; long, for each function of the header
// is one here. A Go pointer becomes a number inside the argument list only: there the compiler keeps what it points to
// alive, and on the heap.
//
// SPDX-License-Identifier: Apache-2.0

//go:build !(dataline_static && cgo)

package abi

import (
	"runtime"
	"unsafe"

	"github.com/ebitengine/purego"
)

// pointer is a pointer into the library's memory that came out of a call as a number.
func pointer(result uintptr) unsafe.Pointer {
	return *(*unsafe.Pointer)(unsafe.Pointer(&result))
}

// releaseFor is the callback that gives a loan back; none for arrays that are copied.
func releaseFor(loan uintptr) uintptr {
	if loan == 0 {
		return 0
	}
	return callbacks.release
}

func AbiVersion() int32 {
	result, _, _ := purego.SyscallN(symbols[atAbiVersion])
	return int32(result)
}

func VersionString() *byte {
	result, _, _ := purego.SyscallN(symbols[atVersionString])
	return (*byte)(pointer(result))
}

func BuildInfo() *byte {
	result, _, _ := purego.SyscallN(symbols[atBuildInfo])
	return (*byte)(pointer(result))
}

func StatusName(status int32) *byte {
	result, _, _ := purego.SyscallN(symbols[atStatusName], uintptr(status))
	return (*byte)(pointer(result))
}

func DtypeName(dtype int32) *byte {
	result, _, _ := purego.SyscallN(symbols[atDtypeName], uintptr(dtype))
	return (*byte)(pointer(result))
}

func DtypeBytes(dtype int32) int32 {
	result, _, _ := purego.SyscallN(symbols[atDtypeBytes], uintptr(dtype))
	return int32(result)
}

func OptionCount() int32 {
	result, _, _ := purego.SyscallN(symbols[atOptionCount])
	return int32(result)
}

func OptionAt(index int32, out *OptionInfo, err *Error) int32 {
	result, _, _ := purego.SyscallN(symbols[atOptionAt], uintptr(index), uintptr(unsafe.Pointer(out)),
		uintptr(unsafe.Pointer(err)))
	return int32(result)
}

func TransformCount() int32 {
	result, _, _ := purego.SyscallN(symbols[atTransformCount])
	return int32(result)
}

func TransformAt(index int32, out *TransformInfo, err *Error) int32 {
	result, _, _ := purego.SyscallN(symbols[atTransformAt], uintptr(index), uintptr(unsafe.Pointer(out)),
		uintptr(unsafe.Pointer(err)))
	return int32(result)
}

func TransformArgumentAt(index, argument int32, out *ArgumentInfo, err *Error) int32 {
	result, _, _ := purego.SyscallN(symbols[atTransformArgumentAt], uintptr(index), uintptr(argument),
		uintptr(unsafe.Pointer(out)), uintptr(unsafe.Pointer(err)))
	return int32(result)
}

func OptionsCreate(out *Handle, err *Error) int32 {
	result, _, _ := purego.SyscallN(symbols[atOptionsCreate], uintptr(unsafe.Pointer(out)),
		uintptr(unsafe.Pointer(err)))
	return int32(result)
}

func OptionsDestroy(options Handle) {
	purego.SyscallN(symbols[atOptionsDestroy], uintptr(options))
}

func OptionsSet(options Handle, key, value *byte, err *Error) int32 {
	result, _, _ := purego.SyscallN(symbols[atOptionsSet], uintptr(options), uintptr(unsafe.Pointer(key)),
		uintptr(unsafe.Pointer(value)), uintptr(unsafe.Pointer(err)))
	return int32(result)
}

func OptionsGet(options Handle, key *byte, out **byte, err *Error) int32 {
	result, _, _ := purego.SyscallN(symbols[atOptionsGet], uintptr(options), uintptr(unsafe.Pointer(key)),
		uintptr(unsafe.Pointer(out)), uintptr(unsafe.Pointer(err)))
	return int32(result)
}

func OptionsSetIndices(options Handle, indices *int64, count int64, loan uintptr, err *Error) int32 {
	result, _, _ := purego.SyscallN(symbols[atOptionsSetIndices], uintptr(options),
		uintptr(unsafe.Pointer(indices)), uintptr(count), releaseFor(loan), loan, uintptr(unsafe.Pointer(err)))
	return int32(result)
}

func OptionsSetWeights(options Handle, weights *float64, count int64, loan uintptr, err *Error) int32 {
	result, _, _ := purego.SyscallN(symbols[atOptionsSetWeights], uintptr(options),
		uintptr(unsafe.Pointer(weights)), uintptr(count), releaseFor(loan), loan, uintptr(unsafe.Pointer(err)))
	return int32(result)
}

func OptionsSetLog(options Handle, log *Log, err *Error) int32 {
	log.Write, log.Destroy = callbacks.write, callbacks.release
	result, _, _ := purego.SyscallN(symbols[atOptionsSetLog], uintptr(options), uintptr(unsafe.Pointer(log)),
		uintptr(unsafe.Pointer(err)))
	return int32(result)
}

func OptionsSetCancelToken(options, token Handle, err *Error) int32 {
	result, _, _ := purego.SyscallN(symbols[atOptionsSetCancelToken], uintptr(options), uintptr(token),
		uintptr(unsafe.Pointer(err)))
	return int32(result)
}

func CancelTokenCreate(out *Handle, err *Error) int32 {
	result, _, _ := purego.SyscallN(symbols[atCancelTokenCreate], uintptr(unsafe.Pointer(out)),
		uintptr(unsafe.Pointer(err)))
	return int32(result)
}

func CancelTokenCancel(token Handle) {
	purego.SyscallN(symbols[atCancelTokenCancel], uintptr(token))
}

func CancelTokenDestroy(token Handle) {
	purego.SyscallN(symbols[atCancelTokenDestroy], uintptr(token))
}

func DatasetOpen(uri *byte, options Handle, out *Handle, err *Error) int32 {
	result, _, _ := purego.SyscallN(symbols[atDatasetOpen], uintptr(unsafe.Pointer(uri)), uintptr(options),
		uintptr(unsafe.Pointer(out)), uintptr(unsafe.Pointer(err)))
	return int32(result)
}

func DatasetFromArrays(arrays *Array, count int32, loan uintptr, options Handle, out *Handle, err *Error) int32 {
	result, _, _ := purego.SyscallN(symbols[atDatasetFromArrays], uintptr(unsafe.Pointer(arrays)), uintptr(count),
		releaseFor(loan), loan, uintptr(options), uintptr(unsafe.Pointer(out)), uintptr(unsafe.Pointer(err)))
	return int32(result)
}

func DatasetFromReader(reader *Reader, options Handle, out *Handle, err *Error) int32 {
	reader.Read, reader.Destroy = callbacks.read, callbacks.release
	result, _, _ := purego.SyscallN(symbols[atDatasetFromReader], uintptr(unsafe.Pointer(reader)),
		uintptr(options), uintptr(unsafe.Pointer(out)), uintptr(unsafe.Pointer(err)))
	return int32(result)
}

func DatasetZip(parts *Handle, names **byte, count int32, out *Handle, err *Error) int32 {
	result, _, _ := purego.SyscallN(symbols[atDatasetZip], uintptr(unsafe.Pointer(parts)),
		uintptr(unsafe.Pointer(names)), uintptr(count), 0, uintptr(unsafe.Pointer(out)), uintptr(unsafe.Pointer(err)))
	return int32(result)
}

func DatasetConcat(parts *Handle, count int32, out *Handle, err *Error) int32 {
	result, _, _ := purego.SyscallN(symbols[atDatasetConcat], uintptr(unsafe.Pointer(parts)), uintptr(count),
		0, uintptr(unsafe.Pointer(out)), uintptr(unsafe.Pointer(err)))
	return int32(result)
}

func DatasetSubset(dataset Handle, indices *int64, count int64, loan uintptr, out *Handle, err *Error) int32 {
	result, _, _ := purego.SyscallN(symbols[atDatasetSubset], uintptr(dataset), uintptr(unsafe.Pointer(indices)),
		uintptr(count), releaseFor(loan), loan, 0, uintptr(unsafe.Pointer(out)), uintptr(unsafe.Pointer(err)))
	return int32(result)
}

func DatasetCount(dataset Handle) int64 {
	result, _, _ := purego.SyscallN(symbols[atDatasetCount], uintptr(dataset))
	return int64(result)
}

func DatasetFields(dataset Handle, count *int32) *View {
	result, _, _ := purego.SyscallN(symbols[atDatasetFields], uintptr(dataset), uintptr(unsafe.Pointer(count)))
	return (*View)(pointer(result))
}

func DatasetFormat(dataset Handle) *byte {
	result, _, _ := purego.SyscallN(symbols[atDatasetFormat], uintptr(dataset))
	return (*byte)(pointer(result))
}

func DatasetURI(dataset Handle) *byte {
	result, _, _ := purego.SyscallN(symbols[atDatasetURI], uintptr(dataset))
	return (*byte)(pointer(result))
}

func DatasetNoteCount(dataset Handle) int32 {
	result, _, _ := purego.SyscallN(symbols[atDatasetNoteCount], uintptr(dataset))
	return int32(result)
}

func DatasetNote(dataset Handle, index int32) *byte {
	result, _, _ := purego.SyscallN(symbols[atDatasetNote], uintptr(dataset), uintptr(index))
	return (*byte)(pointer(result))
}

func DatasetClassCount(dataset Handle) int64 {
	result, _, _ := purego.SyscallN(symbols[atDatasetClassCount], uintptr(dataset))
	return int64(result)
}

func DatasetClassName(dataset Handle, index int64) *byte {
	result, _, _ := purego.SyscallN(symbols[atDatasetClassName], uintptr(dataset), uintptr(index))
	return (*byte)(pointer(result))
}

func DatasetImageInfo(dataset Handle, field *byte, index int64, out *ImageInfo, err *Error) int32 {
	result, _, _ := purego.SyscallN(symbols[atDatasetImageInfo], uintptr(dataset), uintptr(unsafe.Pointer(field)),
		uintptr(index), uintptr(unsafe.Pointer(out)), uintptr(unsafe.Pointer(err)))
	return int32(result)
}

func DatasetDestroy(dataset Handle) {
	purego.SyscallN(symbols[atDatasetDestroy], uintptr(dataset))
}

func LoaderCreate(dataset, options Handle, out *Handle, err *Error) int32 {
	result, _, _ := purego.SyscallN(symbols[atLoaderCreate], uintptr(dataset), uintptr(options),
		uintptr(unsafe.Pointer(out)), uintptr(unsafe.Pointer(err)))
	return int32(result)
}

func LoaderBeginEpoch(loader Handle, err *Error) int32 {
	result, _, _ := purego.SyscallN(symbols[atLoaderBeginEpoch], uintptr(loader), uintptr(unsafe.Pointer(err)))
	return int32(result)
}

func LoaderPosition(loader Handle, epoch, step *int64, err *Error) int32 {
	result, _, _ := purego.SyscallN(symbols[atLoaderPosition], uintptr(loader), uintptr(unsafe.Pointer(epoch)),
		uintptr(unsafe.Pointer(step)), uintptr(unsafe.Pointer(err)))
	return int32(result)
}

func LoaderSeek(loader Handle, epoch, step int64, err *Error) int32 {
	result, _, _ := purego.SyscallN(symbols[atLoaderSeek], uintptr(loader), uintptr(epoch), uintptr(step),
		uintptr(unsafe.Pointer(err)))
	return int32(result)
}

func LoaderSteps(loader Handle) int64 {
	result, _, _ := purego.SyscallN(symbols[atLoaderSteps], uintptr(loader))
	return int64(result)
}

func LoaderSetIndices(loader Handle, indices *int64, count int64, loan uintptr, err *Error) int32 {
	result, _, _ := purego.SyscallN(symbols[atLoaderSetIndices], uintptr(loader),
		uintptr(unsafe.Pointer(indices)), uintptr(count), releaseFor(loan), loan, uintptr(unsafe.Pointer(err)))
	return int32(result)
}

func LoaderStateSave(loader Handle, text *byte, bytes *uintptr, err *Error) int32 {
	result, _, _ := purego.SyscallN(symbols[atLoaderStateSave], uintptr(loader), uintptr(unsafe.Pointer(text)),
		uintptr(unsafe.Pointer(bytes)), uintptr(unsafe.Pointer(err)))
	return int32(result)
}

func LoaderStateLoad(loader Handle, text *byte, err *Error) int32 {
	result, _, _ := purego.SyscallN(symbols[atLoaderStateLoad], uintptr(loader), uintptr(unsafe.Pointer(text)),
		uintptr(unsafe.Pointer(err)))
	return int32(result)
}

func LoaderCancel(loader Handle) {
	purego.SyscallN(symbols[atLoaderCancel], uintptr(loader))
}

func LoaderInterrupt(loader Handle) {
	purego.SyscallN(symbols[atLoaderInterrupt], uintptr(loader))
}

func LoaderWaitHandle(loader Handle, out *uintptr, err *Error) int32 {
	result, _, _ := purego.SyscallN(symbols[atLoaderWaitHandle], uintptr(loader), uintptr(unsafe.Pointer(out)),
		uintptr(unsafe.Pointer(err)))
	return int32(result)
}

func LoaderFields(loader Handle, count *int32) *View {
	result, _, _ := purego.SyscallN(symbols[atLoaderFields], uintptr(loader), uintptr(unsafe.Pointer(count)))
	return (*View)(pointer(result))
}

func LoaderPixelScale(loader Handle, field int32, channel int64, scale, offset *float64, err *Error) int32 {
	result, _, _ := purego.SyscallN(symbols[atLoaderPixelScale], uintptr(loader), uintptr(field), uintptr(channel),
		uintptr(unsafe.Pointer(scale)), uintptr(unsafe.Pointer(offset)), uintptr(unsafe.Pointer(err)))
	return int32(result)
}

func LoaderPlanCount(loader Handle) int32 {
	result, _, _ := purego.SyscallN(symbols[atLoaderPlanCount], uintptr(loader))
	return int32(result)
}

func LoaderPlanAt(loader Handle, index int32, out *PlanStage, err *Error) int32 {
	result, _, _ := purego.SyscallN(symbols[atLoaderPlanAt], uintptr(loader), uintptr(index),
		uintptr(unsafe.Pointer(out)), uintptr(unsafe.Pointer(err)))
	return int32(result)
}

func LoaderStats(loader Handle, out *Stats, err *Error) int32 {
	result, _, _ := purego.SyscallN(symbols[atLoaderStats], uintptr(loader), uintptr(unsafe.Pointer(out)),
		uintptr(unsafe.Pointer(err)))
	return int32(result)
}

func LoaderBadSampleCount(loader Handle) int64 {
	result, _, _ := purego.SyscallN(symbols[atLoaderBadSampleCount], uintptr(loader))
	return int64(result)
}

func LoaderBadSampleAt(loader Handle, index int64, out *BadSample, err *Error) int32 {
	result, _, _ := purego.SyscallN(symbols[atLoaderBadSampleAt], uintptr(loader), uintptr(index),
		uintptr(unsafe.Pointer(out)), uintptr(unsafe.Pointer(err)))
	return int32(result)
}

func LoaderDestroy(loader Handle) {
	purego.SyscallN(symbols[atLoaderDestroy], uintptr(loader))
}

func BatchGetInfo(batch Handle, out *BatchInfo, err *Error) int32 {
	result, _, _ := purego.SyscallN(symbols[atBatchGetInfo], uintptr(batch), uintptr(unsafe.Pointer(out)),
		uintptr(unsafe.Pointer(err)))
	return int32(result)
}

func BatchRelease(batch Handle) {
	purego.SyscallN(symbols[atBatchRelease], uintptr(batch))
}

func BatchWait(batch Handle, stream uintptr, err *Error) int32 {
	result, _, _ := purego.SyscallN(symbols[atBatchWait], uintptr(batch), stream, uintptr(unsafe.Pointer(err)))
	return int32(result)
}

func BatchReleaseOn(batch Handle, stream uintptr, err *Error) int32 {
	result, _, _ := purego.SyscallN(symbols[atBatchReleaseOn], uintptr(batch), stream, uintptr(unsafe.Pointer(err)))
	return int32(result)
}

// Next is dl_loader_next, and dl_batch_views where it gave a batch. The argument lists lie in the frame, for others are
// allocated by each call; what they point to is in the frame too, so it is alive, and where it was.
func (f *Frame) Next(loader Handle, timeoutNs int64) int32 {
	f.arguments = [4]uintptr{uintptr(loader), uintptr(timeoutNs), uintptr(unsafe.Pointer(&f.Batch)),
		uintptr(unsafe.Pointer(&f.Error))}
	status, _, _ := purego.SyscallN(symbols[atLoaderNext], f.arguments[:]...)
	if int32(status) == 0 {
		f.arguments[0], f.arguments[1] = uintptr(f.Batch), uintptr(unsafe.Pointer(&f.Count))
		views, _, _ := purego.SyscallN(symbols[atBatchViews], f.arguments[:2]...)
		f.Views = (*View)(pointer(views))
	}
	runtime.KeepAlive(f)
	return int32(status)
}
