package cli

import (
	"fmt"
	"io"
	"strings"
	"time"

	"rackboot/cmd/internal/terminal"
)

const (
	// barEvery is how often a bar is drawn, barWidth how wide it is in characters.
	barEvery = 200 * time.Millisecond
	barWidth = 30
	// barSteps is how many lines a bar is where nobody looks at a screen.
	barSteps = 10
)

// bar shows how far something long is: on a screen a line that is written again, else a
// line for each tenth.
type bar struct {
	out    io.Writer
	screen bool
	what   string
	total  int64 // bytes; 0 is not known
	clock  func() time.Time

	have, first int64
	began, last time.Time
	step        int64
	open        bool // a line is on the screen
}

func (a *app) newBar(what string, have, total int64) *bar {
	now := time.Now()
	b := &bar{out: a.cfg.Err, screen: terminal.Screen(a.cfg.Err), what: what, total: total, clock: time.Now, have: have, first: have, began: now}
	b.step = b.steps()
	return b
}

// steps is how many tenths are done.
func (b *bar) steps() int64 {
	if b.total == 0 {
		return 0
	}
	return b.have * barSteps / b.total
}

// set says how far it is.
func (b *bar) set(have int64) {
	b.have = have
	now := b.clock()
	switch {
	case !b.screen:
		if s := b.steps(); s != b.step {
			b.step = s
			fmt.Fprintln(b.out, b.line(now))
		}
	case now.Sub(b.last) >= barEvery:
		b.last, b.open = now, true
		fmt.Fprintf(b.out, "\r%s\x1b[K", b.line(now))
	}
}

// end leaves the line as it is.
func (b *bar) end() {
	if b.open {
		fmt.Fprintf(b.out, "\r%s\x1b[K\n", b.line(b.clock()))
		b.open = false
	}
}

func (b *bar) line(now time.Time) string {
	if b.total == 0 {
		return fmt.Sprintf("%s: %s", b.what, mebibytes(b.have))
	}
	text := fmt.Sprintf("%s: %3d %% of %s", b.what, b.have*100/b.total, mebibytes(b.total))
	if !b.screen {
		return text
	}
	done := int(b.have * barWidth / b.total)
	text = fmt.Sprintf("%s [%s%s] %3d %% of %s", b.what, strings.Repeat("#", done), strings.Repeat(" ", barWidth-done), b.have*100/b.total, mebibytes(b.total))
	if took := now.Sub(b.began); took > time.Second && b.have > b.first {
		per := float64(b.have-b.first) / took.Seconds()
		text += fmt.Sprintf(", %.1f MiB/s, %s left", per/(1<<20), time.Duration(float64(b.total-b.have)/per*float64(time.Second)).Round(time.Second))
	}
	return text
}

// mebibytes is a size for people.
func mebibytes(n int64) string {
	switch {
	case n >= 10<<30:
		return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
	case n >= 10<<20:
		return fmt.Sprintf("%d MiB", n>>20)
	case n >= 10<<10:
		return fmt.Sprintf("%d KiB", n>>10)
	}
	return fmt.Sprintf("%d bytes", n)
}

// barReader moves a bar by what is read.
type barReader struct {
	r   io.Reader
	bar *bar
	at  int64
}

func (r *barReader) Read(b []byte) (int, error) {
	n, err := r.r.Read(b)
	r.at += int64(n)
	r.bar.set(r.at)
	return n, err
}
