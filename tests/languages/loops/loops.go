// SPDX-License-Identifier: Apache-2.0

// The driver of loops.json in Go (README.md).
package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"reflect"
	"strconv"
	"strings"
	"sync"

	"github.com/dataline/dataline/bindings/go"
)

// job is what one `open` makes. Goroutines that are spawned use the loader and the loops, which stay until they are joined.
type job struct {
	dataset *dataline.Dataset
	loader  *dataline.Loader
	loops   map[string]*dataline.SharedEpoch
	held    []*dataline.Batch
	state   string
	spawned map[string]chan string
}

func open(samples string, options []string) (*job, error) {
	rows := make([]int64, number(samples))
	for at := range rows {
		rows[at] = int64(at)
	}
	dataset, err := dataline.FromArrays([]dataline.Array{dataline.NewArray("x", rows)}, nil)
	if err != nil {
		return nil, err
	}
	with := dataline.With{}
	for _, option := range options {
		key, value, _ := strings.Cut(option, "=")
		with[key] = value
	}
	loader, err := dataline.NewLoader(dataset, with)
	if err != nil {
		return nil, err
	}
	return &job{dataset: dataset, loader: loader, loops: map[string]*dataline.SharedEpoch{}, spawned: map[string]chan string{}}, nil
}

func (j *job) close() {
	if j == nil {
		return
	}
	j.release()
	j.loader.Close()
	for _, loop := range j.loops { // after their loader: any order will do
		loop.Close()
	}
	j.dataset.Close()
}

func (j *job) release() {
	for _, batch := range j.held {
		batch.Release()
	}
	j.held = nil
}

// said is a result as README.md prints it.
func said(err error) string {
	if err == nil {
		return "ok"
	}
	var code dataline.Code
	if details := (*dataline.Error)(nil); errors.As(err, &details) {
		code = details.Code
	} else if !errors.As(err, &code) {
		return err.Error()
	}
	return strings.ToLower(strings.TrimPrefix(strings.TrimPrefix(code.String(), "DL_"), "ERR_"))
}

func text(batch *dataline.Batch) string {
	samples := strings.Trim(fmt.Sprint(batch.SampleIndices()), "[]")
	return fmt.Sprintf("%d:%s", batch.Info().Epoch, strings.ReplaceAll(samples, " ", ","))
}

func number(word string) int {
	value, err := strconv.Atoi(word)
	if err != nil {
		log.Fatal(err)
	}
	return value
}

// next takes one batch of a loop and leaves the rest to others.
func (j *job) next(loop *dataline.SharedEpoch, keep bool) string {
	for batch, err := range loop.Batches() {
		if err != nil {
			return said(err)
		}
		if keep {
			batch.Keep()
			j.held = append(j.held, batch)
		}
		return text(batch)
	}
	return "end_of_epoch"
}

func (j *job) take(ctx context.Context) string {
	batch, err := j.loader.Next(ctx)
	if err != nil {
		return said(err)
	}
	defer batch.Release()
	return text(batch)
}

func (j *job) loop(ctx context.Context, count string) string {
	var batches []string
	for batch, err := range j.loader.Epoch(ctx) {
		if err != nil {
			return said(err)
		}
		batches = append(batches, text(batch))
		if count != "all" && len(batches) == number(count) {
			break
		}
	}
	if batches == nil {
		return "nothing"
	}
	return strings.Join(batches, " ")
}

func share(loop *dataline.SharedEpoch, goroutines int) string {
	var group sync.WaitGroup
	var lock sync.Mutex
	samples, ends, different := 0, 0, map[int64]bool{}
	var wrong error
	for range goroutines {
		group.Go(func() {
			var mine []int64
			var failed error
			for batch, err := range loop.Batches() {
				if err != nil {
					failed = err
					break
				}
				mine = append(mine, batch.SampleIndices()...)
			}
			lock.Lock()
			defer lock.Unlock()
			samples += len(mine)
			for _, sample := range mine {
				different[sample] = true
			}
			if failed == nil {
				ends++
			} else {
				wrong = failed
			}
		})
	}
	group.Wait()
	if wrong != nil {
		return said(wrong)
	}
	return fmt.Sprintf("%d samples, %d different, %d ends", samples, len(different), ends)
}

