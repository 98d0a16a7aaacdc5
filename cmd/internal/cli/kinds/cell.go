package kinds

import (
	"strconv"
	"strings"
	"time"

	"rackboot/cmd/internal/cli/printer"
	"rackboot/protocol/resource"
	"rackboot/protocol/table"
)

// drawn is what people read of a cell: its ages are as of now.
func drawn(c table.Cell, now time.Time) string {
	age := printer.Age(c.Since, now)
	switch {
	case c.Number != nil:
		return strconv.FormatInt(*c.Number, 10)
	case c.At != nil:
		return printer.Stamp(c.At)
	case c.Stale:
		return strings.TrimSpace(age + " stale")
	case c.Since == nil:
		return c.Text
	case c.Text == "":
		return age
	}
	text := c.Text + ", for " + age
	if c.Until != nil {
		text += " of " + printer.Age(c.Since, *c.Until)
	}
	return text
}

// keyOf changes when a cell says something else, and not when it is only older.
func keyOf(col table.Column, c table.Cell, text string) string {
	switch {
	case c.Stale:
		return "stale"
	case c.Since == nil:
		return text
	case col.Event:
		return printer.Stamp(c.Since)
	}
	return c.Text
}

// toneOf is how a tone is drawn. One of a newer hub is drawn as what is ordinary.
func toneOf(t table.Tone) printer.Tone {
	switch t {
	case table.ToneOK:
		return printer.Good
	case table.ToneWarn:
		return printer.Busy
	case table.ToneBad:
		return printer.Bad
	case table.ToneMuted:
	}
	return printer.Plain
}

// Awaited is what a server waits for, how long already and until when: "DHCP: …, 2m of 5m". The times
// are by the agent's clock.
func Awaited(w *resource.Wait, now time.Time) string { return drawn(table.Waits(w), now) }

// Labels are labels in one line.
func Labels(labels map[string]string) string {
	var out []string
	for _, k := range printer.SortedNames(labels) {
		out = append(out, k+"="+labels[k])
	}
	return strings.Join(out, ",")
}
