// SPDX-License-Identifier: Apache-2.0

//go:build !(dataline_static && cgo)

package abi

// Places in symbols.
const (
	atAbiVersion = iota
	atVersionString
	atBuildInfo
	atStatusName
	atDtypeName
	atDtypeBytes
	atOptionCount
	atOptionAt
	atTransformCount
	atTransformAt
	atTransformArgumentAt
	atOptionsCreate
	atOptionsDestroy
	atOptionsSet
	atOptionsGet
	atOptionsSetIndices
	atOptionsSetWeights
	atOptionsSetLog
	atOptionsSetCancelToken
	atCancelTokenCreate
	atCancelTokenCancel
	atCancelTokenDestroy
	atDatasetOpen
	atDatasetFromArrays
	atDatasetFromReader
	atDatasetZip
	atDatasetConcat
	atDatasetSubset
	atDatasetCount
	atDatasetFields
	atDatasetFormat
	atDatasetURI
	atDatasetNoteCount
	atDatasetNote
	atDatasetClassCount
	atDatasetClassName
	atDatasetImageInfo
	atDatasetDestroy
	atLoaderCreate
	atLoaderNext
	atLoaderBeginEpoch
	atLoaderPosition
	atLoaderSeek
	atLoaderSteps
	atLoaderSetIndices
	atLoaderStateSave
	atLoaderStateLoad
	atLoaderCancel
	atLoaderInterrupt
	atLoaderWaitHandle
	atLoaderFields
	atLoaderPixelScale
	atLoaderPlanCount
	atLoaderPlanAt
	atLoaderStats
	atLoaderBadSampleCount
	atLoaderBadSampleAt
	atLoaderDestroy
	atBatchViews
	atBatchGetInfo
	atBatchRelease
	atBatchWait
	atBatchReleaseOn
	symbolCount
)

var symbolNames = [symbolCount]string{
	atAbiVersion:            "dl_abi_version",
	atVersionString:         "dl_version_string",
	atBuildInfo:             "dl_build_info",
	atStatusName:            "dl_status_name",
	atDtypeName:             "dl_dtype_name",
	atDtypeBytes:            "dl_dtype_bytes",
	atOptionCount:           "dl_option_count",
	atOptionAt:              "dl_option_at",
	atTransformCount:        "dl_transform_count",
	atTransformAt:           "dl_transform_at",
	atTransformArgumentAt:   "dl_transform_argument_at",
	atOptionsCreate:         "dl_options_create",
	atOptionsDestroy:        "dl_options_destroy",
	atOptionsSet:            "dl_options_set",
	atOptionsGet:            "dl_options_get",
	atOptionsSetIndices:     "dl_options_set_indices",
	atOptionsSetWeights:     "dl_options_set_weights",
	atOptionsSetLog:         "dl_options_set_log",
	atOptionsSetCancelToken: "dl_options_set_cancel_token",
	atCancelTokenCreate:     "dl_cancel_token_create",
	atCancelTokenCancel:     "dl_cancel_token_cancel",
	atCancelTokenDestroy:    "dl_cancel_token_destroy",
	atDatasetOpen:           "dl_dataset_open",
	atDatasetFromArrays:     "dl_dataset_from_arrays",
	atDatasetFromReader:     "dl_dataset_from_reader",
	atDatasetZip:            "dl_dataset_zip",
	atDatasetConcat:         "dl_dataset_concat",
	atDatasetSubset:         "dl_dataset_subset",
	atDatasetCount:          "dl_dataset_count",
	atDatasetFields:         "dl_dataset_fields",
	atDatasetFormat:         "dl_dataset_format",
	atDatasetURI:            "dl_dataset_uri",
	atDatasetNoteCount:      "dl_dataset_note_count",
	atDatasetNote:           "dl_dataset_note",
	atDatasetClassCount:     "dl_dataset_class_count",
	atDatasetClassName:      "dl_dataset_class_name",
	atDatasetImageInfo:      "dl_dataset_image_info",
	atDatasetDestroy:        "dl_dataset_destroy",
	atLoaderCreate:          "dl_loader_create",
	atLoaderNext:            "dl_loader_next",
	atLoaderBeginEpoch:      "dl_loader_begin_epoch",
	atLoaderPosition:        "dl_loader_position",
	atLoaderSeek:            "dl_loader_seek",
	atLoaderSteps:           "dl_loader_steps",
	atLoaderSetIndices:      "dl_loader_set_indices",
	atLoaderStateSave:       "dl_loader_state_save",
	atLoaderStateLoad:       "dl_loader_state_load",
	atLoaderCancel:          "dl_loader_cancel",
	atLoaderInterrupt:       "dl_loader_interrupt",
	atLoaderWaitHandle:      "dl_loader_wait_handle",
	atLoaderFields:          "dl_loader_fields",
	atLoaderPixelScale:      "dl_loader_pixel_scale",
	atLoaderPlanCount:       "dl_loader_plan_count",
	atLoaderPlanAt:          "dl_loader_plan_at",
	atLoaderStats:           "dl_loader_stats",
	atLoaderBadSampleCount:  "dl_loader_bad_sample_count",
	atLoaderBadSampleAt:     "dl_loader_bad_sample_at",
	atLoaderDestroy:         "dl_loader_destroy",
	atBatchViews:            "dl_batch_views",
	atBatchGetInfo:          "dl_batch_get_info",
	atBatchRelease:          "dl_batch_release",
	atBatchWait:             "dl_batch_wait",
	atBatchReleaseOn:        "dl_batch_release_on",
}

// Addresses in the library that was loaded.
var symbols [symbolCount]uintptr
