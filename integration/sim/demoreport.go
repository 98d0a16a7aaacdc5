package sim

import (
	"context"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"
)

// stepTimeout bounds one step of the demo.
const stepTimeout = 30 * time.Second

// demoStep is one thing that the demo shows; do returns what was seen.
type demoStep struct {
	title string
	do    func(context.Context) (string, error)
}

// demoReport is what the demo prints of its steps.
type demoReport struct {
	out     io.Writer
	started time.Time
	rows    []demoRow
}

type demoRow struct {
	step, detail string
	at           time.Duration
}

func (r *demoReport) step(ctx context.Context, s demoStep) error {
	ctx, cancel := context.WithTimeout(ctx, stepTimeout)
	defer cancel()
	detail, err := s.do(ctx)
	if err != nil {
		return fmt.Errorf("%s: %w", s.title, err)
	}
	row := demoRow{s.title, strings.TrimSpace(detail), time.Since(r.started)}
	r.rows = append(r.rows, row)
	r.printf("%6.1fs  %-42s %s\n", row.at.Seconds(), row.step, row.detail)
	return nil
}

func (r *demoReport) printf(format string, args ...any) {
	_, _ = fmt.Fprintf(r.out, format, args...) // a terminal that is gone ends nothing
}

func (r *demoReport) summary() {
	r.printf("\n")
	w := tabwriter.NewWriter(r.out, 0, 8, 2, ' ', 0)
	_, _ = fmt.Fprintln(w, "SUMMARY\tFIRST SEEN\tRESULT")
	for _, r := range r.rows {
		_, _ = fmt.Fprintf(w, "%s\t%.1fs\tok\n", r.step, r.at.Seconds())
	}
	_ = w.Flush() // as printf
	r.printf("\n%d steps, all as promised, in %.1f s\n", len(r.rows), time.Since(r.started).Seconds())
}

func indent(s string) string {
	return "         " + strings.ReplaceAll(strings.TrimRight(s, "\n"), "\n", "\n         ")
}
