package benchreport

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"
)

// Ours is the subject that the others are compared with.
const Ours = "rackboot"

// A Figure is one number about one server.
type Figure struct {
	What    string  `json:"what"`
	Subject string  `json:"subject"`
	Value   float64 `json:"value"`
	Unit    string  `json:"unit"`
	// Missing says why there is no value.
	Missing string `json:"missing,omitempty"`
	// Ours is how many times this value ours is; 0 where that says nothing.
	Ours   float64 `json:"ours,omitempty"`
	Detail string  `json:"detail,omitempty"`
	// Rounds are the values of single rounds, of which Value is the median.
	Rounds []float64 `json:"rounds,omitempty"`
}

// A Report collects figures and prints each group as it comes, or all in the end as JSON.
type Report struct {
	begun   time.Time
	out     io.Writer
	json    bool
	figures []Figure
}

// New is an empty report.
func New(out io.Writer, asJSON bool) *Report {
	return &Report{begun: time.Now(), out: out, json: asJSON}
}

// Add prints figures of one thing, each beside ours.
func (r *Report) Add(group ...Figure) {
	for i := range group {
		f := &group[i]
		for _, o := range group {
			if o.Subject == Ours && o.What == f.What && o.Unit == f.Unit && f.Subject != Ours && f.Missing == "" && o.Missing == "" && f.Value > 0 {
				f.Ours = o.Value / f.Value
			}
		}
		r.Printf("%s", f)
	}
	r.figures = append(r.figures, group...)
}

// String is a line of the table.
func (f *Figure) String() string {
	s := fmt.Sprintf("%-48s %-22s", f.What, f.Subject)
	if f.Missing != "" {
		return s + " missing: " + f.Missing
	}
	s += fmt.Sprintf(" %10.1f %s", f.Value, f.Unit)
	if len(f.Rounds) > 1 {
		s += fmt.Sprintf(" [%.1f to %.1f of %d]", slices.Min(f.Rounds), slices.Max(f.Rounds), len(f.Rounds))
	}
	if f.Ours > 0 {
		s += fmt.Sprintf(", ours is %.2f times that", f.Ours)
	}
	if f.Detail != "" {
		s += " (" + f.Detail + ")"
	}
	return s
}

// Load notes how busy the machine is.
func (r *Report) Load(when string) {
	raw, err := os.ReadFile("/proc/loadavg")
	var load float64
	if err == nil {
		_, err = fmt.Sscan(string(raw), &load)
	}
	f := Figure{What: "load of the machine, " + when, Subject: "-", Value: load, Unit: "processes, of the last minute"}
	if err != nil {
		f.Missing = err.Error()
	}
	r.Add(f)
}

// Printf prints a line, with the time since the beginning, unless the end is JSON.
func (r *Report) Printf(format string, args ...any) {
	if !r.json {
		fmt.Fprintf(r.out, "%6.1fs  "+format+"\n", append([]any{time.Since(r.begun).Seconds()}, args...)...)
	}
}

// A Document is a report as JSON.
type Document struct {
	Begun   time.Time `json:"begun"`
	Kernel  string    `json:"kernel"`
	Go      string    `json:"go"`
	Cores   int       `json:"cores"`
	Figures []Figure  `json:"figures"`
}

// End prints all figures, if the end is JSON.
func (r *Report) End() error {
	if !r.json {
		return nil
	}
	kernel, err := os.ReadFile("/proc/sys/kernel/osrelease")
	if err != nil {
		return err
	}
	return json.NewEncoder(r.out).Encode(Document{r.begun.UTC(), strings.TrimSpace(string(kernel)), runtime.Version(), runtime.NumCPU(), r.figures})
}

// Median is the middle value; of an even number, the lower of the two.
func Median(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	return slices.Sorted(slices.Values(values))[(len(values)-1)/2]
}

// Rotated is the list with another beginning each round.
func Rotated[T any](list []T, round int) []T {
	if len(list) == 0 {
		return nil
	}
	n := round % len(list)
	return slices.Concat(list[n:], list[:n])
}
