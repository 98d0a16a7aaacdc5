package holds

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// sampled is how many rows of a section are run with wrong expectations.
const sampled = 2

// TestWrongExpectations runs rows whose last expectation is made wrong, in one thing at
// a time: each must fail, and for that thing.
func TestWrongExpectations(t *testing.T) {
	for i, s := range sections() {
		rows := s.rows(t)
		for n := range sampled {
			r := rows[(7*i+n*len(rows)/sampled+3)%len(rows)]
			mutants := r.Expect.mutants()
			names := slices.Sorted(maps.Keys(mutants))
			for _, what := range []string{names[(i+n)%len(names)]} {
				t.Run(r.ID+"/"+strings.ReplaceAll(what, " ", "_"), func(t *testing.T) {
					t.Parallel()
					wrong := r
					wrong.Expect = mutants[what]
					problems := play(t, wrong)
					if len(problems) == 0 {
						t.Errorf("%s passes with this made wrong", r.ID)
					}
					if strings.HasPrefix(fmt.Sprint(problems), "[step ") {
						t.Errorf("it failed before its end: %s", problems)
					}
				})
			}
		}
	}
}

// TestRowsRefused: what could not fail, or says nothing, is no row.
func TestRowsRefused(t *testing.T) {
	const head = `- {id: V1, title: t, source: s, peer: p, ours: o, given: {power: On}, `
	for _, tt := range []struct{ text, want string }{
		{head + `steps: [{wait: 1s}], expect: {orders: [], power: On}}`, ""},
		{head + `steps: [{wait: 1s}], expect: {orders: []}}`, "nothing but the orders"},
		{head + `steps: [{wait: 1s}], expect: {power: On}}`, "expect.orders is missing"},
		{head + `steps: [{wait: 1s}]}`, "expect.orders is missing"},
		{head + `steps: [], expect: {orders: [], power: On}}`, "nothing happens"},
		{head + `steps: [{wait: 1s, mark: true}], expect: {orders: [], power: On}}`, "step 1 has 2 things"},
		{head + `steps: [{}], expect: {orders: [], power: On}}`, "step 1 has 0 things"},
		{head + `steps: [{wait: 1s}], expect: {orders: [], powr: On}}`, "powr"},
		{head + `colour: red, steps: [{wait: 1s}], expect: {orders: [], power: On}}`, "colour"},
		{`- {id: V1, title: t, source: s, peer: p, ours: o, given: {power: Maybe}, steps: [{wait: 1s}], expect: {orders: [], power: On}}`, "given.power"},
		{`- {id: V1, title: t, peer: p, ours: o, given: {power: On}, steps: [{wait: 1s}], expect: {orders: [], power: On}}`, "source is empty"},
	} {
		var rows []row
		err := decode([]byte(tt.text), &rows)
		if err == nil {
			err = rows[0].check()
		}
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.text, err, tt.want)
		}
	}
	list := section{"V", 2, "v.yaml"}
	for ids, want := range map[string]string{
		"V1 V2": "", "V1 V2 V2b": "", "V1": "V2 is there 0 times", "V1 V1 V2": "V1 is there 2 times", "V1 V2 V3": `"V3"`, "V1 V2 V3b": `"V3b"`, "V1 V2 X": `"X"`, "V1 V2 V2b V2b": `"V2b"`,
	} {
		var rows []row
		for id := range strings.FieldsSeq(ids) {
			rows = append(rows, row{ID: id})
		}
		err := list.complete(rows)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", ids, err, want)
		}
	}
}

// TestMutantsDiffer: whatever can be expected has something that it must not be.
func TestMutantsDiffer(t *testing.T) {
	yes, n, minute := true, uint64(1), time.Minute
	full := expect{
		Orders: []string{"On"}, Accepted: []string{"On"}, After: map[string]string{"On": "0s..1s"}, AtMost: map[string]int{"On": 1},
		Power: protocol.PowerOn, Machine: "running", Read: protocol.PowerOn, Gone: []string{"g"}, Epoch: &n, Restore: protocol.RestoreAlwaysOff,
		Events: map[resource.EventCode]int{resource.EventFenced: 1}, Conditions: map[resource.ConditionCode]bool{resource.CondHeld: true},
		Armed: &yes, Phase: "Reserved", Claim: "bound",
		Holds: map[string]holdIs{"h": {
			Word: resource.HoldFenced, State: resource.StateFenced, Receipt: &yes, Manual: &yes, Guarded: &yes, Waited: &minute, Stale: &yes, Message: "m", Expired: &yes, Mode: resource.StopHard, Ref: "r",
		}},
		Requests: map[string]requestIs{"r": {Outcome: resource.OutcomeDone, Reason: "x", Mode: resource.StopHard}},
	}
	alone(t, full, expect.mutants)
	alone(t, full.Holds["h"], holdIs.mutants)
	alone(t, full.Requests["r"], requestIs.mutants)
}

// alone takes each field of a value by itself.
func alone[T any](t *testing.T, full T, mutants func(T) map[string]T) {
	t.Helper()
	from := reflect.ValueOf(full)
	for i := range from.NumField() {
		var one T
		name := from.Type().Field(i).Name
		if from.Field(i).IsZero() {
			t.Errorf("%T.%s is not tried", full, name)
		}
		reflect.ValueOf(&one).Elem().Field(i).Set(from.Field(i))
		if len(mutants(one)) == 0 {
			t.Errorf("%T.%s cannot be wrong", full, name)
		}
	}
}
