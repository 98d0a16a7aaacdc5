package installed

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rackboot/internal/doctable"
	"rackboot/protocol/message"
)

func digest(c string) string { return "sha256:" + strings.Repeat(c, 64) }

var at = time.Date(2026, 11, 27, 8, 0, 0, 0, time.UTC)

const order = "01order"

// onTrial is a record of a packaged program, with a trial in slot a.
func onTrial() Record {
	return Record{Packaged: digest("0"), Current: Packaged, Trial: &Trial{Order: order, Slot: SlotA, Digest: digest("a"), Version: "2.0.0"}}
}

// upgraded is a record of a program in slot a, with a trial in slot b where one is wanted.
func upgraded(trial bool) Record {
	r := Record{Packaged: digest("0"), Current: SlotA, Digest: digest("a"), Last: &Outcome{Order: "01old", Stage: message.UpgradeDone, At: at}}
	if trial {
		r.Trial = &Trial{Order: order, Slot: SlotB, Digest: digest("b"), Version: "3.0.0"}
	}
	return r
}

// healthy is what a launcher sees where everything lies as the record says.
func healthy(r Record) Sight {
	s := Sight{Packaged: digest("0"), Current: r.Digest, Now: at}
	if r.Trial != nil {
		s.Trial = r.Trial.Digest
	}
	return s
}

func TestChoose(t *testing.T) {
	trialA, trialB := Start{SlotA, digest("a"), true}, Start{SlotB, digest("b"), true}
	packaged, slotA := Start{Packaged, digest("0"), false}, Start{SlotA, digest("a"), false}
	other := Start{Packaged, digest("1"), false}
	for name, row := range map[string]struct {
		record Record
		change func(*Sight)
		start  Start
		code   message.UpgradeCode // of the last order, which has come back
		order  string
	}{
		"nothing was ever recorded":              {Record{Current: Packaged}, nil, packaged, "", ""},
		"packaged":                               {Record{Packaged: digest("0"), Current: Packaged}, nil, packaged, "", ""},
		"another packaged program":               {Record{Packaged: digest("0"), Current: Packaged}, func(s *Sight) { s.Packaged = digest("1") }, other, "", ""},
		"a slot":                                 {upgraded(false), nil, slotA, "", "01old"},
		"a slot, and another packaged program":   {upgraded(false), func(s *Sight) { s.Packaged = digest("1") }, other, message.UpgradeReplaced, "01old"},
		"a slot, and no packaged program":        {upgraded(false), func(s *Sight) { s.Packaged = "" }, slotA, "", "01old"},
		"a slot with a flipped byte":             {upgraded(false), func(s *Sight) { s.Current = digest("f") }, packaged, message.UpgradeUnusable, "01old"},
		"a slot without a program":               {upgraded(false), func(s *Sight) { s.Current = "" }, packaged, message.UpgradeUnusable, "01old"},
		"a trial":                                {onTrial(), nil, trialA, "", ""},
		"a trial that goes on":                   {onTrial(), func(s *Sight) { s.Spent = Steps - 1 }, trialA, "", ""},
		"a trial after a slot":                   {upgraded(true), nil, trialB, "", "01old"},
		"a trial whose time is over":             {onTrial(), func(s *Sight) { s.Spent = Steps }, packaged, message.UpgradeUnheard, order},
		"a trial after a slot, its time is over": {upgraded(true), func(s *Sight) { s.Spent = Steps + 3 }, slotA, message.UpgradeUnheard, order},
		"a trial with a flipped byte":            {onTrial(), func(s *Sight) { s.Trial = digest("f") }, packaged, message.UpgradeUnusable, order},
		"a trial without a program":              {upgraded(true), func(s *Sight) { s.Trial = "" }, slotA, message.UpgradeUnusable, order},
		"a trial whose time cannot be counted":   {upgraded(true), func(s *Sight) { s.Unbounded = true }, slotA, message.UpgradeUnusable, order},
		"a trial, and another packaged program":  {onTrial(), func(s *Sight) { s.Packaged = digest("1") }, other, message.UpgradeReplaced, order},
		"a trial that this launcher saw fail": {onTrial(), func(s *Sight) {
			s.Failed = Outcome{Order: order, Stage: message.UpgradeReturned, Code: message.UpgradeExited}
		}, packaged, message.UpgradeExited, order},
		"another trial than the one that failed":  {onTrial(), func(s *Sight) { s.Failed = Outcome{Order: "01other"} }, trialA, "", ""},
		"a trial that failed, and a broken slot":  {upgraded(true), func(s *Sight) { s.Spent, s.Current = Steps, "" }, packaged, message.UpgradeUnusable, order},
		"a damaged record":                        {Record{Current: Packaged}, func(s *Sight) { s.Damaged = true }, packaged, message.UpgradeBroken, ""},
		"a trial, and all of its time is to come": {onTrial(), func(s *Sight) { s.Spent = 0 }, trialA, "", ""},
	} {
		s := healthy(row.record)
		if row.change != nil {
			row.change(&s)
		}
		was := row.record
		after, start := Choose(row.record, s)
		if start != row.start {
			t.Errorf("%s: starts %+v", name, start)
		}
		if diff := cmp.Diff(was, row.record); diff != "" {
			t.Errorf("%s: changed what it was given: %s", name, diff)
		}
		if after.Last == nil != (row.order == "" && row.code == "") {
			t.Fatalf("%s: %+v", name, after.Last)
		}
		if o := after.Last; o != nil && (o.Order != row.order || o.Code != row.code || row.code != "" && o.Stage != message.UpgradeReturned) {
			t.Errorf("%s: the last order is %+v", name, o)
		}
		if err := after.check(); err != nil {
			t.Errorf("%s: the record would not be read again: %v", name, err)
		}
		if s.Packaged != "" && after.Packaged != s.Packaged {
			t.Errorf("%s: the packaged program is not noted", name)
		}
		// Whatever was chosen, a power cut behind the write changes nothing but time.
		next := healthy(after)
		next.Packaged, next.Spent, next.Unbounded = s.Packaged, s.Spent, s.Unbounded
		if after.Current.slot() {
			next.Current = s.Current
		}
		if again, same := Choose(after, next); same != start || !cmp.Equal(again, after) {
			t.Errorf("%s: then %+v", name, same)
		}
	}
}

