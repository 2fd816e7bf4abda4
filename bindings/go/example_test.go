// SPDX-License-Identifier: Apache-2.0

package dataline_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log"
	"os"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/dataline/dataline/bindings/go"
)

// squares is a dataset over slices of the program.
func squares() *dataline.Dataset {
	numbers := []int64{0, 1, 2, 3, 4, 5}
	squares := []float32{0, 1, 4, 9, 16, 25}
	dataset, err := dataline.FromArrays([]dataline.Array{
		dataline.NewArray("x", numbers), dataline.NewArray("y", squares)}, nil)
	if err != nil {
		log.Fatal(err)
	}
	return dataset
}

func ExampleLoader_Epoch() {
	dataset := squares()
	defer dataset.Close()
	loader, err := dataline.NewLoader(dataset, dataline.With{"batch_size": 4})
	if err != nil {
		log.Fatal(err)
	}
	defer loader.Close()
	for epoch := range 2 {
		for batch, err := range loader.Epoch(context.Background()) {
			if err != nil {
				log.Fatal(err)
			}
			y, err := dataline.View[float32](batch, "y")
			if err != nil {
				log.Fatal(err)
			}
			fmt.Println(epoch, y)
		}
	}
	// Output:
	// 0 [0 1 4 9]
	// 0 [16 25]
	// 1 [0 1 4 9]
	// 1 [16 25]
}

func ExampleLoader_SharedEpoch() {
	dataset := squares()
	defer dataset.Close()
	loader, err := dataline.NewLoader(dataset, dataline.With{"batch_size": 1})
	if err != nil {
		log.Fatal(err)
	}
	defer loader.Close()
	shared, err := loader.SharedEpoch(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	defer shared.Close()
	var sum atomic.Int64
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			for batch, err := range shared.Batches() {
				if err != nil {
					log.Fatal(err)
				}
				x, err := dataline.View[int64](batch, "x")
				if err != nil {
					log.Fatal(err)
				}
				sum.Add(x[0])
			}
		})
	}
	group.Wait()
	fmt.Println(sum.Load())
	// Output: 15
}

func ExampleLoader_Next() {
	dataset := squares()
	defer dataset.Close()
	loader, err := dataline.NewLoader(dataset, dataline.With{"batch_size": 3, "epochs": 1})
	if err != nil {
		log.Fatal(err)
	}
	defer loader.Close()
	for {
		batch, err := loader.Next(context.Background())
		if errors.Is(err, dataline.EndOfEpoch) {
			fmt.Println("end of epoch")
			continue
		} else if errors.Is(err, dataline.End) {
			break
		} else if err != nil {
			log.Fatal(err)
		}
		fmt.Println(batch.SampleIndices())
		batch.Release()
	}
	// Output:
	// [0 1 2]
	// [3 4 5]
	// end of epoch
}

func ExampleLoader_SaveState() {
	dataset := squares()
	defer dataset.Close()
	options := dataline.With{"batch_size": 2, "shuffle": "full", "seed": 7}
	before, err := dataline.NewLoader(dataset, options)
	if err != nil {
		log.Fatal(err)
	}
	defer before.Close()
	for range before.Epoch(context.Background()) {
		break // one batch of three
	}
	state, err := before.SaveState()
	if err != nil {
		log.Fatal(err)
	}
	after, err := dataline.NewLoader(dataset, options)
	if err != nil {
		log.Fatal(err)
	}
	defer after.Close()
	if err := after.LoadState(state); err != nil {
		log.Fatal(err)
	}
	fmt.Println(after.Position())
	// Output:
	// 0 1 <nil>
}

