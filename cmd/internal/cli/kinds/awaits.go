package kinds

import (
	"fmt"
	"time"

	"rackboot/cmd/internal/cli/printer"
	"rackboot/protocol/resource"
)

// Awaited is what a server waits for, how long already and until when: "DHCP: …, 2m of 5m". The times
// are by the agent's clock.
func Awaited(w *resource.Wait, now time.Time) string {
	if w == nil {
		return ""
	}
	text := w.For.Words()
	if w.Report != "" {
		text += " (" + string(w.Report) + ")"
	}
	text += ", for " + printer.Age(&w.Since, now)
	if w.Until != nil {
		text += fmt.Sprintf(" of %s", printer.Age(&w.Since, *w.Until))
	}
	return text
}

// awaitedKey is what is waited for, however long already.
func awaitedKey(w *resource.Wait) string {
	if w == nil {
		return ""
	}
	return string(w.For) + " " + string(w.Report)
}
