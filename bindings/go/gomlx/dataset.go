// SPDX-License-Identifier: Apache-2.0

// Package gomlx passes a dataline.Loader to GoMLX's trainer, as its train.Dataset.
//
//	train := gomlx.New("train", loader, []string{"image"}, []string{"label"})
//	_, err = loop.RunEpochs(train, 5)
//
// It is a separate module, so that programs without GoMLX do not depend on it.
package gomlx

import (
	"context"
	"fmt"
	"iter"

	"github.com/dataline/dataline/bindings/go"
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/train"
)

// Dataset is a loader with GoMLX's interface. Each Iter is one epoch, as each loop over Loader.Epoch is. With the
// option epochs=0 (the default), a trainer can request any number of epochs. GoMLX owns and finalizes its tensors, so
// each field is copied once, into a tensor on the host.
//
// A batch of another shape makes GoMLX compile again: last_batch=drop or pad keeps the shape.
type Dataset struct {
	name           string
	loader         *dataline.Loader
	inputs, labels []string
	ctx            context.Context
}

var _ train.Dataset = (*Dataset)(nil)

// New returns a dataset whose batches have the named fields as inputs and labels, in that order. The caller still
// owns the loader, and closes it after the training.
func New(name string, loader *dataline.Loader, inputs, labels []string) *Dataset {
	return &Dataset{name, loader, inputs, labels, context.Background()}
}

// WithContext returns the same dataset. Its loops, also while they wait, end with the context's error when the
// context is done.
func (d *Dataset) WithContext(ctx context.Context) *Dataset {
	with := *d
	with.ctx = ctx
	return &with
}

// Name returns the name passed to New.
func (d *Dataset) Name() string { return d.name }

// Iter returns the batches of one epoch; the caller owns the tensors.
func (d *Dataset) Iter() iter.Seq2[train.Batch, error] {
	return func(yield func(train.Batch, error) bool) {
		for batch, err := range d.loader.Epoch(d.ctx) {
			var made train.Batch
			if err == nil {
				made, err = d.batch(batch)
			}
			if !yield(made, err) {
				return
			}
		}
	}
}

func (d *Dataset) batch(batch *dataline.Batch) (made train.Batch, err error) {
	if made.Inputs, err = copies(batch, d.inputs); err != nil {
		return train.Batch{}, err
	}
	made.Labels, err = copies(batch, d.labels)
	return made, err
}

func copies(batch *dataline.Batch, fields []string) ([]*tensors.Tensor, error) {
	made := make([]*tensors.Tensor, len(fields))
	for at, field := range fields {
		tensor, err := batch.Tensor(field)
		if err != nil {
			return nil, err
		}
		if made[at], err = Tensor(tensor); err != nil {
			return nil, err
		}
	}
	return made, nil
}

// Tensor returns a copy of a field as a tensor of GoMLX, on the host. For a ragged field, these are its packed items.
// An error if the items are not contiguous in host memory: load with device=cpu.
func Tensor(of dataline.Tensor) (*tensors.Tensor, error) {
	bytes, err := of.Bytes()
	if err != nil {
		return nil, err
	}
	dtype, known := types[of.DType()]
	if !known {
		return nil, fmt.Errorf("field '%s': GoMLX has no %v", of.Name(), of.DType())
	}
	made := tensors.FromShape(shapes.Make(dtype, of.Shape()...))
	err = made.MutableBytes(func(to []byte) { copy(to, bytes) })
	return made, err
}

var types = map[dataline.DType]dtypes.DType{
	dataline.Bool: dtypes.Bool,
	dataline.U8:   dtypes.Uint8,
	dataline.U16:  dtypes.Uint16,
	dataline.U32:  dtypes.Uint32,
	dataline.U64:  dtypes.Uint64,
	dataline.I8:   dtypes.Int8,
	dataline.I16:  dtypes.Int16,
	dataline.I32:  dtypes.Int32,
	dataline.I64:  dtypes.Int64,
	dataline.F16:  dtypes.Float16,
	dataline.BF16: dtypes.BFloat16,
	dataline.F32:  dtypes.Float32,
	dataline.F64:  dtypes.Float64,
	dataline.C64:  dtypes.Complex64,
	dataline.C128: dtypes.Complex128,
}
