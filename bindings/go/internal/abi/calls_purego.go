// Code generated from capi/api.json by capi/api/generate.py; DO NOT EDIT.
//
// All calls, by address. One list, hence the length. A Go pointer becomes a number inside the argument list
// only: there the compiler keeps its target alive, and on the heap.
//
// SPDX-License-Identifier: Apache-2.0

//go:build !(dataline_static && cgo)

package abi

import (
	"unsafe"

	"github.com/ebitengine/purego"
)

func VersionNumber() int32 {
	result, _, _ := purego.SyscallN(symbols[atVersionNumber])
	return int32(result)
}

func VersionString() *byte {
	result, _, _ := purego.SyscallN(symbols[atVersionString])
	return (*byte)(pointer(result))
}

func AbiVersion() int32 {
	result, _, _ := purego.SyscallN(symbols[atAbiVersion])
	return int32(result)
}

func BuildInfo() *byte {
	result, _, _ := purego.SyscallN(symbols[atBuildInfo])
	return (*byte)(pointer(result))
}

func StatusName(status int32) *byte {
	result, _, _ := purego.SyscallN(symbols[atStatusName], uintptr(status))
	return (*byte)(pointer(result))
}

func ErrorInit(err *Error, structSize uint32) {
	purego.SyscallN(symbols[atErrorInit], uintptr(unsafe.Pointer(err)), uintptr(structSize))
}

func OptionsCreate(out *Handle, err *Error) int32 {
	result, _, _ := purego.SyscallN(symbols[atOptionsCreate], uintptr(unsafe.Pointer(out)),
		uintptr(unsafe.Pointer(err)))
	return int32(result)
}

func OptionsDestroy(options Handle) {
	purego.SyscallN(symbols[atOptionsDestroy], uintptr(options))
}

func OptionsCopy(options Handle, out *Handle, err *Error) int32 {
	result, _, _ := purego.SyscallN(symbols[atOptionsCopy], uintptr(options), uintptr(unsafe.Pointer(out)),
		uintptr(unsafe.Pointer(err)))
	return int32(result)
}

func OptionsSet(options Handle, key *byte, value *byte, err *Error) int32 {
	result, _, _ := purego.SyscallN(symbols[atOptionsSet], uintptr(options), uintptr(unsafe.Pointer(key)),
		uintptr(unsafe.Pointer(value)), uintptr(unsafe.Pointer(err)))
	return int32(result)
}

func OptionsSetI64(options Handle, key *byte, value int64, err *Error) int32 {
	result, _, _ := purego.SyscallN(symbols[atOptionsSetI64], uintptr(options), uintptr(unsafe.Pointer(key)),
		uintptr(value), uintptr(unsafe.Pointer(err)))
	return int32(result)
}

func OptionsSetIndices(options Handle, indices *int64, count int64, loan uintptr, err *Error) int32 {
	result, _, _ := purego.SyscallN(symbols[atOptionsSetIndices], uintptr(options), uintptr(unsafe.Pointer(indices)),
		uintptr(count), releaseFor(loan), loan, uintptr(unsafe.Pointer(err)))
	return int32(result)
}

func OptionsSetWeights(options Handle, weights *float64, count int64, loan uintptr, err *Error) int32 {
	result, _, _ := purego.SyscallN(symbols[atOptionsSetWeights], uintptr(options), uintptr(unsafe.Pointer(weights)),
		uintptr(count), releaseFor(loan), loan, uintptr(unsafe.Pointer(err)))
	return int32(result)
}

func OptionsSetLengths(options Handle, lengths *int64, count int64, loan uintptr, err *Error) int32 {
	result, _, _ := purego.SyscallN(symbols[atOptionsSetLengths], uintptr(options), uintptr(unsafe.Pointer(lengths)),
		uintptr(count), releaseFor(loan), loan, uintptr(unsafe.Pointer(err)))
	return int32(result)
}

func OptionsSetAllocator(options Handle, allocator *Allocator, err *Error) int32 {
	result, _, _ := purego.SyscallN(symbols[atOptionsSetAllocator], uintptr(options),
		uintptr(unsafe.Pointer(allocator)), uintptr(unsafe.Pointer(err)))
	return int32(result)
}

