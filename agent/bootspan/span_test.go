package bootspan

import (
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"rackboot/protocol"
	"rackboot/protocol/decide"
	"rackboot/protocol/resource"
)

var began = time.Date(2026, 11, 20, 8, 0, 0, 0, time.UTC)

// course reads "Preparing 0, Armed 2", with seconds since the beginning.
func course(t testing.TB, text string) (out []decide.Passage) {
	t.Helper()
	for word := range strings.SplitSeq(text, ", ") {
		var state string
		var s int
		if _, err := fmt.Sscan(word, &state, &s); err != nil || !slices.Contains(resource.AttemptStates(), resource.AttemptState(state)) {
			t.Fatalf("%q is no passage: %v", word, err)
		}
		out = append(out, decide.Passage{State: resource.AttemptState(state), At: began.Add(time.Duration(s) * time.Second)})
	}
	return out
}

// words are spans in one line: name, from and to in seconds, outcome, events; what does not lie below the first says so.
func words(spans []Span) string {
	var out []string
	for i, s := range spans {
		text := fmt.Sprintf("%s %g-%g", s.Name, s.Start.Sub(began).Seconds(), s.End.Sub(began).Seconds())
		for _, a := range s.Attributes {
			if a.Key == "rackboot.outcome" {
				text += " " + a.Text
			}
		}
		if s.Failed {
			text += "!"
		}
		for _, e := range s.Events {
			text += " *" + e.Attributes[0].Text
		}
		if i > 0 && s.Parent != spans[0].ID {
			text += " elsewhere"
		}
		out = append(out, text)
	}
	return strings.Join(out, "; ")
}

// What became of attempts, and the spans of it.
func TestSpans(t *testing.T) {
	for _, tt := range []struct {
		name, course string
		code         resource.AttemptCode
		rows         string // what, and seconds
		want         string
	}{
		{
			"a first boot", "Preparing 0, Armed 2, PowerRequested 2, Consumed 40, Fetched 50, Succeeded 350", "", "begun 0, override 1, on 2, discover 40, file 49, installed 350",
			"boot 0-350 Succeeded; Preparing 0-2 *begun *override; Armed 2-2; PowerRequested 2-40 *on; Consumed 40-50 *discover *file; Fetched 50-350 Succeeded *installed",
		},
		{
			"a boot from disk, whose last stages pass in one step", "Preparing 0, Armed 1, PowerRequested 1, Consumed 90, Succeeded 90", "", "",
			"boot 0-90 Succeeded; Preparing 0-1; Armed 1-1; PowerRequested 1-90; Consumed 90-90 Succeeded",
		},
		{"firmware asks nobody", "Preparing 0, Armed 1, PowerRequested 1, Consumed 60, Failed 360", resource.AttemptNoDHCP, "", "boot 0-360 NoDHCP!; Preparing 0-1; Armed 1-1; PowerRequested 1-60; Consumed 60-360 NoDHCP!"},
		{"it ends before anything is written", "Preparing 0, Failed 9", resource.AttemptWithdrawn, "", "boot 0-9 Withdrawn!; Preparing 0-9 Withdrawn!"},
		{"a failure without a code", "Preparing 0, Failed 9", "", "", "boot 0-9 OutcomeUnknown!; Preparing 0-9 OutcomeUnknown!"},
		{"under way", "Preparing 0, Armed 1", "", "", ""},
		{"begun", "Preparing 0", "", "", ""},
		{"a late report, of what was sent as failed", "Preparing 0, Fetched 50, Failed 900, Succeeded 950", "", "discover 40, on 899, installed 950", "boot, late 900-950 Succeeded *installed"},
		{
			"given up too early, then gone on with, and failed anew", "Preparing 0, PowerRequested 1, Failed 600, PowerRequested 600, Failed 1200", resource.AttemptOverrideIgnored, "old 5, power 700",
			"boot, late 600-1200 OverrideIgnored!; PowerRequested 600-1200 OverrideIgnored! *power",
		},
		{"the host's clock is set back", "Preparing 100, Armed 40, Failed 41", resource.AttemptReplaced, "early 1", "boot 100-100 Replaced!; Preparing 100-100 *early; Armed 40-41 Replaced!"},
	} {
		b := Boot{Rack: "r1", Server: "n1", Attempt: "id", Course: course(t, tt.course), Code: tt.code, Reason: "why"}
		if tt.rows != "" {
			for word := range strings.SplitSeq(tt.rows, ", ") {
				var what string
				var s int
				if _, err := fmt.Sscan(word, &what, &s); err != nil {
					t.Fatal(err)
				}
				b.Rows = append(b.Rows, resource.TraceRow{At: began.Add(time.Duration(s) * time.Second), Source: protocol.TraceDHCP, What: what})
			}
		}
		if got := words(Spans(b)); got != tt.want {
			t.Errorf("%s:\n  %s, want\n  %s", tt.name, got, tt.want)
		}
	}
}

