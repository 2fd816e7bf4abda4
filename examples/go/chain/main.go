// The program chain takes a piece of a job: the bytes of a field go to standard output as dataline cat writes them, and
// the position goes into a file, from which any language can go on.
//
//	chain URI STATE_IN|- STATE_OUT|- BATCHES FIELD [key=value...]
//
// BATCHES is -1 for all there are. The keys are the library's options.
//
// SPDX-License-Identifier: Apache-2.0
package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/dataline/dataline/bindings/go"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(arguments []string) error {
	if len(arguments) < 5 {
		return errors.New("usage: chain URI STATE_IN|- STATE_OUT|- BATCHES FIELD [key=value...]")
	}
	uri, stateIn, stateOut, field := arguments[0], arguments[1], arguments[2], arguments[4]
	batches, err := strconv.Atoi(arguments[3])
	if err != nil {
		return err
	}
	options := dataline.With{}
	for _, argument := range arguments[5:] {
		key, value, ok := strings.Cut(argument, "=")
		if !ok {
			return fmt.Errorf("%s: expected key=value", argument)
		}
		options[key] = value
	}
	dataset, err := dataline.Open(uri, options)
	if err != nil {
		return err
	}
	defer dataset.Close()
	loader, err := dataline.NewLoader(dataset, options)
	if err != nil {
		return err
	}
	defer loader.Close()
	if stateIn != "-" {
		text, err := os.ReadFile(stateIn)
		if err != nil {
			return err
		}
		if err := loader.LoadState(string(text)); err != nil {
			return err
		}
	}
	if err := deliver(loader, batches, field, os.Stdout); err != nil {
		return err
	}
	if stateOut == "-" {
		return nil
	}
	text, err := loader.SaveState()
	if err != nil {
		return err
	}
	return os.WriteFile(stateOut, []byte(text), 0o644)
}

func deliver(loader *dataline.Loader, batches int, field string, to io.Writer) error {
	out := bufio.NewWriterSize(to, 1<<20)
	for batches != 0 {
		batch, err := loader.Next(context.Background())
		switch {
		case errors.Is(err, dataline.EndOfEpoch):
			continue
		case errors.Is(err, dataline.End):
			return out.Flush()
		case err != nil:
			return err
		}
		err = write(batch, field, out)
		batch.Release()
		if err != nil {
			return err
		}
		batches--
	}
	return out.Flush()
}

func write(batch *dataline.Batch, field string, out io.Writer) error {
	tensor, err := batch.Tensor(field)
	if err != nil {
		return err
	}
	bytes, err := tensor.Bytes()
	if err != nil {
		return err
	}
	_, err = out.Write(bytes)
	return err
}
