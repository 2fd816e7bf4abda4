// The program rank is a rank of a job, under any launcher: what rank.c is, in Go.
//
//	rank URI STATE JOURNAL STEPS [key=value...]
//
// SPDX-License-Identifier: Apache-2.0
package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"

	"github.com/dataline/dataline/bindings/go"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "rank:", err)
		os.Exit(1)
	}
}

func run(arguments []string) error {
	if len(arguments) < 4 {
		return errors.New("usage: rank URI STATE JOURNAL STEPS [key=value...]")
	}
	steps, err := strconv.Atoi(arguments[3])
	if err != nil {
		return err
	}
	options := dataline.With{"rank": "auto", "world_size": "auto"}
	for _, argument := range arguments[4:] {
		key, value, ok := strings.Cut(argument, "=")
		if !ok {
			return fmt.Errorf("%s: expected key=value", argument)
		}
		options[key] = value
	}
	dataset, err := dataline.Open(arguments[0], options)
	if err != nil {
		return err
	}
	defer dataset.Close()
	loader, err := dataline.NewLoader(dataset, options)
	if err != nil {
		return err
	}
	defer loader.Close()
	text, err := os.ReadFile(arguments[1])
	switch {
	case err == nil:
		err = loader.LoadState(string(text))
	case errors.Is(err, fs.ErrNotExist): // the beginning of the job
		err = nil
	}
	if err != nil {
		return err
	}
	launcher, err := dataline.DetectLauncher()
	if err != nil {
		return err
	}
	name := fmt.Sprintf("%s.%d", arguments[2], launcher.Rank)
	journal, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o666)
	if err != nil {
		return err
	}
	defer journal.Close()
	return deliver(loader, steps, journal)
}

func deliver(loader *dataline.Loader, steps int, journal *os.File) error {
	for steps != 0 {
		batch, err := loader.Next(context.Background())
		switch {
		case errors.Is(err, dataline.EndOfEpoch):
			continue
		case errors.Is(err, dataline.End):
			return nil
		case err != nil:
			return err
		}
		err = record(loader, batch, journal)
		batch.Release()
		if err != nil {
			return err
		}
		steps--
	}
	return nil
}

// record is one write: it is there whole, or cut at the end of the file.
func record(loader *dataline.Loader, batch *dataline.Batch, journal *os.File) error {
	tensor, err := batch.Tensor(loader.Fields()[0].Name)
	if err != nil {
		return err
	}
	data, err := tensor.Bytes()
	if err != nil {
		return err
	}
	state, err := loader.SaveState()
	if err != nil {
		return err
	}
	info := batch.Info()
	header := fmt.Sprintf("%d %d %d %d %d\n", info.Epoch, info.Step, info.Samples, len(data), len(state))
	_, err = journal.Write(append(append([]byte(header), data...), state...))
	return err
}
