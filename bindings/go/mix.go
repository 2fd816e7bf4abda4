// SPDX-License-Identifier: Apache-2.0

package dataline

import (
	"runtime"
	"unsafe"

	"github.com/dataline/dataline/bindings/go/internal/abi"
)

// MixPart is a dataset in a mix, with its Weight or its Repeat. All parts of a mix use the same one of the two.
type MixPart struct {
	Name    string // in messages, states and statistics; "": the part's index
	Dataset *Dataset
	// Weight is relative to the other parts; each part has its own epochs. 0: not drawn, until a stage changes it.
	Weight float64
	// Repeat is how often an epoch repeats each sample of the part.
	Repeat float64
	// Transform applies to the part's samples, before the loader's transform; "": none. It makes differently stored parts
	// match.
	Transform string
}

// MixStage is a list of weights, one per part, that apply from a step of the job.
type MixStage struct {
	Step    int64 // at least 1; counts over all epochs
	Weights []float64
}

// Mix draws from all parts by weight, or repeats each sample. samplesPerEpoch applies to weights; -1: the sample
// count of all parts together. The option pack_length packs the documents that are drawn. The parts may be closed
// afterwards.
//
// ErrMismatch names two parts that do not match. ErrOutOfRange, ErrInvalidArgument, ErrEmpty, ErrUnsupported. For a
// part's transform: ErrBadTransform and ErrNoSuchField.
func Mix(parts []MixPart, schedule []MixStage, samplesPerEpoch int64, options ...Option) (*Dataset, error) {
	var pinner runtime.Pinner
	defer pinner.Unpin()
	datasets := make([]*Dataset, len(parts))
	raw := make([]abi.MixPart, len(parts))
	for at, part := range parts {
		if part.Dataset == nil {
			return nil, localError(ErrInvalidArgument, "part %d of the mix: Dataset is nil", at)
		}
		datasets[at] = part.Dataset
		raw[at] = abi.MixPart{StructSize: uint32(unsafe.Sizeof(abi.MixPart{})), Weight: part.Weight, Repeat: part.Repeat}
		if part.Name != "" {
			name, err := cText("name", part.Name)
			if err != nil {
				return nil, err
			}
			pinner.Pin(name)
			raw[at].Name = name
		}
		if part.Transform != "" {
			transform, err := cText("MixPart.Transform", part.Transform)
			if err != nil {
				return nil, err
			}
			pinner.Pin(transform)
			raw[at].Transform = transform
		}
	}
	stages := make([]abi.MixStage, len(schedule))
	for at, stage := range schedule {
		if len(stage.Weights) != len(parts) || len(parts) == 0 {
			return nil, localError(ErrInvalidArgument, "stage %d of the mix: %d weights for %d parts", at, len(stage.Weights),
				len(parts))
		}
		pinner.Pin(unsafe.SliceData(stage.Weights))
		stages[at] = abi.MixStage{StructSize: uint32(unsafe.Sizeof(abi.MixStage{})), Step: stage.Step,
			Weights: unsafe.SliceData(stage.Weights)}
	}
	set, err := newOptionSet(options)
	if err != nil {
		return nil, err
	}
	defer set.destroy()
	return compose(datasets, func(handles []abi.Handle, out *abi.Handle, e *abi.Error) int32 {
		for at, handle := range handles {
			raw[at].Dataset = handle
		}
		return abi.DatasetMix(unsafe.SliceData(raw), int32(len(raw)), unsafe.SliceData(stages), int32(len(stages)),
			samplesPerEpoch, set.handle, out, e)
	})
}
