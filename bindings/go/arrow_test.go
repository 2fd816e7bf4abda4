// SPDX-License-Identifier: Apache-2.0

package dataline_test

import (
	"testing"
	"unsafe"

	"github.com/dataline/dataline/bindings/go"
)

// The structs of Arrow's C data interface; children are pointers to more of them, all in C's memory.
type arrowSchema struct {
	format, name, metadata *byte
	flags, childCount      int64
	children               **arrowSchema
	dictionary             *arrowSchema
	release, data          uintptr
}

type arrowArray struct {
	length, nulls, offset, bufferCount, childCount int64
	buffers                                        *[2]unsafe.Pointer
	children                                       **arrowArray
	dictionary                                     *arrowArray
	release, data                                  uintptr
}

func TestABatchIsAnArrowArrayThatHoldsItsMemory(t *testing.T) {
	released := make(chan struct{})
	d := must[*dataline.Dataset](t)(dataline.FromArrays([]dataline.Array{dataline.NewArray("x", count(9))},
		func() { close(released) }))
	l := must[*dataline.Loader](t)(dataline.NewLoader(d, dataline.With{"batch_size": 9, "shuffle": "none"}))
	b := must[*dataline.Batch](t)(l.Next(background))
	var schema arrowSchema
	var array arrowArray
	check(t, b.Arrow(unsafe.Pointer(&schema), unsafe.Pointer(&array)))
	want := must[[]int64](t)(dataline.View[int64](b, "x"))
	b.Release()
	wants(t, b.Arrow(unsafe.Pointer(&schema), unsafe.Pointer(&array)), dataline.ErrReleased)
	check(t, l.Close())
	check(t, d.Close())
	if array.length != 9 || array.childCount != 1 || *(*schema.children).format != 'l' {
		t.Fatal(array, schema)
	}
	got := unsafe.Slice((*int64)((*array.children).buffers[1]), 9)
	if &got[0] != &want[0] {
		t.Fatal("expected the batch's own memory")
	}
	equal(t, got, count(9)...)
	// And back: what was a batch is a dataset.
	again := must[*dataline.Dataset](t)(dataline.FromArrowArray(unsafe.Pointer(&schema), unsafe.Pointer(&array), "fields=x"))
	if again.Len() != 9 || schema.release != 0 || array.release != 0 {
		t.Fatal("expected nine samples, of structs that were taken")
	}
	l = must[*dataline.Loader](t)(dataline.NewLoader(again, dataline.With{"batch_size": 9, "shuffle": "none"}))
	b = must[*dataline.Batch](t)(l.Next(background))
	equal(t, must[[]int64](t)(dataline.View[int64](b, "x")), count(9)...)
	b.Release()
	check(t, l.Close())
	check(t, again.Close())
	_, err := dataline.FromArrow(nil, "")
	wants(t, err, dataline.ErrInvalidArgument)
	<-released
}
