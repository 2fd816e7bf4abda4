// SPDX-License-Identifier: Apache-2.0

package dataline

import (
	"fmt"
	"unsafe"

	"github.com/dataline/dataline/bindings/go/internal/abi"
)

// PlanStage is a stage of a sample on its way from the file to the batch.
type PlanStage struct {
	Field  string
	RunsOn string // "cpu", "cuda:0"; for a copy, the destination
	Text   string // "gather", "copy", or operators as written: "normalize(mnist), chw"
	// BytesIn and BytesOut are the bytes of one sample before and after the stage; -1: varying.
	BytesIn, BytesOut int64
}

// CrossesBus reports whether the stage sends its field over the bus.
func (s PlanStage) CrossesBus() bool { return s.RunsOn != "cpu" && s.Text == "copy" }

// Plan returns where each stage of a sample runs, in order, field by field: on the host, copies over the bus, on the
// device.
func (l *Loader) Plan() ([]PlanStage, error) {
	var stages []PlanStage
	fields, raw := new(int32), &abi.PlanStage{StructSize: uint32(unsafe.Sizeof(abi.PlanStage{}))}
	err := l.use(func(loader abi.Handle, e *abi.Error) int32 {
		index := int32(0) // a loader has one device, and a stage states only its type
		for _, view := range unsafe.Slice(abi.LoaderFields(loader, fields), *fields) {
			index = view.DeviceIndex
		}
		for at := range abi.LoaderPlanCount(loader) {
			if status := abi.LoaderPlanAt(loader, at, raw, e); status != 0 {
				return status
			}
			stages = append(stages, PlanStage{abi.Text(raw.Field), deviceName(raw.DeviceType, index), abi.Text(raw.Text),
				raw.BytesIn, raw.BytesOut})
		}
		return 0
	})
	return stages, err
}

// deviceName returns a value of the option device: "cpu", "cuda:0".
func deviceName(kind, index int32) string {
	switch kind {
	case deviceCPU:
		return "cpu"
	case deviceCUDA:
		return fmt.Sprintf("cuda:%d", index)
	}
	return fmt.Sprintf("type %d:%d", kind, index)
}