// TestEnded holds the function against the table in its comment.
func TestEnded(t *testing.T) {
	doctable.Of(t, "choose.go", "Ended").Hold(t, [][]string{
		doctable.YesNo(), doctable.YesNo(), {"ended", "late", "unstarted"}, doctable.YesNo(), {"trial", "other"}, doctable.YesNo(),
	}, func(in []string) []string {
		is := func(i int) bool { return in[i] == "yes" }
		r, ran, e := Record{Current: Packaged}, Start{Place: Packaged}, End{Asked: is(0), Late: in[2] == "late", Code: 3}
		if is(3) {
			ran.Place = SlotA
		}
		if in[4] == "trial" {
			e.Code = ExitUpgrade
		}
		if in[2] == "unstarted" {
			e.Unstarted = "permission denied"
		}
		of := ""
		switch {
		case is(1): // there is one trial at a time
			r, ran.Trial, of = onTrial(), true, order
		case is(5):
			r = onTrial()
		}
		n := Ended(r, ran, of, e, at)
		switch {
		case n.Failed.Order != "":
			if !n.Again || n.Failed.Stage != message.UpgradeReturned || n.Failed.Message == "" || n.Failed.Code != failure(e) {
				t.Errorf("%v: %+v", in, n)
			}
			return []string{"fails"}
		case n.Unusable && n.Again:
			return []string{"unusable"}
		case n.Again:
			return []string{"again"}
		case e.Unstarted != "" && !e.Asked && n.Code != 1 || e.Unstarted == "" && n.Code != e.Code:
			t.Errorf("%v: exit code %d", in, n.Code)
		}
		return []string{"ends"}
	})
}

func failure(e End) message.UpgradeCode {
	switch {
	case e.Unstarted != "":
		return message.UpgradeUnusable
	case e.Late:
		return message.UpgradeUnheard
	}
	return message.UpgradeExited
}