func ExampleRows() {
	dataset, err := dataline.FromArrays([]dataline.Array{
		dataline.NewRagged("text", []byte("onetwothree"), []int64{0, 3, 6, 11})}, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer dataset.Close()
	loader, err := dataline.NewLoader(dataset)
	if err != nil {
		log.Fatal(err)
	}
	defer loader.Close()
	for batch, err := range loader.Epoch(context.Background()) {
		if err != nil {
			log.Fatal(err)
		}
		texts, err := dataline.Rows[byte](batch, "text")
		if err != nil {
			log.Fatal(err)
		}
		for sample, text := range texts.All() {
			fmt.Println(sample, string(text))
		}
	}
	// Output:
	// 0 one
	// 1 two
	// 2 three
}

// cubes is a Source: records that Go code makes.
type cubes struct{}

func (cubes) Fields() []dataline.Field {
	return []dataline.Field{{Name: "cube", DType: dataline.I64}}
}

func (cubes) Len() int { return 5 }

func (cubes) Read(index int, record *dataline.Record) error {
	return dataline.Put(record, "cube", int64(index*index*index))
}

func ExampleFromSource() {
	dataset, err := dataline.FromSource(cubes{}, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer dataset.Close()
	loader, err := dataline.NewLoader(dataset)
	if err != nil {
		log.Fatal(err)
	}
	defer loader.Close()
	for batch, err := range loader.Epoch(context.Background()) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(dataline.View[int64](batch, "cube"))
	}
	// Output:
	// [0 1 8 27 64] <nil>
}

func ExampleFromArrays() {
	pixels := []uint8{1, 2, 3, 4, 5, 6, 7, 8}
	labels := []int64{0, 1}
	dataset, err := dataline.FromArrays([]dataline.Array{
		dataline.NewArray("image", pixels, 2, 2, 2), // two samples of 2 x 2
		dataline.NewArray("label", labels),
		dataline.NewRagged("text", []byte("onetwo"), []int64{0, 3, 6}),
	}, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer dataset.Close()
	for _, field := range dataset.Fields() {
		fmt.Println(field.Name, field.DType, field.Shape)
	}
	// Output:
	// image u8 [2 2]
	// label i64 []
	// text u8 [-1]
}

// lines is a Source whose samples have different lengths.
type lines []string

func (lines) Fields() []dataline.Field {
	return []dataline.Field{
		{Name: "line", Kind: dataline.Ragged, DType: dataline.U8, Shape: []int{-1}, Bytes: 100},
		{Name: "words", DType: dataline.I64},
	}
}

func (l lines) Len() int { return len(l) }

func (l lines) Read(index int, record *dataline.Record) error {
	if err := dataline.Put(record, "line", []byte(l[index])...); err != nil {
		return err
	}
	return dataline.Put(record, "words", int64(len(strings.Fields(l[index]))))
}

func ExampleSource() {
	dataset, err := dataline.FromSource(lines{"a line", "and another line"}, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer dataset.Close()
	loader, err := dataline.NewLoader(dataset, dataline.With{"batch_size": 2})
	if err != nil {
		log.Fatal(err)
	}
	defer loader.Close()
	for batch, err := range loader.Epoch(context.Background()) {
		if err != nil {
			log.Fatal(err)
		}
		texts, err := dataline.Rows[byte](batch, "line")
		if err != nil {
			log.Fatal(err)
		}
		words, err := dataline.View[int64](batch, "words")
		if err != nil {
			log.Fatal(err)
		}
		for at, text := range texts.All() {
			fmt.Println(words[at], string(text))
		}
	}
	// Output:
	// 2 a line
	// 3 and another line
}

func ExampleWriter() {
	folder, err := os.MkdirTemp("", "dataline-example")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(folder)
	writer, err := dataline.NewWriter("arrow:"+folder+"/set?shard_bytes=64MiB", []dataline.Field{
		{Name: "x", DType: dataline.F32, Shape: []int{2}},
		{Name: "text", Kind: dataline.Ragged, DType: dataline.U8, Shape: []int{-1}},
	}, "cleaned, 2nd try")
	if err != nil {
		log.Fatal(err)
	}
	defer writer.Close()
	rows := []dataline.Array{
		dataline.NewArray("x", []float32{0.5, 1, 1.5, 2}, 2, 2),
		dataline.NewRagged("text", []byte("onethree"), []int64{0, 3, 8}),
	}
	if err := writer.Append(rows, "row 2"); err != nil {
		log.Fatal(err)
	}
	if err := writer.Finish(); err != nil {
		log.Fatal(err)
	}
	set, err := dataline.Open("arrow:" + folder + "/set")
	if err != nil {
		log.Fatal(err)
	}
	defer set.Close()
	fmt.Println(set.Len(), set.Fields()[1].Name)
	// Output:
	// 2 text
}

func ExampleError() {
	_, err := dataline.Open("npy:/nowhere/a.npy")
	var details *dataline.Error
	fmt.Println(errors.Is(err, dataline.ErrNotFound), errors.Is(err, fs.ErrNotExist), errors.As(err, &details))
	fmt.Println(details.Code)
	// Output:
	// true true true
	// dataline: DL_ERR_NOT_FOUND
}

func ExampleOptions() {
	options, err := dataline.Options()
	if err != nil {
		log.Fatal(err)
	}
	for _, option := range options {
		if option.Key == "last_batch" {
			fmt.Println(option.Default, option.Choices)
		}
	}
	// Output:
	// keep [keep drop pad]
}
