// SPDX-License-Identifier: Apache-2.0

// The program bench measures what this package costs a batch above the same calls from C: the loop over Epoch, and Next
// with Release, each with View, beside a C program, in turn; the least of several rounds.
//
//	go run ./bench PROGRAM      PROGRAM is overhead.c, built
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/dataline/dataline/bindings/go"
)

const (
	batches = 100_000
	rounds  = 7
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: bench PROGRAM (bench/c/overhead.c, built)")
		os.Exit(2)
	}
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// ways to take that many batches; each returns the sum of their bytes.
var ways = []struct {
	name string
	take func(ctx context.Context, l *dataline.Loader) (int, error)
}{
	{"Epoch", byEpoch}, {"Next", byNext},
}

func byEpoch(ctx context.Context, l *dataline.Loader) (sum int, err error) {
	for sum < batches {
		for b, err := range l.Epoch(ctx) {
			if err != nil {
				return 0, err
			}
			x, err := dataline.View[uint8](b, "x")
			if err != nil {
				return 0, err
			}
			if sum += int(x[0]); sum == batches {
				break
			}
		}
	}
	return sum, nil
}

func byNext(ctx context.Context, l *dataline.Loader) (sum int, err error) {
	for sum < batches {
		b, err := l.Next(ctx)
		if errors.Is(err, dataline.EndOfEpoch) {
			continue
		} else if err != nil {
			return 0, err
		}
		x, err := dataline.View[uint8](b, "x")
		if err != nil {
			return 0, err
		}
		sum += int(x[0])
		b.Release()
	}
	return sum, nil
}

func run(program string) error {
	data := make([]uint8, 64*1024)
	for at := range data {
		data[at] = 1
	}
	d, err := dataline.FromArrays([]dataline.Array{dataline.NewArray("x", data)}, nil)
	if err != nil {
		return err
	}
	defer d.Close()
	l, err := dataline.NewLoader(d, dataline.With{"batch_size": 1, "num_workers": 0})
	if err != nil {
		return err
	}
	defer l.Close()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()

	inC := 1e18
	least := make([]float64, len(ways))
	allocated := make([]uint64, len(ways))
	for round := range rounds {
		text, err := exec.Command(program).Output()
		if err != nil {
			return err
		}
		each, err := strconv.ParseFloat(strings.TrimSpace(string(text)), 64)
		if err != nil {
			return err
		}
		inC = min(inC, each)
		for at, way := range ways {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			began := time.Now()
			if _, err := way.take(ctx, l); err != nil {
				return err
			}
			each := float64(time.Since(began).Nanoseconds()) / batches
			runtime.ReadMemStats(&after)
			allocated[at] = (after.Mallocs - before.Mallocs + batches/2) / batches
			if round == 0 || each < least[at] {
				least[at] = each
			}
		}
	}
	fmt.Printf("C: %.0f ns a batch\n", inC)
	for at, way := range ways {
		fmt.Printf("%s: %.0f ns a batch, %.0f above C, %d allocations\n", way.name, least[at], least[at]-inC, allocated[at])
	}
	return nil
}
