package picture

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"image/color"
	"io"
	"strings"

	"github.com/charmbracelet/x/vt"
)

const (
	// maxLines bounds what is drawn; the lines after it are left out.
	maxLines = 200
	// A cell of the terminal, in pixels, of a font of fontSize.
	cellWidth, cellHeight, fontSize = 8.4, 19, 14
	margin                          = 16
)

// Colours of a terminal with a dark ground; each has a contrast of 4.5 or more to it (WCAG 2.2, 1.4.3).
const (
	ground  = "#1c2128"
	ink     = "#dde3ea"
	prompts = "#8b949e"
)

// SVG draws a command and what it wrote to a terminal as wide as columns.
func SVG(command string, screen []byte, columns int) []byte {
	lines := draw(screen, columns)
	width := 2*margin + float64(max(columns, len(command)+2))*cellWidth
	height := 2*margin + cellHeight*(len(lines)+1)
	var b bytes.Buffer
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%.0f" height="%d" viewBox="0 0 %.0f %d" font-family="ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace" font-size="%d">`+"\n",
		width, height, width, height, fontSize)
	fmt.Fprintf(&b, "<title>%s</title>\n", escaped(command))
	fmt.Fprintf(&b, `<rect width="100%%" height="100%%" rx="8" fill="%s"/>`+"\n", ground)
	text(&b, 0, []run{{0, 2, "$ ", style{fill: prompts}}, {2, len(command), command, style{fill: ink, bold: true}}})
	for i, l := range lines {
		text(&b, i+1, l)
	}
	b.WriteString("</svg>\n")
	return b.Bytes()
}

// style is how a run of characters looks.
type style struct {
	fill string
	bold bool
}

// run is characters of one style, from a column on.
type run struct {
	at, cells int
	text      string
	style     style
}

// draw lets a terminal have what was written, and reads its cells. Empty lines at the end are left out.
func draw(screen []byte, columns int) (lines [][]run) {
	term := vt.NewEmulator(columns, maxLines)
	answers := make(chan struct{})
	go func() {
		defer close(answers)
		_, _ = io.Copy(io.Discard, term) // what a terminal says where it is asked; it waits for a reader
	}()
	_, _ = term.Write(screen)                        // into memory
	if end, ok := term.InputPipe().(io.Closer); ok { // Close of the emulator is not safe beside a reader
		_ = end.Close() // of a pipe
		<-answers
	}
	last := 0
	for y := range maxLines {
		l := line(term, y, columns)
		if lines = append(lines, l); len(l) > 0 {
			last = y + 1
		}
	}
	return lines[:last]
}

// line is the runs of a line. What is a space in every style is left out.
func line(term *vt.Emulator, y, columns int) (out []run) {
	for x := range columns {
		c := term.CellAt(x, y)
		if c == nil || strings.TrimSpace(c.Content) == "" {
			continue
		}
		s := style{fill: fill(c.Style.Fg), bold: c.Style.Attrs&1 != 0}
		if n := len(out); n > 0 && out[n-1].style == s && out[n-1].at+out[n-1].cells == x {
			out[n-1].text += c.Content
			out[n-1].cells += max(1, c.Width)
			continue
		}
		out = append(out, run{x, max(1, c.Width), c.Content, s})
	}
	return out
}

// fill is a colour as SVG has it; nil is that of plain text.
func fill(c color.Color) string {
	if c == nil {
		return ink
	}
	r, g, b, _ := c.RGBA()
	// The dark colours of terminals are hard to read on this ground: they are lifted towards white.
	lift := func(v uint32) uint32 { v >>= 8; return v + (255-v)*2/5 }
	return fmt.Sprintf("#%02x%02x%02x", lift(r), lift(g), lift(b))
}

// text writes the runs of a line; each begins at its column, whatever font the reader has.
func text(b *bytes.Buffer, line int, runs []run) {
	if len(runs) == 0 {
		return
	}
	fmt.Fprintf(b, `<text y="%d" xml:space="preserve">`, margin+cellHeight*line+fontSize)
	for _, r := range runs {
		weight := ""
		if r.style.bold {
			weight = ` font-weight="bold"`
		}
		fmt.Fprintf(b, `<tspan x="%.1f" textLength="%.1f" fill="%s"%s>%s</tspan>`, margin+float64(r.at)*cellWidth, float64(r.cells)*cellWidth, r.style.fill, weight, escaped(r.text))
	}
	b.WriteString("</text>\n")
}

func escaped(s string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(s)) // into memory
	return b.String()
}
