package terminal

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// Trace writes a power-on for people: what it was, its rows with the time since it began,
// and how it ended with what to do.
func Trace(w io.Writer, t resource.Trace) error {
	if err := TraceHead(w, t); err != nil {
		return err
	}
	if err := TraceRows(w, t, 0); err != nil {
		return err
	}
	return TraceEnd(w, t)
}

// TraceHead writes what the power-on is.
func TraceHead(w io.Writer, t resource.Trace) error {
	tab := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	kept := ""
	if n := len(t.Kept); n > 1 {
		kept = fmt.Sprintf(" (kept: %d to %d)", t.Kept[0], t.Kept[n-1])
	}
	fmt.Fprintf(tab, "Server:\t%s\n", Cell(t.Server))
	fmt.Fprintf(tab, "Attempt:\t%d%s\n", t.Serial, kept)
	fmt.Fprintf(tab, "Boot:\t%s, number %d, for the %s\n", Cell(string(t.Intended)), t.Number, Cell(string(t.Purpose.Or())))
	if t.TraceID != "" {
		fmt.Fprintf(tab, "Trace ID:\t%s\n", Cell(t.TraceID))
	}
	fmt.Fprintf(tab, "Began:\t%s\n\n", t.Began.UTC().Format(time.RFC3339))
	return tab.Flush()
}

// The widths of TraceRows' columns, so that what is written later stands below.
const traceTime, traceSource, traceWhat = 10, 7, 18

// TraceRows writes the rows after the one of the number, under a heading where that is 0.
func TraceRows(w io.Writer, t resource.Trace, after int) error {
	line := func(at, source, what, detail string) error {
		_, err := fmt.Fprintln(w, strings.TrimRight(fmt.Sprintf("%-*s  %-*s  %-*s  %s", traceTime, at, traceSource, source, traceWhat, what, detail), " "))
		return err
	}
	if after == 0 {
		if err := line("TIME", "SOURCE", "WHAT", "DETAIL"); err != nil {
			return err
		}
	}
	for _, r := range t.Rows {
		if r.Seq <= after {
			continue
		}
		detail := Cell(r.Detail)
		if r.Detail == "" {
			detail = ""
		}
		if r.Source == protocol.TraceGap {
			detail = fmt.Sprintf("%d", r.Dropped)
		}
		if err := line(fmt.Sprintf("%+.3fs", r.At.Sub(t.Began).Seconds()), Cell(string(r.Source)), Cell(r.What), detail); err != nil {
			return err
		}
	}
	return nil
}

// TraceEnd writes how far the power-on has come, and what to do where it failed.
func TraceEnd(w io.Writer, t resource.Trace) error {
	var b strings.Builder
	fmt.Fprintf(&b, "\nOutcome: %s", Cell(string(t.State)))
	if !t.Ended() {
		b.WriteString(", under way")
	}
	if t.Code != "" {
		fmt.Fprintf(&b, ", %s", Cell(string(t.Code)))
	}
	fmt.Fprintf(&b, ", after %s\n", t.Since.Sub(t.Began).Round(time.Millisecond))
	if t.Observed != "" && t.Observed != t.Intended {
		fmt.Fprintf(&b, "  firmware used %s\n", Cell(string(t.Observed)))
	}
	if t.Reason != "" {
		fmt.Fprintf(&b, "  %s\n", Cell(t.Reason))
	}
	if known, ok := resource.LookupAttempt(t.Code); ok {
		fmt.Fprintf(&b, "  %s\n  hint: %s\n", known.Title, known.Hint)
	}
	_, err := io.WriteString(w, b.String())
	return err
}
