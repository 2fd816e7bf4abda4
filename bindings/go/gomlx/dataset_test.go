// SPDX-License-Identifier: Apache-2.0

package gomlx_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/dataline/dataline/bindings/go"
	"github.com/dataline/dataline/bindings/go/gomlx"
	"github.com/gomlx/gomlx/core/tensors"
)

func loader(t *testing.T, options dataline.With) *dataline.Loader {
	t.Helper()
	pixels := make([]float32, 10*2*3)
	labels := make([]int32, 10)
	for at := range pixels {
		pixels[at] = float32(at)
	}
	for at := range labels {
		labels[at] = int32(at)
	}
	d, err := dataline.FromArrays([]dataline.Array{
		dataline.NewArray("image", pixels, 10, 2, 3), dataline.NewArray("label", labels)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	l, err := dataline.NewLoader(d, options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l
}

func flat[T any](t *testing.T, from *tensors.Tensor) (items []T) {
	t.Helper()
	if err := from.ConstFlatData(func(all any) { items = slices.Clone(all.([]T)) }); err != nil {
		t.Fatal(err)
	}
	return items
}

func TestEachIterIsAnEpochOfTensors(t *testing.T) {
	d := gomlx.New("digits", loader(t, dataline.With{"batch_size": 4}), []string{"image"}, []string{"label"})
	if d.Name() != "digits" {
		t.Error(d.Name())
	}
	for range 2 {
		var labels []int32
		var images []float32
		for batch, err := range d.Iter() {
			if err != nil {
				t.Fatal(err)
			}
			if dims := batch.Inputs[0].Shape().Dimensions; !slices.Equal(dims[1:], []int{2, 3}) {
				t.Error(dims)
			}
			images = append(images, flat[float32](t, batch.Inputs[0])...)
			labels = append(labels, flat[int32](t, batch.Labels[0])...)
			if err := batch.Finalize(); err != nil { // theirs, not ours
				t.Error(err)
			}
		}
		if !slices.Equal(labels, []int32{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}) || len(images) != 60 || images[59] != 59 {
			t.Error(labels, images)
		}
	}
}

func TestTensorsOutliveTheirBatch(t *testing.T) {
	d := gomlx.New("digits", loader(t, dataline.With{"batch_size": 5, "max_leases": 1}), []string{"label"}, nil)
	var kept []*tensors.Tensor
	for batch, err := range d.Iter() {
		if err != nil {
			t.Fatal(err)
		}
		kept = append(kept, batch.Inputs[0])
	}
	if got := flat[int32](t, kept[0]); !slices.Equal(got, []int32{0, 1, 2, 3, 4}) {
		t.Error(got)
	}
}

func TestErrorsReachTheLoop(t *testing.T) {
	l := loader(t, nil)
	for _, err := range gomlx.New("digits", l, []string{"nosuch"}, nil).Iter() {
		if !errors.Is(err, dataline.ErrNoSuchField) {
			t.Error(err)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for _, err := range gomlx.New("digits", l, nil, nil).WithContext(ctx).Iter() {
		if !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	}
}
