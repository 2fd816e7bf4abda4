// Code generated from capi/api.json by capi/api/generate.py; DO NOT EDIT.
//
// Every struct of dataline.h, for the test of their layout.
//
// SPDX-License-Identifier: Apache-2.0

package abi

import "reflect"

var structs = map[string]reflect.Type{
	"dl_error":          reflect.TypeFor[Error](),
	"dl_allocator":      reflect.TypeFor[Allocator](),
	"dl_log":            reflect.TypeFor[Log](),
	"dl_launcher":       reflect.TypeFor[Launcher](),
	"dl_option_info":    reflect.TypeFor[OptionInfo](),
	"dl_transform_info": reflect.TypeFor[TransformInfo](),
	"dl_argument_info":  reflect.TypeFor[ArgumentInfo](),
	"dl_view":           reflect.TypeFor[View](),
	"dl_array":          reflect.TypeFor[Array](),
	"dl_reader_cell":    reflect.TypeFor[ReaderCell](),
	"dl_reader_request": reflect.TypeFor[ReaderRequest](),
	"dl_reader":         reflect.TypeFor[Reader](),
	"dl_stats":          reflect.TypeFor[Stats](),
	"dl_bad_sample":     reflect.TypeFor[BadSample](),
	"dl_batch_info":     reflect.TypeFor[BatchInfo](),
	"dl_progress":       reflect.TypeFor[Progress](),
	"dl_image_info":     reflect.TypeFor[ImageInfo](),
	"dl_plan_stage":     reflect.TypeFor[PlanStage](),
	"dl_metric":         reflect.TypeFor[Metric](),
	"dl_stall":          reflect.TypeFor[Stall](),
	"dl_trace_sink":     reflect.TypeFor[TraceSink](),
	"dl_tuned":          reflect.TypeFor[Tuned](),
	"dl_mix_part":       reflect.TypeFor[MixPart](),
	"dl_mix_stage":      reflect.TypeFor[MixStage](),
	"dl_part":           reflect.TypeFor[Part](),
	"dl_writer_info":    reflect.TypeFor[WriterInfo](),
	"dl_format_key":     reflect.TypeFor[FormatKey](),
	"dl_format_request": reflect.TypeFor[FormatRequest](),
	"dl_format":         reflect.TypeFor[Format](),
	"dl_argument_value": reflect.TypeFor[ArgumentValue](),
	"dl_operator_use":   reflect.TypeFor[OperatorUse](),
	"dl_operator_row":   reflect.TypeFor[OperatorRow](),
	"dl_operator":       reflect.TypeFor[Operator](),
	"dl_storage_object": reflect.TypeFor[StorageObject](),
	"dl_storage_read":   reflect.TypeFor[StorageRead](),
	"dl_storage":        reflect.TypeFor[Storage](),
	"dl_threads":        reflect.TypeFor[Threads](),
	"dl_plugin":         reflect.TypeFor[Plugin](),
	"dl_format_info":    reflect.TypeFor[FormatInfo](),
}
