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

// Part is a part of a mix, described by its dataset or by a loader.
type Part struct {
	Name    string
	URI     string // dataset only
	Samples int64  // the sample count of the part
	// Repeat is for a dataset: how often an epoch repeats each sample; 0: the part has a weight.
	Repeat    float64
	Delivered int64 // loader: to this rank since the loader was created, without pads
	// Epochs is for a loader: how many passes over the part the job has made so far, over all ranks.
	Epochs     float64
	ShareAsked float64 // requested share of the samples drawn now; for a dataset, at the start of a job
	ShareGot   float64 // loader: share of the delivered samples
	Transform  string  // dataset: the part's own; "": none
}

func partOf(raw *abi.Part) Part {
	part := Part{Name: abi.Text(raw.Name), Samples: raw.Samples, Repeat: raw.Repeat, Delivered: raw.Delivered,
		Epochs: raw.Epochs, ShareAsked: raw.ShareAsked, ShareGot: raw.ShareGot}
	if raw.Uri != nil {
		part.URI = abi.Text(raw.Uri)
	}
	if raw.Transform != nil {
		part.Transform = abi.Text(raw.Transform)
	}
	return part
}

// partsOf returns all parts that at describes.
func partsOf(count int32, at func(index int32, raw *abi.Part) int32) ([]Part, int32) {
	var parts []Part
	raw := &abi.Part{StructSize: uint32(unsafe.Sizeof(abi.Part{}))}
	for index := range count {
		if status := at(index, raw); status != 0 {
			return nil, status
		}
		parts = append(parts, partOf(raw))
	}
	return parts, 0
}

// Parts returns the parts of a mix; none for other datasets.
func (d *Dataset) Parts() ([]Part, error) {
	if err := d.enter(); err != nil {
		return nil, err
	}
	defer runtime.KeepAlive(d)
	defer d.handle.leave()
	var parts []Part
	err := call(func(e *abi.Error) (status int32) {
		handle := d.handle.pointer
		parts, status = partsOf(abi.DatasetPartCount(handle), func(index int32, raw *abi.Part) int32 {
			return abi.DatasetPartAt(handle, index, raw, e)
		})
		return status
	})
	return parts, err
}

// Parts returns the current state of the parts of the mix it delivers; none for other datasets.
func (l *Loader) Parts() ([]Part, error) {
	var parts []Part
	err := l.use(func(loader abi.Handle, e *abi.Error) (status int32) {
		parts, status = partsOf(abi.LoaderPartCount(loader), func(index int32, raw *abi.Part) int32 {
			return abi.LoaderPartAt(loader, index, raw, e)
		})
		return status
	})
	return parts, err
}