// The attributes of the root, and what is left out because it is not known.
func TestAttributes(t *testing.T) {
	a := &decide.Attempt{
		ID: "id", Token: "secret-token", Private: "secret-private", Number: 2,
		Order: decide.Order{Target: protocol.TargetUefiHTTP, OwnerUID: "uid", Generation: 3, Digest: "sha256:00", Restart: true},
		Stage: decide.Stage{
			State: resource.AttemptSucceeded, Observed: protocol.TargetPxe, Evidence: protocol.EvidenceInstalled, Class: resource.EvidenceReported,
			Course: course(t, "Preparing 0, Succeeded 1"),
		},
	}
	b, ok := Of("r1", "n1", a)
	if !ok {
		t.Fatal("an attempt that has ended is none")
	}
	b.Owner.Name, b.BootEnv = "c1", "debian"
	b.Rows = []resource.TraceRow{{At: began, Source: protocol.TraceGap, What: "rows dropped", Dropped: 7}, {At: began, Source: protocol.TraceHTTP, What: "GET 200", Detail: "kernel"}}
	spans := Spans(b)
	root := map[string]string{}
	for _, at := range spans[0].Attributes {
		root[at.Key] = at.Text
		if at.Text == "" {
			root[at.Key] = fmt.Sprint(at.Number)
		}
	}
	want := map[string]string{
		"rackboot.server": "n1", "rackboot.rack": "r1", "rackboot.attempt.id": "id", "rackboot.attempt.number": "2", "rackboot.owner.kind": "claim", "rackboot.owner.name": "c1",
		"rackboot.owner.uid": "uid", "rackboot.owner.generation": "3", "rackboot.boot.method": "UefiHttp", "rackboot.boot.method.observed": "Pxe", "rackboot.boot.restart": "true",
		"rackboot.image.digest": "sha256:00", "rackboot.bootenv": "debian", "rackboot.evidence": string(protocol.EvidenceInstalled), "rackboot.evidence.class": "reported", "rackboot.outcome": "Succeeded",
	}
	if fmt.Sprint(root) != fmt.Sprint(want) {
		t.Errorf("%v, want\n%v", root, want)
	}
	if text := fmt.Sprintf("%+v", spans); strings.Contains(text, "secret-") {
		t.Errorf("a token is in %s", text)
	}
	if got := fmt.Sprint(spans[1].Events); got != fmt.Sprintf("[{%s gap [{rackboot.what rows dropped 0} {rackboot.dropped  7}]} {%s http [{rackboot.what GET 200 0} {rackboot.detail kernel 0}]}]", began, began) {
		t.Error(got)
	}
	if hex.EncodeToString(spans[0].Trace[:]) != protocol.BootTraceID("n1", "id") {
		t.Errorf("the trace is %x", spans[0].Trace)
	}
	bare, _ := Of("r1", "n1", &decide.Attempt{ID: "id", Stage: decide.Stage{State: resource.AttemptFailed, Course: course(t, "Preparing 0, Failed 1")}})
	for _, at := range Spans(bare)[0].Attributes {
		if at.Text == "" && at.Number == 0 {
			t.Errorf("%s is there without a value", at.Key)
		}
	}
}

// Which attempts have facts: those that ended; one that is open only where another took its place; a boot that nobody
// ordered never.
func TestFacts(t *testing.T) {
	open := &decide.Attempt{ID: "id", Stage: decide.Stage{State: resource.AttemptArmed, Course: course(t, "Preparing 0, Armed 1")}}
	ended := &decide.Attempt{ID: "id", Stage: decide.Stage{State: resource.AttemptFailed, Course: course(t, "Preparing 0, Failed 1")}}
	itself := &decide.Attempt{ID: "id", Stage: decide.Stage{State: resource.AttemptSucceeded}}
	for _, tt := range []struct {
		name            string
		a               *decide.Attempt
		ended, replaced bool
	}{{"none", nil, false, false}, {"open", open, false, true}, {"ended", ended, true, false}, {"by itself", itself, false, false}} {
		if _, ok := Of("r1", "n1", tt.a); ok != tt.ended {
			t.Errorf("%s: ended is %v", tt.name, ok)
		}
		if _, ok := Dropped("r1", "n1", tt.a, began); ok != tt.replaced {
			t.Errorf("%s: replaced is %v", tt.name, ok)
		}
	}
	b, _ := Dropped("r1", "n1", open, began.Add(9*time.Second))
	if got := words(Spans(b)); got != "boot 0-9 Withdrawn!; Preparing 0-1; Armed 1-9 Withdrawn!" {
		t.Error(got)
	}
	if len(open.Stage.Course) != 2 {
		t.Errorf("the attempt has the course %v", open.Stage.Course)
	}
}

// However an attempt goes on after it has ended, no span is sent twice, each lies below one that was sent, within a trace
// of its own; and each row is in one span.
func TestSpansProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := Boot{Server: "n1", Attempt: rapid.StringN(1, 8, 8).Draw(t, "attempt"), Course: []decide.Passage{{State: resource.AttemptPreparing, At: began}}}
		sent := map[[8]byte]bool{}
		at := began
		for i := range rapid.IntRange(1, 20).Draw(t, "steps") {
			at = at.Add(time.Duration(rapid.IntRange(0, 9).Draw(t, "seconds")) * time.Second)
			state := rapid.SampledFrom(resource.AttemptStates()).Filter(func(s resource.AttemptState) bool { return s != b.last().State }).Draw(t, "state")
			b.Course = append(b.Course, decide.Passage{State: state, At: at})
			b.Rows = append(b.Rows, resource.TraceRow{Seq: i, At: at})
			spans := Spans(b)
			if ends(state) != (len(spans) > 0) {
				t.Fatalf("%v: %d spans", b.Course, len(spans))
			}
			rows := 0
			for _, s := range spans {
				if sent[s.ID] {
					t.Fatalf("%s was sent before, of %v", s.Name, b.Course)
				}
				sent[s.ID] = true
				if (s.Parent == [8]byte{}) != (s.Name == NameBoot) || s.Parent != [8]byte{} && !sent[s.Parent] || s.Trace != spans[0].Trace || s.End.Before(s.Start) || s.Start.Before(spans[0].Start) || s.End.After(spans[0].End) {
					t.Fatalf("%+v does not lie in %+v", s, spans[0])
				}
				rows += len(s.Events)
			}
			if len(spans) > 0 && spans[0].Name == NameBoot && rows != len(b.Rows) {
				t.Fatalf("of %d rows %d are there", len(b.Rows), rows)
			}
		}
	})
}
