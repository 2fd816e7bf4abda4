// SPDX-License-Identifier: Apache-2.0

package dataline_test

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/dataline/dataline/bindings/go"
)

func TestAMixDrawsInSharesAndNamesPartAndIndex(t *testing.T) {
	web, code := numbers(t, 50), numbers(t, 10)
	mix := must[*dataline.Dataset](t)(dataline.Mix([]dataline.MixPart{
		{Name: "web", Dataset: web, Weight: 3}, {Name: "code", Dataset: code, Weight: 1},
	}, []dataline.MixStage{{Step: 2, Weights: []float64{0, 1}}}, 4096))
	defer mix.Close()
	check(t, web.Close())
	loader := loaderOf(t, mix, dataline.With{"batch_size": 2048, "shuffle": "full"})
	var drawn [2]int
	for range 2 {
		batch := must[*dataline.Batch](t)(loader.Next(background))
		for _, part := range batch.SampleSources() {
			drawn[part]++
		}
		batch.Release()
	}
	if drawn != [2]int{3072, 1024} {
		t.Error(drawn)
	}
	parts := must[[]dataline.Part](t)(loader.Parts())
	if len(parts) != 2 || parts[1].Name != "code" || parts[1].Samples != 10 || parts[1].Delivered != 1024 ||
		parts[1].ShareGot != 0.25 || parts[1].ShareAsked != 1 || math.Abs(parts[1].Epochs-102.4) > 1e-9 {
		t.Errorf("%+v", parts)
	}
	described := must[[]dataline.Part](t)(mix.Parts())
	if len(described) != 2 || described[0].ShareAsked != 0.75 {
		t.Errorf("%+v", described)
	}
	if none := must[[]dataline.Part](t)(code.Parts()); len(none) != 0 {
		t.Error(none)
	}
}

func TestAMixByRepeatsHasEachSampleSoOften(t *testing.T) {
	mix := must[*dataline.Dataset](t)(dataline.Mix([]dataline.MixPart{
		{Dataset: numbers(t, 2), Repeat: 2}, {Dataset: numbers(t, 3), Repeat: 1}}, nil, -1))
	defer mix.Close()
	batch := first(t, mix, dataline.With{"batch_size": 7})
	equal(t, must[[]int64](t)(dataline.View[int64](batch, "x")), 0, 1, 0, 1, 0, 1, 2)
	if parts := must[[]dataline.Part](t)(mix.Parts()); parts[0].Name != "0" || parts[0].Repeat != 2 {
		t.Errorf("%+v", parts)
	}
}

func TestTheDocumentsThatAMixDrawsArePacked(t *testing.T) {
	documents := func() *dataline.Dataset {
		ids := dataline.NewRagged("ids", []uint16{1, 2, 3, 4, 5, 6}, []int64{0, 3, 5, 6})
		return must[*dataline.Dataset](t)(dataline.FromArrays([]dataline.Array{ids}, nil))
	}
	web, code := documents(), documents()
	defer web.Close()
	defer code.Close()
	parts := []dataline.MixPart{{Name: "web", Dataset: web, Repeat: 1}, {Name: "code", Dataset: code, Repeat: 2}}
	packed := must[*dataline.Dataset](t)(dataline.Mix(parts, nil, -1, dataline.With{"pack_length": 6}))
	defer packed.Close()
	if packed.Len() != 3 { // 9 documents of 18 tokens
		t.Error(packed.Len())
	}
	if none := must[[]dataline.Part](t)(packed.Parts()); len(none) != 0 {
		t.Error("rows are of several parts, not of", none)
	}
	told := func(note string) bool { return strings.Contains(note, "as one epoch draws them: 9 (web 3, code 6)") }
	if !slices.ContainsFunc(packed.Notes(), told) {
		t.Error(packed.Notes())
	}
	batch := first(t, packed, dataline.With{"batch_size": 1})
	if x := must[[]uint16](t)(dataline.View[uint16](batch, "x")); len(x) != 6 {
		t.Error(x)
	}
	if _, err := dataline.Mix(parts, nil, -1, dataline.With{"pack_window": 6}); !errors.Is(err, dataline.ErrBadOption) {
		t.Error(err)
	}
}

func TestWhatCannotBeMixedIsAnError(t *testing.T) {
	two, three := numbers(t, 2), numbers(t, 3)
	for _, bad := range []struct {
		parts    []dataline.MixPart
		schedule []dataline.MixStage
		kind     error
	}{
		{nil, nil, dataline.ErrInvalidArgument},
		{[]dataline.MixPart{{Weight: 1}}, nil, dataline.ErrInvalidArgument},
		{[]dataline.MixPart{{Dataset: two, Weight: 1}, {Dataset: three, Repeat: 1}}, nil, dataline.ErrInvalidArgument},
		{[]dataline.MixPart{{Dataset: two, Weight: math.NaN()}}, nil, dataline.ErrOutOfRange},
		{[]dataline.MixPart{{Dataset: two, Weight: 1}}, []dataline.MixStage{{Step: 1}}, dataline.ErrInvalidArgument},
		{[]dataline.MixPart{{Dataset: two, Weight: 1}}, []dataline.MixStage{{Step: 0, Weights: []float64{1}}}, dataline.ErrOutOfRange},
		{[]dataline.MixPart{{Name: "a\x00b", Dataset: two, Weight: 1}}, nil, dataline.ErrInvalidArgument},
	} {
		if _, err := dataline.Mix(bad.parts, bad.schedule, -1); !errors.Is(err, bad.kind) {
			t.Errorf("%+v: %v", bad.parts, err)
		}
	}
}

func TestPartsOfDifferentShapesBecomeAlikeByTransformsOfTheirOwn(t *testing.T) {
	images := func(side, first int) *dataline.Dataset {
		pixels := make([]uint8, 2*side*side)
		for at := range pixels {
			pixels[at] = uint8(first + at)
		}
		return arrays(t, dataline.NewArray("image", pixels, 2, side, side).Axes("HW"))
	}
	rows := func(of *dataline.Dataset, transform string) []uint8 {
		batch := first(t, of, dataline.With{"batch_size": 4, "transform": transform})
		return must[[]uint8](t)(dataline.View[uint8](batch, "image"))
	}
	two, three := images(2, 1), images(3, 101)
	parts := []dataline.MixPart{{Name: "two", Dataset: two, Repeat: 1}, {Name: "three", Dataset: three, Repeat: 1}}
	sizes := must[*dataline.Dataset](t)(dataline.Mix(parts, nil, -1))
	defer sizes.Close()
	_, err := dataline.NewLoader(sizes, dataline.With{"batch_size": 2})
	wants(t, err, dataline.ErrMismatch)
	parts[1].Transform = "resize([2, 2])"
	mix := must[*dataline.Dataset](t)(dataline.Mix(parts, nil, -1))
	defer mix.Close()
	if described := must[[]dataline.Part](t)(mix.Parts()); described[0].Transform != "" || described[1].Transform != "resize([2, 2])" {
		t.Errorf("%+v", described)
	}
	equal(t, rows(mix, "hflip(1)"), append(slices.Clone(rows(two, "hflip(1)")), rows(three, "resize([2, 2]), hflip(1)")...)...)
	parts[0].Transform = "shrink(2)"
	_, err = dataline.Mix(parts, nil, -1)
	if problem := wants(t, err, dataline.ErrBadTransform); !strings.Contains(problem.Error(), "part two") {
		t.Error(problem)
	}
	parts[0].Transform = "cast(u8)\x00"
	_, err = dataline.Mix(parts, nil, -1)
	wants(t, err, dataline.ErrInvalidArgument)
}
