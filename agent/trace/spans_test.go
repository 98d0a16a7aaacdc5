package trace

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"rackboot/agent/bootspan"
	"rackboot/protocol"
	"rackboot/protocol/decide"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
	"rackboot/state/statetest"
)

// spans takes what is handed over, in words.
type spans struct{ ended, lost []string }

func (s *spans) Ended(b bootspan.Boot) {
	text := fmt.Sprintf("%s of %s/%s for %q by %q: %d stages, %s", b.Attempt, b.Rack, b.Server, b.Owner.Name, b.BootEnv, len(b.Course), b.Course[len(b.Course)-1].State)
	for _, r := range b.Rows {
		text += " *" + r.What
	}
	s.ended = append(s.ended, text)
}

func (s *spans) Lost(b bootspan.Boot) { s.lost = append(s.lost, b.Attempt) }

// attemptAt is one that has come through states, a second each.
func attemptAt(id string, states ...resource.AttemptState) *decide.Attempt {
	a := &decide.Attempt{ID: id, At: start, Order: decide.Order{Target: protocol.TargetHdd, OwnerUID: "uid", Generation: 3}}
	for i, s := range states {
		a.Stage.State, a.Stage.Since = s, start.Add(time.Duration(i)*time.Second)
		a.Stage.Course = append(a.Stage.Course, decide.Passage{State: s, At: a.Stage.Since})
	}
	return a
}

// Which steps of a server hand an attempt over: the one that ends it, once; one that finds another in its place; never a
// start of the agent after it has ended. What it boots is what a document last said of it.
func TestEndedOnce(t *testing.T) {
	const preparing, armed, failed, succeeded = resource.AttemptPreparing, resource.AttemptArmed, resource.AttemptFailed, resource.AttemptSucceeded
	type attempt = *decide.Attempt
	itself := &decide.Attempt{ID: "z", Stage: decide.Stage{State: succeeded, Since: start}}
	for _, tt := range []struct {
		name  string
		steps []attempt // the first is what the record has before
		want  []string
	}{
		{"under way", []attempt{nil, attemptAt("a", preparing), attemptAt("a", preparing, armed)}, nil},
		{"ends", []attempt{nil, attemptAt("a", preparing), attemptAt("a", preparing, armed), attemptAt("a", preparing, armed, failed), attemptAt("a", preparing, armed, failed)}, []string{`a of r1/n1 for "c1" by "debian": 3 stages, Failed`}},
		{"begins and ends in one step", []attempt{nil, attemptAt("a", preparing, failed)}, []string{`a of r1/n1 for "c1" by "debian": 2 stages, Failed`}},
		{"had ended before the agent started", []attempt{attemptAt("a", preparing, failed), attemptAt("a", preparing, failed)}, nil},
		{"was under way when the agent started", []attempt{attemptAt("a", preparing, armed), attemptAt("a", preparing, armed, succeeded)}, []string{`a of r1/n1 for "c1" by "debian": 3 stages, Succeeded`}},
		{"turns out well late", []attempt{attemptAt("a", preparing, failed), attemptAt("a", preparing, failed, succeeded)}, []string{`a of r1/n1 for "c1" by "debian": 3 stages, Succeeded`}},
		{"another takes its place", []attempt{attemptAt("a", preparing, armed), attemptAt("b", preparing), attemptAt("b", preparing, failed)}, []string{`a of r1/n1 for "" by "": 3 stages, Failed`, `b of r1/n1 for "c1" by "debian": 2 stages, Failed`}},
		{"is forgotten", []attempt{nil, attemptAt("a", preparing, armed), nil}, []string{`a of r1/n1 for "c1" by "debian": 3 stages, Failed`}},
		{"has ended, and is forgotten", []attempt{attemptAt("a", preparing, failed), nil}, nil},
		{"a boot that nobody ordered", []attempt{nil, itself, itself}, nil},
	} {
		to := &spans{}
		r := tracing(t, statetest.NewMemory())
		r.cfg.Rack, r.cfg.Spans = "r1", to
		s := r.Server("n1")
		document := &message.ServerIntent{Server: "n1", Boot: &message.BootIntent{Owner: resource.Owner{Name: "c1", UID: "uid"}, GrantedBoot: resource.GrantedBoot{Generation: 3}, Env: &message.EnvIntent{Name: "debian"}}}
		for i, is := range tt.steps[1:] {
			var in *message.ServerIntent // a document says it in the first step of each attempt only
			if was := tt.steps[i]; i == 0 || is != nil && was != nil && is.ID != was.ID {
				in = document
			}
			s.Stepped(decide.Snapshot{Record: decide.Record{Attempt: tt.steps[i]}, Intent: in}, decide.Plan{Record: decide.Record{Attempt: is}})
		}
		r.drain()
		if strings.Join(to.ended, "\n") != strings.Join(tt.want, "\n") || len(to.lost) > 0 {
			t.Errorf("%s: %q, want %q", tt.name, to.ended, tt.want)
		}
	}
}

// An attempt has the rows of before a restart of the agent, in its middle; where too much waits, it is counted as lost.
func TestEndedWithRows(t *testing.T) {
	db, to := statetest.NewMemory(), &spans{}
	step := func(r *Room, was, is *decide.Attempt, code resource.EventCode) {
		r.Server("n1").Stepped(decide.Snapshot{Record: decide.Record{Attempt: was}}, decide.Plan{Record: decide.Record{Attempt: is}, Happened: []resource.Event{{At: start, Code: code}}})
	}
	begun := attemptAt("a", resource.AttemptPreparing)
	armed := attemptAt("a", resource.AttemptPreparing, resource.AttemptArmed)
	ended := attemptAt("a", resource.AttemptPreparing, resource.AttemptArmed, resource.AttemptFailed)
	r := tracing(t, db)
	r.cfg.Rack, r.cfg.Spans = "r1", to
	step(r, nil, begun, resource.EventAttemptBegun)
	r.drain()
	r.flush()
	r = tracing(t, db)
	r.cfg.Rack, r.cfg.Spans = "r1", to
	step(r, begun, armed, resource.EventArmed)
	step(r, armed, ended, resource.EventAttemptFailed)
	r.drain()
	if want := `a of r1/n1 for "" by "": 3 stages, Failed *AttemptBegun *OverrideArmed *AttemptFailed`; len(to.ended) != 1 || to.ended[0] != want {
		t.Errorf("%q, want %q", to.ended, want)
	}
	tr, err := r.Trace("n1", 0)
	if err != nil || tr.TraceID != protocol.BootTraceID("n1", "a") {
		t.Errorf("%v, the trace ID is %q", err, tr.TraceID)
	}
	for range sightingsWaiting {
		r.Exchanged("n1", ended, discovered(start))
	}
	next := attemptAt("b", resource.AttemptPreparing)
	step(r, next, attemptAt("b", resource.AttemptPreparing, resource.AttemptFailed), resource.EventAttemptFailed)
	r.drain()
	if len(to.ended) != 1 || len(to.lost) != 1 || to.lost[0] != "b" || testutil.ToFloat64(r.dropped) == 0 {
		t.Errorf("%d ended, %v were lost", len(to.ended), to.lost)
	}
}
