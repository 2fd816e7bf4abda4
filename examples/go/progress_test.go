// SPDX-License-Identifier: Apache-2.0

package main

import (
	"testing"
	"time"
	"unicode/utf8"
)

var figures = []string{"00:01<00:02", "23.4 k samples/s", "waited 0.3 %", "loss=0.213"}

func TestALineSaysWhereHowFastAndHowMuchWaiting(t *testing.T) {
	got := line("epoch 2/5", 211, 469, figures, 120)
	want := "epoch 2/5, step 211 of 469:  44%|████████████▌               | [00:01<00:02, 23.4 k samples/s, waited 0.3 %, loss=0.213]"
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestANarrowTerminalLosesTheBarThenTheLastFigures(t *testing.T) {
	head := "epoch 2/5, step 211 of 469:  44%"
	for columns, want := range map[int]string{
		92: head + " [00:01<00:02, 23.4 k samples/s, waited 0.3 %, loss=0.213]",
		80: head + " [00:01<00:02, 23.4 k samples/s, waited 0.3 %]",
		64: head + " [00:01<00:02, 23.4 k samples/s]",
		40: head,
		9:  "epoch 2/5",
		0:  "",
	} {
		if got := line("epoch 2/5", 211, 469, figures, columns); got != want {
			t.Errorf("%d columns: got %q, want %q", columns, got, want)
		}
	}
	for columns := range 200 {
		for _, step := range []int{0, 1, 468, 469, 500} {
			if got := line("epoch 2/5", step, 469, figures, columns); utf8.RuneCountInString(got) > columns {
				t.Errorf("%d columns: got %q", columns, got)
			}
		}
	}
}

func TestNumbersAreShort(t *testing.T) {
	for value, want := range map[float64]string{0: "0.00", 12.34: "12.3", 999.6: "1.00 k", 23_400: "23.4 k", 6.91e6: "6.91 M"} {
		if got := scaled(value); got != want {
			t.Errorf("%v: got %s, want %s", value, got, want)
		}
	}
	if got := clock(3725 * time.Second); got != "1:02:05" {
		t.Error(got)
	}
}