func OptionsSetLog(options Handle, log *Log, err *Error) int32 {
	result, _, _ := purego.SyscallN(symbols[atOptionsSetLog], uintptr(options), uintptr(unsafe.Pointer(log)),
		uintptr(unsafe.Pointer(err)))
	return int32(result)
}

func OptionsSetCancelToken(options Handle, token Handle, err *Error) int32 {
	result, _, _ := purego.SyscallN(symbols[atOptionsSetCancelToken], uintptr(options), uintptr(token),
		uintptr(unsafe.Pointer(err)))
	return int32(result)
}

func OptionsSetEnvironment(options Handle, environment **byte, err *Error) int32 {
	result, _, _ := purego.SyscallN(symbols[atOptionsSetEnvironment], uintptr(options),
		uintptr(unsafe.Pointer(environment)), uintptr(unsafe.Pointer(err)))
	return int32(result)
}

func OptionsGet(options Handle, key *byte, out **byte, err *Error) int32 {
	result, _, _ := purego.SyscallN(symbols[atOptionsGet], uintptr(options), uintptr(unsafe.Pointer(key)),
		uintptr(unsafe.Pointer(out)), uintptr(unsafe.Pointer(err)))
	return int32(result)
}

func LauncherDetect(environment **byte, out *Launcher, err *Error) int32 {
	result, _, _ := purego.SyscallN(symbols[atLauncherDetect], uintptr(unsafe.Pointer(environment)),
		uintptr(unsafe.Pointer(out)), uintptr(unsafe.Pointer(err)))
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

func TransformCount(extensions Handle) int32 {
	result, _, _ := purego.SyscallN(symbols[atTransformCount], uintptr(extensions))
	return int32(result)
}

func TransformAt(extensions Handle, index int32, out *TransformInfo, err *Error) int32 {
	result, _, _ := purego.SyscallN(symbols[atTransformAt], uintptr(extensions), uintptr(index),
		uintptr(unsafe.Pointer(out)), uintptr(unsafe.Pointer(err)))
	return int32(result)
}

func TransformArgumentAt(extensions Handle, index int32, argument int32, out *ArgumentInfo, err *Error) int32 {
	result, _, _ := purego.SyscallN(symbols[atTransformArgumentAt], uintptr(extensions), uintptr(index),
		uintptr(argument), uintptr(unsafe.Pointer(out)), uintptr(unsafe.Pointer(err)))
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

func DtypeName(dtype int32) *byte {
	result, _, _ := purego.SyscallN(symbols[atDtypeName], uintptr(dtype))
	return (*byte)(pointer(result))
}

func DtypeBytes(dtype int32) int32 {
	result, _, _ := purego.SyscallN(symbols[atDtypeBytes], uintptr(dtype))
	return int32(result)
}

func DtypeFromName(name *byte) int32 {
	result, _, _ := purego.SyscallN(symbols[atDtypeFromName], uintptr(unsafe.Pointer(name)))
	return int32(result)
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

func DatasetFromArrow(stream Handle, keys *byte, options Handle, out *Handle, err *Error) int32 {
	result, _, _ := purego.SyscallN(symbols[atDatasetFromArrow], uintptr(stream), uintptr(unsafe.Pointer(keys)),
		uintptr(options), uintptr(unsafe.Pointer(out)), uintptr(unsafe.Pointer(err)))
	return int32(result)
}

func DatasetFromArrowArray(schema Handle, array Handle, keys *byte, options Handle, out *Handle, err *Error) int32 {
	result, _, _ := purego.SyscallN(symbols[atDatasetFromArrowArray], uintptr(schema), uintptr(array),
		uintptr(unsafe.Pointer(keys)), uintptr(options), uintptr(unsafe.Pointer(out)), uintptr(unsafe.Pointer(err)))
	return int32(result)
}

func DatasetFromReader(reader *Reader, options Handle, out *Handle, err *Error) int32 {
	result, _, _ := purego.SyscallN(symbols[atDatasetFromReader], uintptr(unsafe.Pointer(reader)), uintptr(options),
		uintptr(unsafe.Pointer(out)), uintptr(unsafe.Pointer(err)))
	return int32(result)
}

func DatasetZip(parts *Handle, names **byte, count int32, options Handle, out *Handle, err *Error) int32 {
	result, _, _ := purego.SyscallN(symbols[atDatasetZip], uintptr(unsafe.Pointer(parts)),
		uintptr(unsafe.Pointer(names)), uintptr(count), uintptr(options), uintptr(unsafe.Pointer(out)),
		uintptr(unsafe.Pointer(err)))
	return int32(result)
}

func DatasetConcat(parts *Handle, count int32, options Handle, out *Handle, err *Error) int32 {
	result, _, _ := purego.SyscallN(symbols[atDatasetConcat], uintptr(unsafe.Pointer(parts)), uintptr(count),
		uintptr(options), uintptr(unsafe.Pointer(out)), uintptr(unsafe.Pointer(err)))
	return int32(result)
}

func DatasetSubset(dataset Handle, indices *int64, count int64, loan uintptr, options Handle, out *Handle,
	err *Error) int32 {
	result, _, _ := purego.SyscallN(symbols[atDatasetSubset], uintptr(dataset), uintptr(unsafe.Pointer(indices)),
		uintptr(count), releaseFor(loan), loan, uintptr(options), uintptr(unsafe.Pointer(out)),
		uintptr(unsafe.Pointer(err)))
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

func DatasetUri(dataset Handle) *byte {
	result, _, _ := purego.SyscallN(symbols[atDatasetUri], uintptr(dataset))
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

func DatasetRead(dataset Handle, index int64, options Handle, out *Handle, err *Error) int32 {
	result, _, _ := purego.SyscallN(symbols[atDatasetRead], uintptr(dataset), uintptr(index), uintptr(options),
		uintptr(unsafe.Pointer(out)), uintptr(unsafe.Pointer(err)))
	return int32(result)
}

func DatasetDestroy(dataset Handle) {
	purego.SyscallN(symbols[atDatasetDestroy], uintptr(dataset))
}

func LoaderCreate(dataset Handle, options Handle, out *Handle, err *Error) int32 {
	result, _, _ := purego.SyscallN(symbols[atLoaderCreate], uintptr(dataset), uintptr(options),
		uintptr(unsafe.Pointer(out)), uintptr(unsafe.Pointer(err)))
	return int32(result)
}

func LoaderNext(loader Handle, timeoutNs int64, out *Handle, err *Error) int32 {
	result, _, _ := purego.SyscallN(symbols[atLoaderNext], uintptr(loader), uintptr(timeoutNs),
		uintptr(unsafe.Pointer(out)), uintptr(unsafe.Pointer(err)))
	return int32(result)
}

func LoaderWork(loader Handle, budgetNs int64, err *Error) int32 {
	result, _, _ := purego.SyscallN(symbols[atLoaderWork], uintptr(loader), uintptr(budgetNs),
		uintptr(unsafe.Pointer(err)))
	return int32(result)
}

func LoaderEpoch(loader Handle, out *Handle, err *Error) int32 {
	result, _, _ := purego.SyscallN(symbols[atLoaderEpoch], uintptr(loader), uintptr(unsafe.Pointer(out)),
		uintptr(unsafe.Pointer(err)))
	return int32(result)
}

func LoaderStream(loader Handle, out *Handle, err *Error) int32 {
	result, _, _ := purego.SyscallN(symbols[atLoaderStream], uintptr(loader), uintptr(unsafe.Pointer(out)),
		uintptr(unsafe.Pointer(err)))
	return int32(result)
}

func EpochNext(epoch Handle, timeoutNs int64, out *Handle, err *Error) int32 {
	result, _, _ := purego.SyscallN(symbols[atEpochNext], uintptr(epoch), uintptr(timeoutNs),
		uintptr(unsafe.Pointer(out)), uintptr(unsafe.Pointer(err)))
	return int32(result)
}

func EpochInterrupt(epoch Handle) {
	purego.SyscallN(symbols[atEpochInterrupt], uintptr(epoch))
}

func EpochRelease(epoch Handle) {
	purego.SyscallN(symbols[atEpochRelease], uintptr(epoch))
}

func LoaderBeginEpoch(loader Handle, err *Error) int32 {
	result, _, _ := purego.SyscallN(symbols[atLoaderBeginEpoch], uintptr(loader), uintptr(unsafe.Pointer(err)))
	return int32(result)
}

func LoaderPosition(loader Handle, epoch *int64, step *int64, err *Error) int32 {
	result, _, _ := purego.SyscallN(symbols[atLoaderPosition], uintptr(loader), uintptr(unsafe.Pointer(epoch)),
		uintptr(unsafe.Pointer(step)), uintptr(unsafe.Pointer(err)))
	return int32(result)
}

func LoaderSeek(loader Handle, epoch int64, step int64, err *Error) int32 {
	result, _, _ := purego.SyscallN(symbols[atLoaderSeek], uintptr(loader), uintptr(epoch), uintptr(step),
		uintptr(unsafe.Pointer(err)))
	return int32(result)
}

func LoaderSteps(loader Handle) int64 {
	result, _, _ := purego.SyscallN(symbols[atLoaderSteps], uintptr(loader))
	return int64(result)
}

func LoaderSetIndices(loader Handle, indices *int64, count int64, loan uintptr, err *Error) int32 {
	result, _, _ := purego.SyscallN(symbols[atLoaderSetIndices], uintptr(loader), uintptr(unsafe.Pointer(indices)),
		uintptr(count), releaseFor(loan), loan, uintptr(unsafe.Pointer(err)))
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

func BatchViews(batch Handle, count *int32) *View {
	result, _, _ := purego.SyscallN(symbols[atBatchViews], uintptr(batch), uintptr(unsafe.Pointer(count)))
	return (*View)(pointer(result))
}

func BatchGetInfo(batch Handle, out *BatchInfo, err *Error) int32 {
	result, _, _ := purego.SyscallN(symbols[atBatchGetInfo], uintptr(batch), uintptr(unsafe.Pointer(out)),
		uintptr(unsafe.Pointer(err)))
	return int32(result)
}

func BatchRetain(batch Handle) {
	purego.SyscallN(symbols[atBatchRetain], uintptr(batch))
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

func BatchDlpack(batch Handle, field int32, out *Handle, err *Error) int32 {
	result, _, _ := purego.SyscallN(symbols[atBatchDlpack], uintptr(batch), uintptr(field),
		uintptr(unsafe.Pointer(out)), uintptr(unsafe.Pointer(err)))
	return int32(result)
}

func BatchDlpackVersioned(batch Handle, field int32, out *Handle, err *Error) int32 {
	result, _, _ := purego.SyscallN(symbols[atBatchDlpackVersioned], uintptr(batch), uintptr(field),
		uintptr(unsafe.Pointer(out)), uintptr(unsafe.Pointer(err)))
	return int32(result)
}

func BatchArrow(batch Handle, schema Handle, array Handle, err *Error) int32 {
	result, _, _ := purego.SyscallN(symbols[atBatchArrow], uintptr(batch), uintptr(schema), uintptr(array),
		uintptr(unsafe.Pointer(err)))
	return int32(result)
}

func DatasetOpenAsync(uri *byte, options Handle, out *Handle, err *Error) int32 {
	result, _, _ := purego.SyscallN(symbols[atDatasetOpenAsync], uintptr(unsafe.Pointer(uri)), uintptr(options),
		uintptr(unsafe.Pointer(out)), uintptr(unsafe.Pointer(err)))
	return int32(result)
}

func OpeningWait(opening Handle, timeoutNs int64, out *Handle, err *Error) int32 {
	result, _, _ := purego.SyscallN(symbols[atOpeningWait], uintptr(opening), uintptr(timeoutNs),
		uintptr(unsafe.Pointer(out)), uintptr(unsafe.Pointer(err)))
	return int32(result)
}

func OpeningWaitHandle(opening Handle, out *uintptr, err *Error) int32 {
	result, _, _ := purego.SyscallN(symbols[atOpeningWaitHandle], uintptr(opening), uintptr(unsafe.Pointer(out)),
		uintptr(unsafe.Pointer(err)))
	return int32(result)
}

func OpeningProgress(opening Handle, out *Progress, err *Error) int32 {
	result, _, _ := purego.SyscallN(symbols[atOpeningProgress], uintptr(opening), uintptr(unsafe.Pointer(out)),
		uintptr(unsafe.Pointer(err)))
	return int32(result)
}

func OpeningCancel(opening Handle) {
	purego.SyscallN(symbols[atOpeningCancel], uintptr(opening))
}

func OpeningDestroy(opening Handle) {
	purego.SyscallN(symbols[atOpeningDestroy], uintptr(opening))
}

func DatasetIdentity(dataset Handle, text *byte, bytes *uintptr, err *Error) int32 {
	result, _, _ := purego.SyscallN(symbols[atDatasetIdentity], uintptr(dataset), uintptr(unsafe.Pointer(text)),
		uintptr(unsafe.Pointer(bytes)), uintptr(unsafe.Pointer(err)))
	return int32(result)
}

func DatasetImageInfo(dataset Handle, field *byte, index int64, out *ImageInfo, err *Error) int32 {
	result, _, _ := purego.SyscallN(symbols[atDatasetImageInfo], uintptr(dataset), uintptr(unsafe.Pointer(field)),
		uintptr(index), uintptr(unsafe.Pointer(out)), uintptr(unsafe.Pointer(err)))
	return int32(result)
}

func LoaderPixelScale(loader Handle, field int32, channel int64, scale *float64, offset *float64, err *Error) int32 {
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

func LoaderMetrics(loader Handle, out *Handle, err *Error) int32 {
	result, _, _ := purego.SyscallN(symbols[atLoaderMetrics], uintptr(loader), uintptr(unsafe.Pointer(out)),
		uintptr(unsafe.Pointer(err)))
	return int32(result)
}

func MetricsDestroy(metrics Handle) {
	purego.SyscallN(symbols[atMetricsDestroy], uintptr(metrics))
}

func MetricsCount(metrics Handle) int64 {
	result, _, _ := purego.SyscallN(symbols[atMetricsCount], uintptr(metrics))
	return int64(result)
}

func MetricsAt(metrics Handle, index int64, out *Metric, err *Error) int32 {
	result, _, _ := purego.SyscallN(symbols[atMetricsAt], uintptr(metrics), uintptr(index),
		uintptr(unsafe.Pointer(out)), uintptr(unsafe.Pointer(err)))
	return int32(result)
}

func MetricsText(metrics Handle, labels *byte, text *byte, bytes *uintptr, err *Error) int32 {
	result, _, _ := purego.SyscallN(symbols[atMetricsText], uintptr(metrics), uintptr(unsafe.Pointer(labels)),
		uintptr(unsafe.Pointer(text)), uintptr(unsafe.Pointer(bytes)), uintptr(unsafe.Pointer(err)))
	return int32(result)
}

func MetricsStallCount(metrics Handle) int64 {
	result, _, _ := purego.SyscallN(symbols[atMetricsStallCount], uintptr(metrics))
	return int64(result)
}

func MetricsStallAt(metrics Handle, index int64, out *Stall, err *Error) int32 {
	result, _, _ := purego.SyscallN(symbols[atMetricsStallAt], uintptr(metrics), uintptr(index),
		uintptr(unsafe.Pointer(out)), uintptr(unsafe.Pointer(err)))
	return int32(result)
}

func LoaderTraceStart(loader Handle, path *byte, sink *TraceSink, err *Error) int32 {
	result, _, _ := purego.SyscallN(symbols[atLoaderTraceStart], uintptr(loader), uintptr(unsafe.Pointer(path)),
		uintptr(unsafe.Pointer(sink)), uintptr(unsafe.Pointer(err)))
	return int32(result)
}

func LoaderTraceStop(loader Handle, err *Error) int32 {
	result, _, _ := purego.SyscallN(symbols[atLoaderTraceStop], uintptr(loader), uintptr(unsafe.Pointer(err)))
	return int32(result)
}

func LoaderSetWorkers(loader Handle, count int64, err *Error) int32 {
	result, _, _ := purego.SyscallN(symbols[atLoaderSetWorkers], uintptr(loader), uintptr(count),
		uintptr(unsafe.Pointer(err)))
	return int32(result)
}

func LoaderTuned(loader Handle, out *Tuned, err *Error) int32 {
	result, _, _ := purego.SyscallN(symbols[atLoaderTuned], uintptr(loader), uintptr(unsafe.Pointer(out)),
		uintptr(unsafe.Pointer(err)))
	return int32(result)
}

func DatasetMix(parts *MixPart, partCount int32, stages *MixStage, stageCount int32, samplesPerEpoch int64,
	options Handle, out *Handle, err *Error) int32 {
	result, _, _ := purego.SyscallN(symbols[atDatasetMix], uintptr(unsafe.Pointer(parts)), uintptr(partCount),
		uintptr(unsafe.Pointer(stages)), uintptr(stageCount), uintptr(samplesPerEpoch), uintptr(options),
		uintptr(unsafe.Pointer(out)), uintptr(unsafe.Pointer(err)))
	return int32(result)
}

func DatasetPartCount(dataset Handle) int32 {
	result, _, _ := purego.SyscallN(symbols[atDatasetPartCount], uintptr(dataset))
	return int32(result)
}

func DatasetPartAt(dataset Handle, index int32, out *Part, err *Error) int32 {
	result, _, _ := purego.SyscallN(symbols[atDatasetPartAt], uintptr(dataset), uintptr(index),
		uintptr(unsafe.Pointer(out)), uintptr(unsafe.Pointer(err)))
	return int32(result)
}

func LoaderPartCount(loader Handle) int32 {
	result, _, _ := purego.SyscallN(symbols[atLoaderPartCount], uintptr(loader))
	return int32(result)
}

func LoaderPartAt(loader Handle, index int32, out *Part, err *Error) int32 {
	result, _, _ := purego.SyscallN(symbols[atLoaderPartAt], uintptr(loader), uintptr(index),
		uintptr(unsafe.Pointer(out)), uintptr(unsafe.Pointer(err)))
	return int32(result)
}

func WriterCreate(uri *byte, fields *View, fieldCount int32, job *byte, out *Handle, err *Error) int32 {
	result, _, _ := purego.SyscallN(symbols[atWriterCreate], uintptr(unsafe.Pointer(uri)),
		uintptr(unsafe.Pointer(fields)), uintptr(fieldCount), uintptr(unsafe.Pointer(job)),
		uintptr(unsafe.Pointer(out)), uintptr(unsafe.Pointer(err)))
	return int32(result)
}

func WriterAppend(writer Handle, arrays *Array, count int32, position *byte, err *Error) int32 {
	result, _, _ := purego.SyscallN(symbols[atWriterAppend], uintptr(writer), uintptr(unsafe.Pointer(arrays)),
		uintptr(count), uintptr(unsafe.Pointer(position)), uintptr(unsafe.Pointer(err)))
	return int32(result)
}

func WriterFinish(writer Handle, err *Error) int32 {
	result, _, _ := purego.SyscallN(symbols[atWriterFinish], uintptr(writer), uintptr(unsafe.Pointer(err)))
	return int32(result)
}

func WriterGetInfo(writer Handle, out *WriterInfo, err *Error) int32 {
	result, _, _ := purego.SyscallN(symbols[atWriterGetInfo], uintptr(writer), uintptr(unsafe.Pointer(out)),
		uintptr(unsafe.Pointer(err)))
	return int32(result)
}

func WriterPosition(writer Handle) *byte {
	result, _, _ := purego.SyscallN(symbols[atWriterPosition], uintptr(writer))
	return (*byte)(pointer(result))
}

func WriterDestroy(writer Handle) {
	purego.SyscallN(symbols[atWriterDestroy], uintptr(writer))
}

func WriterFormatCount() int32 {
	result, _, _ := purego.SyscallN(symbols[atWriterFormatCount])
	return int32(result)
}

func WriterFormatName(index int32) *byte {
	result, _, _ := purego.SyscallN(symbols[atWriterFormatName], uintptr(index))
	return (*byte)(pointer(result))
}

func WriterFormatDoc(index int32) *byte {
	result, _, _ := purego.SyscallN(symbols[atWriterFormatDoc], uintptr(index))
	return (*byte)(pointer(result))
}

func ExtensionsCreate(out *Handle, err *Error) int32 {
	result, _, _ := purego.SyscallN(symbols[atExtensionsCreate], uintptr(unsafe.Pointer(out)),
		uintptr(unsafe.Pointer(err)))
	return int32(result)
}

func ExtensionsDestroy(extensions Handle) {
	purego.SyscallN(symbols[atExtensionsDestroy], uintptr(extensions))
}

func OptionsSetExtensions(options Handle, extensions Handle, err *Error) int32 {
	result, _, _ := purego.SyscallN(symbols[atOptionsSetExtensions], uintptr(options), uintptr(extensions),
		uintptr(unsafe.Pointer(err)))
	return int32(result)
}

func ErrorSet(err *Error, code int32, message *byte) int32 {
	result, _, _ := purego.SyscallN(symbols[atErrorSet], uintptr(unsafe.Pointer(err)), uintptr(code),
		uintptr(unsafe.Pointer(message)))
	return int32(result)
}

func FileOpen(path *byte, options Handle, out *Handle, err *Error) int32 {
	result, _, _ := purego.SyscallN(symbols[atFileOpen], uintptr(unsafe.Pointer(path)), uintptr(options),
		uintptr(unsafe.Pointer(out)), uintptr(unsafe.Pointer(err)))
	return int32(result)
}

func FileBytes(file Handle) int64 {
	result, _, _ := purego.SyscallN(symbols[atFileBytes], uintptr(file))
	return int64(result)
}

func FileRead(file Handle, offset int64, bytes int64, out Handle, cancelled *int32, err *Error) int32 {
	result, _, _ := purego.SyscallN(symbols[atFileRead], uintptr(file), uintptr(offset), uintptr(bytes), uintptr(out),
		uintptr(unsafe.Pointer(cancelled)), uintptr(unsafe.Pointer(err)))
	return int32(result)
}

func FileDestroy(file Handle) {
	purego.SyscallN(symbols[atFileDestroy], uintptr(file))
}

func ExtensionsAddFormat(extensions Handle, format *Format, err *Error) int32 {
	result, _, _ := purego.SyscallN(symbols[atExtensionsAddFormat], uintptr(extensions),
		uintptr(unsafe.Pointer(format)), uintptr(unsafe.Pointer(err)))
	return int32(result)
}

func ExtensionsAddOperator(extensions Handle, table *Operator, err *Error) int32 {
	result, _, _ := purego.SyscallN(symbols[atExtensionsAddOperator], uintptr(extensions),
		uintptr(unsafe.Pointer(table)), uintptr(unsafe.Pointer(err)))
	return int32(result)
}

func OperatorRandom(row *OperatorRow, number int64) uint64 {
	result, _, _ := purego.SyscallN(symbols[atOperatorRandom], uintptr(unsafe.Pointer(row)), uintptr(number))
	return uint64(result)
}

func ExtensionsAddStorage(extensions Handle, storage *Storage, err *Error) int32 {
	result, _, _ := purego.SyscallN(symbols[atExtensionsAddStorage], uintptr(extensions),
		uintptr(unsafe.Pointer(storage)), uintptr(unsafe.Pointer(err)))
	return int32(result)
}

func ExtensionsSetThreads(extensions Handle, threads *Threads, err *Error) int32 {
	result, _, _ := purego.SyscallN(symbols[atExtensionsSetThreads], uintptr(extensions),
		uintptr(unsafe.Pointer(threads)), uintptr(unsafe.Pointer(err)))
	return int32(result)
}

func ExtensionsLoad(extensions Handle, path *byte, err *Error) int32 {
	result, _, _ := purego.SyscallN(symbols[atExtensionsLoad], uintptr(extensions), uintptr(unsafe.Pointer(path)),
		uintptr(unsafe.Pointer(err)))
	return int32(result)
}

func FormatCount(extensions Handle) int32 {
	result, _, _ := purego.SyscallN(symbols[atFormatCount], uintptr(extensions))
	return int32(result)
}

func FormatAt(extensions Handle, index int32, out *FormatInfo, err *Error) int32 {
	result, _, _ := purego.SyscallN(symbols[atFormatAt], uintptr(extensions), uintptr(index),
		uintptr(unsafe.Pointer(out)), uintptr(unsafe.Pointer(err)))
	return int32(result)
}

func FormatKeyAt(extensions Handle, index int32, key int32, out *FormatKey, err *Error) int32 {
	result, _, _ := purego.SyscallN(symbols[atFormatKeyAt], uintptr(extensions), uintptr(index), uintptr(key),
		uintptr(unsafe.Pointer(out)), uintptr(unsafe.Pointer(err)))
	return int32(result)
}

func StorageCount(extensions Handle) int32 {
	result, _, _ := purego.SyscallN(symbols[atStorageCount], uintptr(extensions))
	return int32(result)
}

func StorageAt(extensions Handle, index int32, out *Storage, err *Error) int32 {
	result, _, _ := purego.SyscallN(symbols[atStorageAt], uintptr(extensions), uintptr(index),
		uintptr(unsafe.Pointer(out)), uintptr(unsafe.Pointer(err)))
	return int32(result)
}
