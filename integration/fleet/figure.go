package fleet

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"time"

	"rackboot/integration/benchreport"
)

// Figure is what was seen in one interval. Rates are per second, shares of one processor.
type Figure struct {
	Label     string  `json:"label,omitempty"` // of a script
	Seconds   float64 `json:"seconds"`         // since the measurement began
	Connected int     `json:"connected"`
	InStep    int     `json:"inStep"`
	Installed int     `json:"installed"` // servers whose record the hub has
	Reports   float64 `json:"reports"`
	Events    float64 `json:"events"`
	Received  float64 `json:"received"` // messages of the hub
	HubCPU    float64 `json:"hubCPU"`
	HubRSS    float64 `json:"hubRSS"`  // MiB, the largest so far
	HubAnon   float64 `json:"hubAnon"` // MiB of it that are of no file, now
	OwnCPU    float64 `json:"ownCPU"`
	OwnRSS    float64 `json:"ownRSS"`
}

// Result is the end of a measurement.
type Result struct {
	Whole    Figure             `json:"whole"`              // over all of it
	Holds    map[string]Percent `json:"holds,omitempty"`    // by what they came to
	Failed   []string           `json:"failed,omitempty"`   // holds
	Failures int64              `json:"failures,omitempty"` // messages that were refused, since the start
	Lost     int64              `json:"lost,omitempty"`     // connections, since the start
}

// Percent are percentiles, in seconds.
type Percent struct {
	N   int     `json:"n"`
	P50 float64 `json:"p50"`
	P99 float64 `json:"p99"`
	Max float64 `json:"max"`
}

func percent(all []held, of func(held) time.Duration) Percent {
	var d []time.Duration
	for _, h := range all {
		d = append(d, of(h))
	}
	if len(d) == 0 {
		return Percent{}
	}
	slices.Sort(d)
	at := func(p int) float64 { return d[(len(d)*p+99)/100-1].Seconds() }
	return Percent{len(d), at(50), at(99), at(100)}
}

// came are the steps of a hold, in order.
func came(all []held) map[string]Percent {
	if len(all) == 0 {
		return nil
	}
	return map[string]Percent{
		"accepted": percent(all, func(h held) time.Duration { return h.accepted }),
		"at agent": percent(all, func(h held) time.Duration { return h.laid }),
		"enforced": percent(all, func(h held) time.Duration { return h.enforced }),
		"fenced":   percent(all, func(h held) time.Duration { return h.fenced }),
		"released": percent(all, func(h held) time.Duration { return h.released }),
	}
}

// sample is where all counters stand.
type sample struct {
	at                        time.Time
	reports, events, received int64
	hub, own                  benchreport.Usage
}

// table writes figures as they come.
type table struct {
	out   io.Writer
	json  bool
	hub   bool
	begun bool
}

func (t *table) say(format string, args ...any) {
	if !t.json {
		_, _ = fmt.Fprintf(t.out, format+"\n", args...) // nowhere else to say it
	}
}

func (t *table) write(v any) error {
	if t.json {
		return json.NewEncoder(t.out).Encode(v)
	}
	switch v := v.(type) {
	case Done:
		n := ""
		if v.N > 0 {
			n = fmt.Sprintf(" (%d)", v.N)
		}
		t.say("line %d: %s%s: %.1f s", v.Line, v.Step, n, v.Seconds)
	case Figure:
		if !t.begun {
			t.begun = true
			t.say("%7s %9s %7s %9s %9s %9s %9s %8s %8s %8s %8s", "after", "connected", "in step", "installed", "reports/s", "events/s", "from hub", "hub CPU", "hub RSS", "own CPU", "own RSS")
		}
		if v.Label != "" {
			t.say("%s:", v.Label)
		}
		hub := []string{"-", "-"}
		if t.hub {
			hub = []string{fmt.Sprintf("%.1f %%", v.HubCPU), fmt.Sprintf("%.0f MiB", v.HubRSS)}
		}
		t.say("%5.0f s %9d %7d %9d %9.1f %9.1f %9.1f %8s %8s %6.1f %% %4.0f MiB", v.Seconds, v.Connected, v.InStep, v.Installed, v.Reports, v.Events, v.Received, hub[0], hub[1], v.OwnCPU, v.OwnRSS)
	case Result:
		t.say("in all")
		if err := t.write(v.Whole); err != nil {
			return err
		}
		for _, step := range []string{"accepted", "at agent", "enforced", "fenced", "released"} {
			if p, ok := v.Holds[step]; ok {
				t.say("%d holds %s: p50 %.0f ms, p99 %.0f ms, at most %.0f ms", p.N, step, 1000*p.P50, 1000*p.P99, 1000*p.Max)
			}
		}
		for _, text := range v.Failed {
			t.say("failed: %s", text)
		}
		if v.Lost > 0 {
			t.say("%d connections were lost", v.Lost)
		}
		if v.Failures > 0 {
			t.say("%d messages were refused", v.Failures)
		}
	}
	return nil
}
