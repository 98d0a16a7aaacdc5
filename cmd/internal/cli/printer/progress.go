package printer

import (
	"fmt"

	"rackboot/cmd/internal/terminal"
)

// Progress says something that is no result.
func (p *Printer) Progress(format string, args ...any) {
	p.Settle()
	fmt.Fprintf(p.Err, format+"\n", args...)
}

// Telling says each state of something: on a screen in one line that is written again, else in a line each.
func (p *Printer) Telling(what string) func(state string) {
	return func(state string) {
		if !terminal.Screen(p.Err) {
			p.Progress("%s: %s", what, terminal.Cell(state))
			return
		}
		width, _ := terminal.Size(p.Err)
		p.open = true
		fmt.Fprintf(p.Err, "\r%s\x1b[K", Cut(terminal.Cell(what+": "+state), width-1))
	}
}

// Settle ends the line that Telling has left open.
func (p *Printer) Settle() {
	if p.open {
		p.open = false
		fmt.Fprintln(p.Err)
	}
}
