// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/dataline/dataline/bindings/go"
)

const (
	redraw       = 100 * time.Millisecond
	leastBar     = 4 // cells
	mostBar      = 40
	clearTheLine = "\r\x1b[K"
)

// progress draws where an epoch is, as the shell does, on standard error if that is a terminal; nothing elsewhere:
//
//	epoch 2/5, step 211 of 469:  45%|████▌     | [00:01<00:02, 23.4 k samples/s, waited 0.3 %, loss=0.213]
type progress struct {
	out     io.Writer // nil: nothing is drawn
	columns func() int
	label   string
	loader  *dataline.Loader
	before  dataline.Stats
	began   time.Time
	drawn   time.Time
	step    int
}

func newProgress(label string, loader *dataline.Loader) (*progress, error) {
	before, err := loader.Stats()
	p := &progress{columns: terminalColumns, label: label, loader: loader, before: before, began: time.Now()}
	if terminalColumns() > 0 && os.Getenv("TERM") != "dumb" {
		p.out = os.Stderr
	}
	return p, err
}

// update counts a step and draws at most ten times a second. The remark stands at the end.
func (p *progress) update(remark string) {
	p.step++
	if p.out != nil && time.Since(p.drawn) >= redraw {
		p.draw(remark)
	}
}

// end draws the last state and goes to the next line, however the epoch ends.
func (p *progress) end(remark string) {
	if p.out != nil && p.step > 0 {
		p.draw(remark)
		fmt.Fprintln(p.out)
	}
}

func (p *progress) draw(remark string) {
	p.drawn = time.Now()
	now, err := p.loader.Stats()
	if err != nil {
		return // the loop meets it too
	}
	elapsed := time.Since(p.began)
	waited := 100 * (now.Wait - p.before.Wait).Seconds() / elapsed.Seconds()
	items := []string{
		clock(elapsed) + "<" + clock(time.Duration(float64(elapsed)*float64(p.loader.Len()-p.step)/float64(p.step))),
		scaled(float64(now.Samples-p.before.Samples)/elapsed.Seconds()) + " samples/s",
		fmt.Sprintf("waited %.1f %%", waited),
	}
	if remark != "" {
		items = append(items, remark)
	}
	fmt.Fprint(p.out, clearTheLine+line(p.label, p.step, p.loader.Len(), items, p.columns()-1))
}

// line is at most so many columns wide: on a narrow terminal the bar goes first, then what stands last.
func line(label string, step, steps int, items []string, columns int) string {
	done := float64(step) / float64(max(1, steps))
	head := fmt.Sprintf("%s, step %d of %d: %3d%%", label, step, steps, int(100*done))
	shown := items
	tail := brackets(shown)
	for len(shown) > 0 && len(head)+len(tail) > columns {
		shown = shown[:len(shown)-1]
		tail = brackets(shown)
	}
	cells := min(mostBar, columns-len(head)-len(tail)-2)
	if len(shown) == len(items) && cells >= leastBar {
		return head + "|" + bar(done, cells) + "|" + tail
	}
	return (head + tail)[:min(max(0, columns), len(head)+len(tail))]
}

func brackets(items []string) string {
	if len(items) == 0 {
		return ""
	}
	return " [" + strings.Join(items, ", ") + "]"
}

// bar is so many characters, of which the last filled one is filled by eighths.
func bar(done float64, cells int) string {
	eighths := int(min(1, done) * float64(cells) * 8)
	text := strings.Repeat("█", eighths/8) + []string{"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"}[eighths%8]
	return text + strings.Repeat(" ", cells-utf8.RuneCountInString(text))
}

// clock has hours only when there are some.
func clock(time time.Duration) string {
	whole := int(time.Seconds() + 0.5)
	if whole >= 3600 {
		return fmt.Sprintf("%d:%02d:%02d", whole/3600, whole/60%60, whole%60)
	}
	return fmt.Sprintf("%02d:%02d", whole/60, whole%60)
}

// scaled is 834, 12.3 k or 6.91 M.
func scaled(value float64) string {
	unit := 0
	for ; value >= 999.5 && unit < 3; unit++ {
		value /= 1000
	}
	digits := 2
	if value >= 100 {
		digits = 0
	} else if value >= 10 {
		digits = 1
	}
	return fmt.Sprintf("%.*f%s", digits, value, []string{"", " k", " M", " G"}[unit])
}
