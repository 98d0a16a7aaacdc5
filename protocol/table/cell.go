package table

import (
	"math"
	"strings"
	"time"

	"rackboot/protocol/resource"
)

// Column is a column of a table.
type Column struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	// Wide is a column that is shown where there is much room.
	Wide bool `json:"wide,omitempty"`
	// Event says that since of its cells is when something happened, so that another instant is news. That of other
	// columns moves by itself, as when something was read last does.
	Event bool `json:"event,omitempty"`
}

// Tone says how good it is what a cell says.
type Tone string

// The tones. What is ordinary has none.
const (
	ToneOK    Tone = "ok"    // as it was asked for
	ToneWarn  Tone = "warn"  // on its way, or not as it should be
	ToneBad   Tone = "bad"   // somebody has to look
	ToneMuted Tone = "muted" // over
)

// Cell is a value of a row. An empty one says nothing.
type Cell struct {
	Text   string `json:"text,omitempty"`
	Number *int64 `json:"number,omitempty"`
	// At is an instant that is shown as such.
	At *time.Time `json:"at,omitempty"`
	// Since is an instant of which the age is shown, by the clock of the reader, beside the text if there is one.
	Since *time.Time `json:"since,omitempty"`
	// Until is when that which goes on since then ends.
	Until *time.Time `json:"until,omitempty"`
	// Stale says that what was read at since is too old to count.
	Stale bool `json:"stale,omitempty"`
	Tone  Tone `json:"tone,omitempty" enum:"ok,warn,bad,muted"`
}

// Row is a resource in a table. It has a cell for each column.
type Row struct {
	Ref   resource.Ref `json:"ref"`
	Cells []Cell       `json:"cells"`
}

// filled is a column with the cell that one resource has in it.
type filled struct {
	Column
	cell Cell
}

func column(name, description string, c Cell) filled {
	return filled{Column{Name: name, Description: description}, c}
}

func wide(name, description string, c Cell) filled {
	return filled{Column{Name: name, Description: description, Wide: true}, c}
}

// text is a cell with a text, of any type of words.
func text[T ~string](s T) Cell { return Cell{Text: string(s)} }

// list is a cell with texts behind each other.
func list[T ~string](all []T) Cell {
	words := make([]string, len(all))
	for i, s := range all {
		words[i] = string(s)
	}
	return Cell{Text: strings.Join(words, ",")}
}

func number(n int) Cell { return Cell{Number: new(int64(n))} }

// count is a number that only grows. None that counts something is as large as the bound.
func count(n uint64) Cell { return Cell{Number: new(int64(min(n, math.MaxInt64)))} }

func at(t *time.Time) Cell { return Cell{At: t} }

func since(t *time.Time) Cell { return Cell{Since: t} }

// read is when something was read last.
func read(t *time.Time, stale bool) Cell { return Cell{Since: t, Stale: stale} }

// toned gives a cell a tone.
func (c Cell) toned(t Tone) Cell {
	c.Tone = t
	return c
}

func name(o resource.Object) filled {
	return column("NAME", "The name of the resource.", text(o.Head().Metadata.Name))
}

func age(o resource.Object) filled {
	return column("AGE", "When it was created.", since(o.Head().Metadata.CreatedAt))
}

// phase is where a server or its claim stands.
func phase(p resource.Phase) filled {
	var tone Tone
	switch p {
	case resource.PhaseError:
		tone = ToneBad
	case resource.PhaseDiscovery, resource.PhaseMaintenance, resource.PhaseReleasing:
		tone = ToneWarn
	case resource.PhaseReserved:
		tone = ToneOK
	case resource.PhaseInitial, resource.PhaseAvailable:
	}
	return column("PHASE", "Where it stands.", text(p).toned(tone))
}

// conditions are the codes of those that people are shown. They are as good as the worst of them.
func conditions(all []resource.ConditionState, now time.Time) filled {
	var tone Tone
	for _, c := range resource.VisibleConditions(all, now) {
		switch known, _ := resource.LookupCondition(c.Code); known.Severity {
		case resource.SeverityError:
			tone = ToneBad
		case resource.SeverityWarning:
			if tone != ToneBad {
				tone = ToneWarn
			}
		case resource.SeverityInfo:
		}
	}
	return column("CONDITIONS", "What is wrong with it: codes of conditions that have lasted.", text(resource.ConditionCodes(all, now)).toned(tone))
}

// Waits is what a server waits for, how long already and until when, by the agent's clock.
func Waits(w *resource.Wait) Cell {
	if w == nil {
		return Cell{}
	}
	words := w.For.Words()
	if w.Report != "" {
		words += " (" + string(w.Report) + ")"
	}
	return Cell{Text: words, Since: &w.Since, Until: w.Until}
}
