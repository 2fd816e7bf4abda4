// SPDX-License-Identifier: Apache-2.0

package dataline_test

import (
	"strings"
	"testing"

	"github.com/dataline/dataline/bindings/go"
)

func TestAutoIsWhatTheLauncherSaysWhenTheLoaderIsMade(t *testing.T) {
	for name, value := range map[string]string{"RANK": "2", "WORLD_SIZE": "3", "LOCAL_RANK": "1", "LOCAL_WORLD_SIZE": "2"} {
		t.Setenv(name, value)
	}
	found := must[dataline.Launcher](t)(dataline.DetectLauncher())
	if want := (dataline.Launcher{Family: "torchrun", Rank: 2, WorldSize: 3, LocalRank: 1, LocalWorldSize: 2}); found != want {
		t.Fatal(found)
	}
	stream := func(rank, world any) []int64 {
		options := dataline.With{"rank": rank, "world_size": world, "global_batch_size": 6, "shuffle": true}
		return joined(epoch(t, loaderOf(t, numbers(t, 30), options)))
	}
	expected := stream(2, 3)
	equal(t, stream("auto", "auto"), expected...)
	equal(t, stream("auto", 3), expected...)

	t.Setenv("RANK", "3")
	_, err := dataline.DetectLauncher()
	if details := wants(t, err, dataline.ErrInvalidArgument); !strings.Contains(details.Error(), "RANK=3 WORLD_SIZE=3") {
		t.Fatal(details)
	}
	_, err = dataline.NewLoader(numbers(t, 30), dataline.With{"rank": "auto", "world_size": "auto"})
	wants(t, err, dataline.ErrInvalidArgument)
	equal(t, stream(2, 3), expected...) // numbers ask nobody
}
