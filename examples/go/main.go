// The program train-mnist trains a small network on MNIST digits: train-mnist DIR [EPOCHS], with the four files in DIR,
// .gz or not.
//
// SPDX-License-Identifier: Apache-2.0
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"time"

	"github.com/dataline/dataline/bindings/go"
)

const hidden = 128

// Both loaders: u8 28x28 becomes f32 784, (x / 255 - 0.1307) / 0.3081, on its way into the batch.
var common = dataline.With{"batch_size": 128, "transform": "image: normalize(mnist), flatten"}

// In a URI these characters of a path are written by their number.
var escape = strings.NewReplacer("%", "%25", ",", "%2C", "?", "%3F", "&", "%26", "=", "%3D")

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, arguments []string) error {
	if len(arguments) == 0 {
		return errors.New("usage: train-mnist DIR [EPOCHS]")
	}
	epochs := 5
	if len(arguments) > 1 {
		number, err := strconv.Atoi(arguments[1])
		if err != nil {
			return err
		}
		epochs = number
	}
	train, err := load(ctx, arguments[0], "train", dataline.With{"shuffle": "full", "seed": 1, "epochs": epochs})
	if err != nil {
		return err
	}
	defer train.Close()
	test, err := load(ctx, arguments[0], "test", dataline.With{"epochs": 1})
	if err != nil {
		return err
	}
	defer test.Close()

	model := newMLP(784, hidden, 10)
	if err := fit(ctx, model, train, epochs); err != nil {
		return err
	}
	accuracy, err := measure(ctx, model, test)
	if err == nil {
		fmt.Printf("test accuracy: %.2f %%\n", accuracy)
	}
	return err
}

func load(ctx context.Context, directory, split string, options dataline.With) (*dataline.Loader, error) {
	dataset, err := dataline.OpenContext(ctx, "mnist:"+escape.Replace(directory)+"?split="+split)
	if err != nil {
		return nil, err
	}
	defer dataset.Close()
	return dataline.NewLoader(dataset, common, options)
}

// views are the two fields of a batch.
func views(batch *dataline.Batch) (images []float32, labels []int64, err error) {
	if images, err = dataline.View[float32](batch, "image"); err != nil {
		return nil, nil, err
	}
	labels, err = dataline.View[int64](batch, "label")
	return images, labels, err
}

func fit(ctx context.Context, model *mlp, train *dataline.Loader, epochs int) error {
	began, step, samples := time.Now(), 0, 0
	first := emptyDigest
	fitBatch := func(epoch int, batch *dataline.Batch) (loss float64, seen int, err error) {
		images, labels, err := views(batch)
		if err == nil && epoch == 0 {
			err = addTo(&first, batch)
		}
		if err != nil {
			return 0, 0, err
		}
		rate := 0.1 * (1 - float32(step)/float32(train.Len()*epochs))
		step++
		return model.train(images, labels, rate, 0.9), len(labels), nil
	}
	for epoch := range epochs {
		loss, seen, err := fitEpoch(ctx, train, epoch, epochs, fitBatch)
		if err != nil {
			return err
		}
		samples += seen
		fmt.Printf("epoch %d: loss %.4f\n", epoch+1, loss/float64(seen))
	}
	seconds := time.Since(began).Seconds()
	stats, err := train.Stats()
	if err != nil {
		return err
	}
	fmt.Printf("first epoch digest: %v\n", first)
	fmt.Printf("waited for data: %.1f %%\n", 100*stats.Wait.Seconds()/seconds)
	fmt.Printf("training speed: %.0f samples/s\n", float64(samples)/seconds)
	return nil
}

// fitEpoch is an epoch's loss and samples.
func fitEpoch(ctx context.Context, train *dataline.Loader, epoch, epochs int,
	fitBatch func(int, *dataline.Batch) (float64, int, error)) (loss float64, seen int, err error) {
	shown, err := newProgress(fmt.Sprintf("epoch %d/%d", epoch+1, epochs), train)
	if err != nil {
		return 0, 0, err
	}
	remark := ""
	defer func() { shown.end(remark) }()
	for batch, err := range train.Epoch(ctx) {
		if err != nil {
			return 0, 0, err
		}
		more, samples, err := fitBatch(epoch, batch)
		if err != nil {
			return 0, 0, err
		}
		loss += more
		seen += samples
		remark = fmt.Sprintf("loss=%.3f", loss/float64(seen))
		shown.update(remark)
	}
	return loss, seen, nil
}

func addTo(sum *digest, batch *dataline.Batch) error {
	for tensor := range batch.Tensors() {
		bytes, err := tensor.Bytes()
		if err != nil {
			return err
		}
		sum.add(bytes)
	}
	return nil
}

// measure is the share of the labels that the model finds, in percent.
func measure(ctx context.Context, model *mlp, test *dataline.Loader) (float64, error) {
	correct, count := 0, 0
	for batch, err := range test.Epoch(ctx) {
		if err != nil {
			return 0, err
		}
		images, labels, err := views(batch)
		if err != nil {
			return 0, err
		}
		correct += model.correct(images, labels)
		count += len(labels)
	}
	return 100 * float64(correct) / float64(count), nil
}
