// SPDX-License-Identifier: Apache-2.0

// The program dataline-batches prints the fields of the first batches of a dataset: an example, and a check that the
// library is found.
//
//	go install github.com/dataline/dataline/bindings/go/cmd/dataline-batches@latest
//	dataline-batches URI [key=value...]        dataline-batches 'folder:photos/train' batch_size=8 shuffle=full
package main

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/dataline/dataline/bindings/go"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "dataline-batches:", err)
		os.Exit(1)
	}
}

func run(arguments []string) error {
	if len(arguments) == 0 {
		return fmt.Errorf("usage: dataline-batches URI [key=value...]")
	}
	options := dataline.With{}
	for _, pair := range arguments[1:] {
		key, value, found := strings.Cut(pair, "=")
		if !found {
			return fmt.Errorf("%q: expected key=value", pair)
		}
		options[key] = value
	}
	dataset, err := dataline.Open(arguments[0])
	if err != nil {
		return err
	}
	defer dataset.Close()
	loader, err := dataline.NewLoader(dataset, options)
	if err != nil {
		return err
	}
	defer loader.Close()
	fmt.Println(dataset.Format(), dataset.Len(), "samples,", loader.Len(), "batches")
	for batch, err := range loader.Epoch(context.Background()) {
		if err != nil {
			return err
		}
		for _, field := range loader.Fields() {
			tensor, err := batch.Tensor(field.Name)
			if err != nil {
				return err
			}
			fmt.Println(batch.Info().Step, field.Name, field.DType, tensor.Shape())
		}
		if batch.Info().Step == 2 {
			break
		}
	}
	return nil
}