// method is the method of the loader with this name in C, without dl_loader_.
func (j *job) method(name string) reflect.Value {
	all := reflect.TypeOf(j.loader)
	for at := range all.NumMethod() {
		if strings.EqualFold(all.Method(at).Name, strings.ReplaceAll(name, "_", "")) {
			return reflect.ValueOf(j.loader).Method(at)
		}
	}
	log.Fatal("no method ", name)
	return reflect.Value{}
}

func (j *job) call(name string, numbers []string) string {
	var given []reflect.Value
	for _, word := range numbers {
		given = append(given, reflect.ValueOf(number(word)))
	}
	err, _ := j.method(name).Call(given)[0].Interface().(error)
	return said(err)
}

func (j *job) get(name string) string {
	method, member, _ := strings.Cut(name, ".")
	results := j.method(method).Call(nil)
	if err, failed := results[1].Interface().(error); failed {
		return said(err)
	}
	bare := strings.ReplaceAll(strings.TrimSuffix(member, "_ns"), "_", "")
	value := results[0].FieldByNameFunc(func(field string) bool { return strings.EqualFold(field, bare) })
	switch {
	case value.Kind() == reflect.Bool && value.Bool():
		return "1"
	case value.Kind() == reflect.Bool:
		return "0"
	case value.CanInt():
		return strconv.FormatInt(value.Int(), 10)
	}
	return value.String()
}

func (j *job) run(ctx context.Context, words []string) string {
	name, more := "", ""
	if len(words) > 1 {
		name = words[1]
	}
	if len(words) > 2 {
		more = words[2]
	}
	switch words[0] {
	case "begin":
		loop, err := j.loader.SharedEpoch(ctx)
		j.loops[name].Close()
		j.loops[name] = loop
		return said(err)
	case "next", "hold":
		return j.next(j.loops[name], words[0] == "hold")
	case "take":
		return j.take(ctx)
	case "release":
		j.release()
	case "for":
		return j.loop(ctx, name)
	case "call":
		return j.call(name, words[2:])
	case "get":
		return j.get(name)
	case "seek":
		return said(j.loader.Seek(number(name), number(more)))
	case "save":
		state, err := j.loader.SaveState()
		j.state = state
		return said(err)
	case "load":
		return said(j.loader.LoadState(j.state))
	case "position":
		epoch, step, err := j.loader.Position()
		if err != nil {
			return said(err)
		}
		return fmt.Sprint(epoch, " ", step)
	case "interrupt":
		if name == "" {
			j.loader.Interrupt()
		} else {
			j.loops[name].Interrupt()
		}
	case "cancel":
		j.loader.Cancel()
	case "spawn":
		result := make(chan string, 1)
		j.spawned[name] = result
		go func() { result <- j.run(ctx, words[2:]) }()
	case "join":
		return <-j.spawned[name]
	case "share":
		return share(j.loops[name], number(more))
	case "drop":
		j.loops[name].Close()
		delete(j.loops, name)
	default:
		log.Fatal("unknown command: ", words)
	}
	return "ok"
}

func main() {
	ctx, cancel := context.WithCancel(context.Background()) // so that each wait is one that a context can end
	defer cancel()
	var current *job
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		words := strings.Fields(lines.Text())
		if words[0] != "open" {
			fmt.Println(current.run(ctx, words))
			continue
		}
		current.close()
		opened, err := open(words[1], words[2:])
		if err != nil {
			log.Fatal(err)
		}
		current = opened
		fmt.Println("ok")
	}
	current.close()
}
