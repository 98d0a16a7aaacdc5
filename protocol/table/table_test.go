package table

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"rackboot/protocol/resource"
)

// Each kind has a row, whose columns begin with NAME, have no name twice and say what they have. A narrow table has those
// of a wide one that are not wide.
func TestEveryKindHasARow(t *testing.T) {
	if n := len(kinds()); n != len(resource.Kinds()) {
		t.Errorf("%d rows for %d kinds", n, len(resource.Kinds()))
	}
	for _, k := range resource.Kinds() {
		if kinds()[k] == nil {
			t.Errorf("%s has no row", k)
			continue
		}
		o := resource.NewObject(k)
		o.Head().Metadata.Name = "x1"
		all := New(k, true, true)
		names := map[string]bool{}
		for _, c := range all.Columns() {
			if names[c.Name] || c.Name == "" || c.Name != strings.ToUpper(c.Name) {
				t.Errorf("%s: %q, twice or in small letters", k, c.Name)
			}
			if names[c.Name] = true; !strings.HasSuffix(c.Description, ".") || strings.ContainsAny(c.Description, "\t\n") {
				t.Errorf("%s: %s is described as %q", k, c.Name, c.Description)
			}
		}
		if !names["RACK"] && Racked(k) || !names["AGE"] {
			t.Errorf("%s lacks its rack or its age", k)
		}
		for _, s := range []Shape{all, New(k, true, false), New(k, false, true), New(k, false, false)} {
			columns, row := s.Columns(), s.Row(o, time.Now(), "r1")
			if len(columns) != len(row.Cells) || columns[0].Name != "NAME" || row.Cells[0].Text != "x1" || row.Ref.Name != "x1" {
				t.Errorf("%s: %+v has %+v", k, columns, row)
			}
			if !s.wide && slices.ContainsFunc(columns, func(c Column) bool { return c.Wide }) {
				t.Errorf("%s: wide columns in a narrow table: %+v", k, columns)
			}
			at := slices.IndexFunc(columns, func(c Column) bool { return c.Name == "RACK" })
			shown := s.placed && (s.wide || k == resource.KindServer)
			if Racked(k) && (shown != (at >= 0) || shown && row.Cells[at].Text != "r1") {
				t.Errorf("%s: rack %d of %+v", k, at, row)
			}
		}
		narrow := slices.DeleteFunc(all.Columns(), func(c Column) bool { return c.Wide })
		if got := New(k, false, true).Columns(); !slices.Equal(got, narrow) {
			t.Errorf("%s: %+v, want %+v", k, got, narrow)
		}
	}
}

// What a cell has by what it is of.
func TestCells(t *testing.T) {
	at := time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)
	later := at.Add(time.Hour)
	number := int64(2)
	server := &resource.Server{Status: resource.ServerStatus{
		Phase: resource.PhaseError, ReadAt: &at, Stale: true,
		Conditions: []resource.ConditionState{{Code: resource.CondBMCUnreachable, Since: at}, {Code: resource.CondArtefactsPending, Since: later}},
		Report: &resource.ServerReport{
			StoppedSince: &at, Awaits: &resource.Wait{For: "a word", Since: at, Until: &later, Report: "booted"},
			Holds: []resource.HoldReport{{Word: resource.HoldEnforced}, {Word: resource.HoldReleased}, {Word: resource.HoldEnforced}},
		},
	}}
	server.Metadata.CreatedAt = &at
	for _, row := range []struct {
		o    resource.Object
		name string
		want Cell
	}{
		{server, "PHASE", Cell{Text: "Error", Tone: ToneBad}},
		{server, "HOLDS", Cell{Number: &number}},
		{server, "CONDITIONS", Cell{Text: "BMCUnreachable", Tone: ToneBad}}, // the other one has not lasted
		{server, "READ", Cell{Since: &at, Stale: true}},
		{server, "AGE", Cell{Since: &at}},
		{server, "STOPPED-SINCE", Cell{At: &at}},
		{server, "AWAITS", Cell{Text: "a word (booted)", Since: &at, Until: &later}},
		{server, "CLAIM", Cell{}},
		{&resource.Server{Status: resource.ServerStatus{ReadAt: &at, Stale: true}}, "READ", Cell{}}, // nothing was reported of it
		{&resource.Hold{Status: resource.HoldStatus{State: resource.StateFenced}}, "STATE", Cell{Text: "Fenced", Tone: ToneOK}},
		{&resource.Hold{Status: resource.HoldStatus{State: resource.StateAccepted}}, "STATE", Cell{Text: "Accepted", Tone: ToneWarn}},
		{&resource.Hold{Status: resource.HoldStatus{Stale: true}}, "READ", Cell{Stale: true}},
		{&resource.Freeze{Spec: resource.FreezeSpec{Until: &at}}, "UNTIL", Cell{At: &at}},
		{&resource.Freeze{Spec: resource.FreezeSpec{Until: &at}, Status: resource.FreezeStatus{Over: true}}, "UNTIL", Cell{Text: "over", Tone: ToneMuted}},
		{&resource.Claim{Status: resource.ClaimStatus{Boot: &resource.ClaimBoot{ProvisionedAt: &at}}}, "PROVISIONED", Cell{Since: &at}},
		{&resource.Rack{}, "TERM", Cell{}},
	} {
		shape := New(resource.KindOfType(row.o), true, false)
		i := slices.IndexFunc(shape.Columns(), func(c Column) bool { return c.Name == row.name })
		got, _ := json.Marshal(shape.Row(row.o, later, "").Cells[i])
		if want, _ := json.Marshal(row.want); string(got) != string(want) {
			t.Errorf("%T %s: %s, want %s", row.o, row.name, got, want)
		}
	}
}
