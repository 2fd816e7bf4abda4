// Package abi is dataline.h in Go's words: the structs as they lie in memory, the numbers, and a thin layer of calls.
// The layer has two forms with the same functions: one loads the shared library at run time and needs no C compiler,
// the other (build tag dataline_static, with cgo) is linked with the static library. A test compares structs and
// numbers with the header by C that it compiles; the second form has its argument types checked by cgo.
//
// SPDX-License-Identifier: Apache-2.0
package abi

import "unsafe"

// Handle is an object of the library: options, dataset, loader, batch or token.
type Handle = unsafe.Pointer

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

// View is dl_view. Those of a batch or a schema lie in the library's memory.
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

// ViewAt is dl_view_at: the library's views may be longer than View.
func ViewAt(first *View, index int) *View {
	return (*View)(unsafe.Add(unsafe.Pointer(first), uintptr(index)*uintptr(first.StructSize)))
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
	Data           unsafe.Pointer
	RowStrideBytes int64
	Offsets        *int64
	SampleCount    int64
}

// ReaderCell is dl_reader_cell.
type ReaderCell struct {
	Data     unsafe.Pointer
	Capacity int64
	Bytes    int64
	Status   int32
	Reserved int32
}

// Reader is dl_reader; the call layer fills Read and Destroy.
type Reader struct {
	StructSize  uint32
	FieldCount  int32
	Fields      *View
	RecordCount int64
	Context     uintptr
	Read        uintptr
	Destroy     uintptr
	Fingerprint *byte
}

// Log is dl_log; the call layer fills Write and Destroy.
type Log struct {
	StructSize uint32
	Reserved   uint32
	Context    uintptr
	Write      uintptr
	Destroy    uintptr
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

// PlanStage is dl_plan_stage; its texts lie in the loader.
type PlanStage struct {
	StructSize uint32
	DeviceType int32
	Field      *byte
	Text       *byte
	BytesIn    int64
	BytesOut   int64
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

// Frame is what the calls of the hot path write to: on the heap always, and used again.
type Frame struct {
	Batch Handle
	Views *View
	Error Error
	Count int32
	// Room for the layer without cgo.
	arguments [4]uintptr
}
