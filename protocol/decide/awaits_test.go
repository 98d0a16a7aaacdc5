package decide

import (
	"testing"
	"time"

	"rackboot/internal/doctable"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

func TestAwaitTable(t *testing.T) {
	yes := doctable.YesNo()
	doctable.Of(t, "awaits.go", "awaitRule").HoldOne(t, [][]string{
		doctable.Words(haltingNone, haltingSoft, haltingForced), yes, yes, append(doctable.Words(resource.AttemptStates()...), ""), yes, yes, yes, yes, yes, yes,
	}, func(in []string) string {
		got := awaitRule(awaitFacts{
			stop: halting(in[0]), settles: is(in[1]), line: is(in[2]), attempt: resource.AttemptState(in[3]), off: is(in[4]), network: is(in[5]), medium: is(in[6]), inserts: is(in[7]), asked: is(in[8]), pause: is(in[9]),
		})
		if got == "" {
			return "nothing"
		}
		return string(got)
	})
}

// What is awaited has the words that people read, and the times at which the attempt really goes on.
func TestAwaits(t *testing.T) {
	at := time.Date(2026, 11, 26, 9, 0, 0, 0, time.UTC)
	in := Settings{SoftTimeout: 3 * time.Minute, SettleWindow: 10 * time.Second}
	attempt := func(s resource.AttemptState, change func(*Attempt)) Record {
		a := &Attempt{Order: Order{Target: protocol.TargetPxe}, Stage: Stage{State: s, Since: at}}
		if change != nil {
			change(a)
		}
		return Record{Attempt: a}
	}
	for name, row := range map[string]struct {
		rec   Record
		watch Watch
		holds []Hold
		want  resource.Wait
		until time.Duration // 0 is none
	}{
		"nothing":     {Record{}, Watch{}, nil, resource.Wait{}, 0},
		"DHCP":        {attempt(resource.AttemptConsumed, nil), Watch{}, nil, resource.Wait{For: resource.WaitDHCP, Since: at}, fetchTimeout},
		"its files":   {attempt(resource.AttemptConsumed, func(a *Attempt) { a.Stage.Observed = protocol.TargetPxe }), Watch{}, nil, resource.Wait{For: resource.WaitBootFile, Since: at}, fetchTimeout},
		"its report":  {attempt(resource.AttemptFetched, nil), Watch{}, nil, resource.Wait{For: resource.WaitReport, Since: at, Report: protocol.EvidenceInstalled}, installTimeout},
		"a discovery": {attempt(resource.AttemptFetched, func(a *Attempt) { a.Order.Purpose = resource.PurposeDiscovery }), Watch{}, nil, resource.Wait{For: resource.WaitReport, Since: at, Report: protocol.EvidenceDiscovered}, installTimeout},
		"a repeated boot, with a time of its own": {
			attempt(resource.AttemptFetched, func(a *Attempt) { a.Order.Repeat, a.Order.Timeout = true, time.Minute }),
			Watch{},
			nil,
			resource.Wait{For: resource.WaitReport, Since: at, Report: protocol.EvidenceBooted},
			time.Minute,
		},
		"the pause":       {attempt(resource.AttemptFailed, nil), Watch{Last: protocol.Observation{ReadAt: at}, NextTry: at.Add(20 * time.Second)}, nil, resource.Wait{For: resource.WaitAgain, Since: at}, 20 * time.Second},
		"its turn":        {attempt(resource.AttemptArmed, nil), Watch{Line: LineWatch{Since: at, Until: at.Add(30 * time.Second)}}, nil, resource.Wait{For: resource.WaitInrush, Since: at}, 30 * time.Second},
		"its first turn":  {Record{}, Watch{Line: LineWatch{Since: at}}, nil, resource.Wait{For: resource.WaitInrush, Since: at}, 0},
		"after the pause": {attempt(resource.AttemptFailed, nil), Watch{Last: protocol.Observation{ReadAt: at.Add(time.Minute)}, NextTry: at.Add(20 * time.Second)}, nil, resource.Wait{}, 0},
		"a soft stop":     {Record{Stop: &Stop{Since: at, Graceful: at}}, Watch{}, nil, resource.Wait{For: resource.WaitShutdown, Since: at}, 3 * time.Minute},
		"a hold's own time": {
			Record{Stop: &Stop{Since: at, Graceful: at}},
			Watch{},
			[]Hold{{ActiveHold: resource.ActiveHold{HoldSpec: resource.HoldSpec{HoldTerms: resource.HoldTerms{SoftTimeout: protocol.Duration(time.Minute)}}}}},
			resource.Wait{For: resource.WaitShutdown, Since: at},
			time.Minute,
		},
		"a hard stop":     {Record{Stop: &Stop{Since: at, Forced: at}}, Watch{}, nil, resource.Wait{For: resource.WaitOff, Since: at}, 0},
		"for an approval": {Record{Stop: &Stop{Since: at, Waits: true}}, Watch{}, nil, resource.Wait{}, 0},
		"a proof": {
			Record{},
			Watch{Last: protocol.Observation{Power: protocol.PowerOff}, Proofs: map[string]Proof{"h": {First: at, Last: at, Reads: 1}}},
			[]Hold{{ActiveHold: resource.ActiveHold{ID: "h"}}},
			resource.Wait{For: resource.WaitSettled, Since: at},
			10 * time.Second,
		},
	} {
		got := Awaits(row.rec, row.watch, row.holds, in)
		if row.want.For == "" {
			if got != nil {
				t.Errorf("%s: %+v", name, got)
			}
			continue
		}
		if row.until > 0 {
			until := at.Add(row.until)
			row.want.Until = &until
		}
		if got == nil || got.For != row.want.For || !got.Since.Equal(row.want.Since) || got.Report != row.want.Report || (got.Until == nil) != (row.until == 0) || got.Until != nil && !got.Until.Equal(*row.want.Until) {
			t.Errorf("%s: %+v, want %+v", name, got, row.want)
		}
	}
	for _, c := range resource.WaitCodes() {
		if c.Words() == string(c) {
			t.Errorf("%s has no words", c)
		}
	}
}
