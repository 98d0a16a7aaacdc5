package printer

import (
	"os"

	"rackboot/cmd/internal/terminal"
)

// Tone says how a state is drawn on a screen with colours.
type Tone int

// The tones. What is ordinary has none.
const (
	Plain Tone = iota
	Good       // as it was asked for
	Busy       // on its way
	Bad        // somebody has to look
)

// Paint has a text in its colour (SGR of ECMA-48).
func (t Tone) Paint(s string) string {
	codes := map[Tone]string{Good: "32", Busy: "33", Bad: "31"}
	if codes[t] == "" {
		return s
	}
	return "\x1b[" + codes[t] + "m" + s + "\x1b[0m"
}

// Colours says whether results are coloured: on a screen, unless NO_COLOR is set to anything, or the
// terminal is a dumb one.
func (p *Printer) Colours() bool {
	getenv := p.Getenv
	if getenv == nil {
		getenv = os.Getenv
	}
	return terminal.Screen(p.Out) && getenv("NO_COLOR") == "" && getenv("TERM") != "dumb"
}

// columns is how wide the screen is; 0 where nobody looks at one.
func (p *Printer) columns() int {
	if !terminal.Screen(p.Out) {
		return 0
	}
	columns, _ := terminal.Size(p.Out)
	return columns
}
