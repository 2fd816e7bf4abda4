// Code generated from capi/api.json by capi/api/generate.py; DO NOT EDIT.
//
// The structs of dataline.h in their layout in memory. One list, hence the length. The header describes the members.
//
// SPDX-License-Identifier: Apache-2.0

package abi

import "unsafe"

// Error is dl_error.
type Error struct {
	StructSize   uint32
	Code         int32
	OsError      int32
	Column       int32
	SampleIndex  int64
	SampleSource int64
	Message      [512]byte
}

// Allocator is dl_allocator.
type Allocator struct {
	StructSize uint32
	Reserved   uint32
	Context    uintptr
	Allocate   uintptr
	Release    uintptr
	Destroy    uintptr
}

// Log is dl_log.
type Log struct {
	StructSize uint32
	Reserved   uint32
	Context    uintptr
	Write      uintptr
	Destroy    uintptr
}

// Launcher is dl_launcher.
type Launcher struct {
	StructSize     uint32
	Reserved       uint32
	Rank           int64
	WorldSize      int64
	LocalRank      int64
	LocalWorldSize int64
	Family         *byte
}

// OptionInfo is dl_option_info.
type OptionInfo struct {
	StructSize   uint32
	Type         int32
	Scope        int32
	HasRange     int32
	Minimum      int64
	Maximum      int64
	Key          *byte
	DefaultValue *byte
	Choices      *byte
	Unit         *byte
	Doc          *byte
	Since        *byte
}

// TransformInfo is dl_transform_info.
type TransformInfo struct {
	StructSize    uint32
	ArgumentCount int32
	Name          *byte
	Doc           *byte
	Source        *byte
	Since         *byte
}

// ArgumentInfo is dl_argument_info.
type ArgumentInfo struct {
	StructSize   uint32
	Reserved     uint32
	Name         *byte
	Type         *byte
	DefaultValue *byte
}

// View is dl_view.
type View struct {
	StructSize  uint32
	Kind        int32
	Flags       uint64
	Name        *byte
	Dtype       int32
	Rank        int32
	Shape       *int64
	Strides     *int64
	Axes        *byte
	DeviceType  int32
	DeviceIndex int32
	Data        unsafe.Pointer
	ByteOffset  uint64
	Offsets     *int64
	Bytes       int64
	Reserved    [4]uint64
}

// Array is dl_array.
type Array struct {
	StructSize     uint32
	Kind           int32
	Name           *byte
	Dtype          int32
	Rank           int32
	Shape          *int64
	Axes           *byte
	Data           Handle
	RowStrideBytes int64
	Offsets        *int64
	SampleCount    int64
}

// ReaderCell is dl_reader_cell.
type ReaderCell struct {
	Data       unsafe.Pointer
	Capacity   int64
	Bytes      int64
	Borrowed   Handle
	Status     int32
	Reserved32 int32
	Reserved   [3]uint64
}

// ReaderRequest is dl_reader_request.
type ReaderRequest struct {
	StructSize     uint32
	RecordCount    int32
	FieldCount     int32
	CellBytes      int32
	Indices        *int64
	Slots          *int64
	Epoch          int64
	Seed           uint64
	Cancelled      *int32
	Cells          *ReaderCell
	Messages       *byte
	MessageBytes   int64
	Release        uintptr
	ReleaseContext uintptr
	Reserved       [4]uint64
}

// Reader is dl_reader.
type Reader struct {
	StructSize  uint32
	FieldCount  int32
	Fields      *View
	RecordCount int64
	Context     uintptr
	Read        uintptr
	Destroy     uintptr
	Fingerprint *byte
	BlockCount  int64
	BlockEnds   *int64
	HeldBlocks  int64
	Prompt      int32
	Reserved    int32
	Advise      uintptr
	FileCount   int64
	Files       **byte
	FileEnds    *int64
}

// Stats is dl_stats.
type Stats struct {
	StructSize       uint32
	NumWorkers       int32
	Batches          int64
	Samples          int64
	Bytes            int64
	Skipped          int64
	Dropped          int64
	Padded           int64
	Replaced         int64
	Bad              int64
	WaitNs           int64
	Waits            int64
	WorkerCpuNs      int64
	ArenaBytes       int64
	HeldBytes        int64
	BudgetBytes      int64
	LeasesHeld       int64
	LeaseCopies      int64
	ReadyBatches     int64
	PinnedBytes      int64
	ThreadsAbandoned int64
	DeviceBytes      int64
	CopiedBytes      int64
	Warned           int64
	CacheRead        int64
	CacheMade        int64
}

// BadSample is dl_bad_sample.
type BadSample struct {
	StructSize  uint32
	Code        int32
	Source      int64
	Index       int64
	Epoch       int64
	Step        int64
	Slot        int64
	Replacement int64
	Message     [256]byte
}

// BatchInfo is dl_batch_info.
type BatchInfo struct {
	StructSize    uint32
	Reserved      uint32
	Epoch         int64
	Step          int64
	Samples       int64
	Valid         int64
	SampleSources *int64
	SampleIndices *int64
}

// Progress is dl_progress.
type Progress struct {
	StructSize uint32
	Done       int32
	Files      int64
	TotalFiles int64
	Bytes      int64
	TotalBytes int64
	Entries    int64
}

// ImageInfo is dl_image_info.
type ImageInfo struct {
	StructSize  uint32
	Format      int32
	Width       int64
	Height      int64
	Channels    int32
	Bits        int32
	Orientation int32
	Progressive int32
	Bytes       int64
}

// PlanStage is dl_plan_stage.
type PlanStage struct {
	StructSize uint32
	DeviceType int32
	Field      *byte
	Text       *byte
	BytesIn    int64
	BytesOut   int64
}

