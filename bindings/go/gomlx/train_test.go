// SPDX-License-Identifier: Apache-2.0

package gomlx_test

import (
	"testing"

	"github.com/dataline/dataline/bindings/go"
	"github.com/dataline/dataline/bindings/go/gomlx"
	"github.com/gomlx/compute"
	_ "github.com/gomlx/compute/gobackend"
	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/layers/fnn"
	"github.com/gomlx/gomlx/ml/model"
	"github.com/gomlx/gomlx/ml/train"
	"github.com/gomlx/gomlx/ml/train/loss"
	"github.com/gomlx/gomlx/ml/train/optimizer"
)

// GoMLX's own loop, over epochs of a loader, finds the line y = 3 x + 1.
func TestGoMLXTrainsOnALoader(t *testing.T) {
	x, y := make([]float32, 256), make([]float32, 256)
	for at := range x {
		x[at] = float32(at)/128 - 1
		y[at] = 3*x[at] + 1
	}
	d, err := dataline.FromArrays([]dataline.Array{
		dataline.NewArray("x", x, 256, 1), dataline.NewArray("y", y, 256, 1)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	l, err := dataline.NewLoader(d, dataline.With{"batch_size": 32, "shuffle": "full"})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	backend, err := compute.New()
	if err != nil {
		t.Fatal(err)
	}
	line := func(scope *model.Scope, _ any, inputs []*graph.Node) []*graph.Node {
		return []*graph.Node{fnn.New(scope, inputs[0], 1).NumHiddenLayers(0, 0).Done()}
	}
	store := model.NewStore()
	store.SetParam(model.ParamInitialSeed, int64(1))
	trainer := train.NewTrainer(backend, store, line, loss.MeanSquaredError,
		optimizer.Adam().LearningRate(0.05).Done(), nil, nil)
	metrics, err := train.NewLoop(trainer).RunEpochs(gomlx.New("line", l, []string{"x"}, []string{"y"}), 40)
	if err != nil {
		t.Fatal(err)
	}
	if last := metrics[0].Value().(float32); last > 0.01 {
		t.Error("the loss of the last batch is", last)
	}
	if epoch, _, err := l.Position(); epoch != 40 || err != nil {
		t.Error("after 40 epochs the loader is in epoch", epoch, err)
	}
}
