package printer

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

// Bar shows how far something long is: on a screen a line that is written again, else a
// line for each tenth.
type Bar struct {
	out    io.Writer
	screen bool
	what   string
	Total  int64 // bytes; 0 is not known
	clock  func() time.Time

	have, first int64
	began, last time.Time
	step        int64
	open        bool // a line is on the screen
	// columns is how wide the screen is: a line that wraps would be written again below itself.
	columns func() int
}

// NewBar begins a bar for something of which some is there.
func (p *Printer) NewBar(what string, have, total int64) *Bar {
	now := time.Now()
	b := &Bar{out: p.Err, screen: terminal.Screen(p.Err), what: what, Total: total, clock: time.Now, have: have, first: have, began: now, columns: func() int {
		columns, _ := terminal.Size(p.Err)
		return columns
	}}
	b.step = b.steps()
	return b
}

// steps is how many tenths are done.
func (b *Bar) steps() int64 {
	if b.Total == 0 {
		return 0
	}
	return b.have * barSteps / b.Total
}

// Set says how far it is.
func (b *Bar) Set(have int64) {
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
		fmt.Fprintf(b.out, "\r%s\x1b[K", Cut(b.line(now), b.columns()-1))
	}
}

// End leaves the line as it is.
func (b *Bar) End() {
	if b.open {
		fmt.Fprintf(b.out, "\r%s\x1b[K\n", Cut(b.line(b.clock()), b.columns()-1))
		b.open = false
	}
}

func (b *Bar) line(now time.Time) string {
	if b.Total == 0 {
		return fmt.Sprintf("%s: %s", b.what, Mebibytes(b.have))
	}
	text := fmt.Sprintf("%s: %3d %% of %s", b.what, b.have*100/b.Total, Mebibytes(b.Total))
	if !b.screen {
		return text
	}
	done := int(b.have * barWidth / b.Total)
	text = fmt.Sprintf("%s [%s%s] %3d %% of %s", b.what, strings.Repeat("#", done), strings.Repeat(" ", barWidth-done), b.have*100/b.Total, Mebibytes(b.Total))
	if took := now.Sub(b.began); took > time.Second && b.have > b.first {
		per := float64(b.have-b.first) / took.Seconds()
		text += fmt.Sprintf(", %.1f MiB/s, %s left", per/(1<<20), time.Duration(float64(b.Total-b.have)/per*float64(time.Second)).Round(time.Second))
	}
	return text
}

// Reader moves the bar by what is read of r, which begins at a place in the whole.
func (b *Bar) Reader(r io.Reader, at int64) io.Reader { return &barReader{r, b, at} }

// barReader moves a bar by what is read.
type barReader struct {
	r   io.Reader
	bar *Bar
	at  int64
}

// Read implements io.Reader.
func (r *barReader) Read(b []byte) (int, error) {
	n, err := r.r.Read(b)
	r.at += int64(n)
	r.bar.Set(r.at)
	return n, err
}