// Metric is dl_metric.
type Metric struct {
	StructSize uint32
	Kind       int32
	Name       *byte
	Part       *byte
	Unit       *byte
	Doc        *byte
	Thread     int32
	Reserved   uint32
	Value      int64
	Count      int64
	Bytes      int64
	P50Ns      int64
	P99Ns      int64
	MaxNs      int64
}

// Stall is dl_stall.
type Stall struct {
	StructSize uint32
	Reserved   uint32
	Epoch      int64
	Step       int64
	WaitNs     int64
	Cause      *byte
}

// TraceSink is dl_trace_sink.
type TraceSink struct {
	StructSize uint32
	Reserved   uint32
	Context    uintptr
	Write      uintptr
}

// Tuned is dl_tuned.
type Tuned struct {
	StructSize    uint32
	Mode          int32
	NumWorkers    int64
	PrefetchDepth int64
	MostWorkers   int64
	MostDepth     int64
	WantedWorkers int64
	WantedDepth   int64
	Changes       int64
	Frozen        int32
	Reserved      uint32
	BatchesPerS   float64
	WaitShare     float64
	Text          [160]byte
}

// MixPart is dl_mix_part.
type MixPart struct {
	StructSize uint32
	Reserved   uint32
	Name       *byte
	Dataset    Handle
	Weight     float64
	Repeat     float64
	Transform  *byte
}

// MixStage is dl_mix_stage.
type MixStage struct {
	StructSize uint32
	Reserved   uint32
	Step       int64
	Weights    *float64
}

// Part is dl_part.
type Part struct {
	StructSize uint32
	Reserved   uint32
	Name       *byte
	Uri        *byte
	Samples    int64
	Delivered  int64
	Repeat     float64
	Epochs     float64
	ShareAsked float64
	ShareGot   float64
	Transform  *byte
}

// WriterInfo is dl_writer_info.
type WriterInfo struct {
	StructSize     uint32
	Reserved       uint32
	Samples        int64
	ResumedSamples int64
	Shards         int64
	Bytes          int64
}

// FormatKey is dl_format_key.
type FormatKey struct {
	StructSize   uint32
	Reserved     uint32
	Name         *byte
	Values       *byte
	DefaultValue *byte
	Doc          *byte
}

// FormatRequest is dl_format_request.
type FormatRequest struct {
	StructSize uint32
	KeyCount   int32
	Path       *byte
	Values     **byte
	Options    Handle
	Cancelled  *int32
	Report     uintptr
}

// Format is dl_format.
type Format struct {
	StructSize uint32
	KeyCount   int32
	Name       *byte
	Doc        *byte
	Keys       *FormatKey
	Suffixes   *byte
	Context    uintptr
	Sniff      uintptr
	Open       uintptr
	Destroy    uintptr
}

// ArgumentValue is dl_argument_value.
type ArgumentValue struct {
	StructSize  uint32
	Given       int32
	Text        *byte
	Numbers     *float64
	NumberCount int64
}

// OperatorUse is dl_operator_use.
type OperatorUse struct {
	StructSize    uint32
	ArgumentCount int32
	Arguments     *ArgumentValue
	Input         *View
	Kind          int32
	Dtype         int32
	Rank          int32
	Draws         int32
	Shape         [33]int64
	Axes          [40]byte
	MaxBytes      int64
	Heavy         int32
	WrongArgument int32
	State         uintptr
	Reserved      [4]uint64
}

// OperatorRow is dl_operator_row.
type OperatorRow struct {
	StructSize uint32
	Reserved32 uint32
	State      uintptr
	Input      Handle
	InputBytes int64
	Output     unsafe.Pointer
	Capacity   int64
	Bytes      int64
	Slot       int64
	Epoch      int64
	Seed       uint64
	Draw       [3]uint64
	Reserved   [4]uint64
}

// Operator is dl_operator.
type Operator struct {
	StructSize    uint32
	ArgumentCount int32
	Name          *byte
	Doc           *byte
	Source        *byte
	Arguments     *ArgumentInfo
	Context       uintptr
	Prepare       uintptr
	Apply         uintptr
	Forget        uintptr
	Destroy       uintptr
}

// StorageObject is dl_storage_object.
type StorageObject struct {
	StructSize  uint32
	Reserved32  uint32
	Path        *byte
	Cancelled   *int32
	Options     Handle
	Object      uintptr
	Bytes       int64
	Fingerprint *byte
	Reserved    [3]uint64
}

// StorageRead is dl_storage_read.
type StorageRead struct {
	StructSize uint32
	Reserved32 uint32
	Object     uintptr
	Offset     int64
	Bytes      int64
	Out        unsafe.Pointer
	Cancelled  *int32
	Reserved   [4]uint64
}

// Storage is dl_storage.
type Storage struct {
	StructSize uint32
	Reserved   uint32
	Scheme     *byte
	Doc        *byte
	Context    uintptr
	Open       uintptr
	Read       uintptr
	Close      uintptr
	Destroy    uintptr
}

// Threads is dl_threads.
type Threads struct {
	StructSize uint32
	Reserved   uint32
	Context    uintptr
	Start      uintptr
	End        uintptr
	Run        uintptr
	Destroy    uintptr
}

// Plugin is dl_plugin.
type Plugin struct {
	StructSize uint32
	AbiVersion int32
	BuiltFor   int32
	Reserved32 int32
	Extensions Handle
	Find       uintptr
	Reserved   [4]uint64
}

// FormatInfo is dl_format_info.
type FormatInfo struct {
	StructSize uint32
	KeyCount   int32
	Name       *byte
	Doc        *byte
}
