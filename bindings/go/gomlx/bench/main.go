// SPDX-License-Identifier: Apache-2.0

// The program bench compares loaders on shuffled rows of 784 bytes, 60,000 of them, in batches of 256: this package,
// the same as a train.Dataset of GoMLX, GoMLX's own InMemory and ParallelMapOnHost, and a loop written by hand (a limit,
// not a loader: no thread, no label, no state), and, where DATALINE_BIN names it, `dataline bench`, which is the same in
// C++. In turn; the median of the rounds, the least and the most.
//
//	go run ./bench
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"github.com/dataline/dataline/bindings/go"
	adapter "github.com/dataline/dataline/bindings/go/gomlx"
	"github.com/gomlx/compute"
	_ "github.com/gomlx/compute/gobackend"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/dataset"
	"github.com/gomlx/gomlx/ml/train"
)

const (
	rows, width, batchSize = 60_000, 784, 256
	rounds                 = 5
	least                  = 400 * time.Millisecond // of a contender in a round, in whole epochs
)

// contender is one epoch of a loader, which returns the rows that came, or what measures itself, in millions a second.
type contender struct {
	name     string
	epoch    func() (int, error)
	measured func() (float64, error)
	speed    []float64
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	pixels := make([]byte, rows*width)
	random := rand.New(rand.NewPCG(1, 2))
	for at := range pixels {
		pixels[at] = byte(random.Uint32())
	}
	folder, err := os.MkdirTemp("", "rows")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	path := filepath.Join(folder, "rows.raw")
	if err := os.WriteFile(path, pixels, 0o600); err != nil {
		return err
	}
	contenders, err := contendersOf(pixels, fmt.Sprintf("raw:%s?dtype=u8&shape=%d", path, width))
	if err != nil {
		return err
	}
	for round := range rounds + 1 { // one to warm up
		for at := range contenders {
			speed, err := contenders[at].measure()
			if err != nil {
				return fmt.Errorf("%s: %w", contenders[at].name, err)
			}
			if round > 0 {
				contenders[at].speed = append(contenders[at].speed, speed)
			}
		}
	}
	for _, one := range contenders {
		slices.Sort(one.speed)
		fmt.Printf("%-32s %6.2f M rows/s (%.2f to %.2f)\n", one.name, one.speed[rounds/2], one.speed[0], one.speed[rounds-1])
	}
	return nil
}

func (c *contender) measure() (float64, error) {
	if c.measured != nil {
		return c.measured()
	}
	began, count := time.Now(), 0
	for time.Since(began) < least {
		came, err := c.epoch()
		if err != nil {
			return 0, err
		}
		if came != rows {
			return 0, fmt.Errorf("%d rows", came)
		}
		count += came
	}
	return float64(count) / time.Since(began).Seconds() / 1e6, nil
}

func contendersOf(pixels []byte, uri string) ([]contender, error) {
	d, err := dataline.Open(uri)
	if err != nil {
		return nil, err
	}
	loader, err := dataline.NewLoader(d, dataline.With{"batch_size": batchSize, "shuffle": "full"})
	if err != nil {
		return nil, err
	}
	backend, err := compute.New()
	if err != nil {
		return nil, err
	}
	inMemory, err := dataset.InMemoryFromData(backend, "rows",
		[]any{tensors.FromFlatDataAndDimensions(pixels, rows, width)}, nil)
	if err != nil {
		return nil, err
	}
	inMemory.BatchSize(batchSize, false).Shuffle()
	parallel := dataset.ParallelMapOnHost(&orders{}, gatherInto(pixels))
	all := []contender{
		{name: "Dataline", epoch: func() (int, error) { return ours(loader) }},
		{name: "Dataline as GoMLX dataset", epoch: theirs(adapter.New("rows", loader, []string{"data"}, nil))},
		{name: "GoMLX InMemory", epoch: theirs(inMemory)},
		{name: "GoMLX ParallelMapOnHost", epoch: theirs(parallel)},
		{name: "a loop in Go, by hand", epoch: byHand(pixels)},
	}
	if program := os.Getenv("DATALINE_BIN"); program != "" {
		all = append(all, contender{name: "dataline bench", measured: func() (float64, error) { return inC(program, uri) }})
	}
	return all, nil
}

// inC is the speed that the program measures itself.
func inC(program, uri string) (float64, error) {
	text, err := exec.Command(program, "bench", uri, "--batch_size", fmt.Sprint(batchSize), "--shuffle", "full",
		"--seconds", fmt.Sprint(least.Seconds()), "--json").Output()
	if err != nil {
		return 0, err
	}
	var told struct {
		Speed float64 `json:"samples_per_s"`
	}
	err = json.Unmarshal(text, &told)
	return told.Speed / 1e6, err
}

func ours(loader *dataline.Loader) (count int, err error) {
	for batch, err := range loader.Epoch(context.Background()) {
		if err != nil {
			return 0, err
		}
		x, err := dataline.View[uint8](batch, "data")
		if err != nil {
			return 0, err
		}
		count += len(x) / width
	}
	return count, nil
}

func theirs(d train.Dataset) func() (int, error) {
	return func() (count int, err error) {
		for batch, err := range d.Iter() {
			if err != nil {
				return 0, err
			}
			count += batch.Inputs[0].Shape().Dimensions[0]
			if err := batch.Finalize(); err != nil {
				return 0, err
			}
		}
		return count, nil
	}
}

// orders is batches of shuffled indices, for a parallel map that gathers their rows.
type orders struct{}

func (*orders) Name() string { return "orders" }

func (*orders) Iter() iter.Seq2[train.Batch, error] {
	return func(yield func(train.Batch, error) bool) {
		order := rand.Perm(rows)
		for begin := 0; begin < rows; begin += batchSize {
			part := make([]int64, min(batchSize, rows-begin))
			for at := range part {
				part[at] = int64(order[begin+at])
			}
			batch := train.Batch{Inputs: []*tensors.Tensor{tensors.FromFlatDataAndDimensions(part, len(part))}}
			if !yield(batch, nil) {
				return
			}
		}
	}
}

func gatherInto(pixels []byte) dataset.MapOnHostFn {
	return func(batch train.Batch) train.Batch {
		var out []byte
		tensors.MustMutableFlatData(batch.Inputs[0], func(order []int64) {
			out = make([]byte, 0, len(order)*width)
			for _, index := range order {
				out = append(out, pixels[index*width:(index+1)*width]...)
			}
		})
		return train.Batch{Inputs: []*tensors.Tensor{tensors.FromFlatDataAndDimensions(out, len(out)/width, width)}}
	}
}

// byHand gathers into one buffer again and again, in an order that is shuffled each epoch.
func byHand(pixels []byte) func() (int, error) {
	order := make([]int32, rows)
	for at := range order {
		order[at] = int32(at)
	}
	buffer := make([]byte, batchSize*width)
	return func() (count int, err error) {
		rand.Shuffle(rows, func(a, b int) { order[a], order[b] = order[b], order[a] })
		for begin := 0; begin < rows; begin += batchSize {
			part := order[begin:min(begin+batchSize, rows)]
			for at, index := range part {
				copy(buffer[at*width:(at+1)*width], pixels[int(index)*width:(int(index)+1)*width])
			}
			count += len(part)
		}
		return count, nil
	}
}
