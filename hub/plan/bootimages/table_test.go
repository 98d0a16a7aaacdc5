package bootimages

import (
	"testing"

	"rackboot/internal/doctable"
	"rackboot/protocol/resource"
)

func yes(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

func orNone(s string) string {
	if s == "" {
		return "none"
	}
	return s
}

// flags makes n columns of yes and no.
func flags(n int) (out [][]string) {
	for range n {
		out = append(out, doctable.YesNo())
	}
	return out
}

func is(in []string) (out []bool) {
	for _, s := range in {
		out = append(out, s == "yes")
	}
	return out
}

func TestSkipTable(t *testing.T) {
	doctable.Of(t, "enrol.go", "skipRule").HoldOne(t, [][]string{
		doctable.YesNo(), doctable.Words(resource.OptIns()...), doctable.YesNo(), doctable.YesNo(), doctable.Words(imageNone, imageCustom, imageAdopted), doctable.YesNo(),
	}, func(in []string) string {
		return orNone(string(skipRule(in[0] == "yes", resource.OptIn(in[1]), in[2] == "yes", in[3] == "yes", ownImage(in[4]), in[5] == "yes")))
	})
	if got := skipRule(true, "Sometimes", true, false, imageNone, true); got != resource.SkipOptedOut {
		t.Errorf("a mode that is none of the three: %q", got)
	}
}

func TestChooseTables(t *testing.T) {
	doctable.Of(t, "choose.go", "usable").HoldOne(t, flags(4), func(in []string) string {
		v := is(in)
		return yes(usable(v[0], v[1], v[2], v[3]))
	})
	doctable.Of(t, "choose.go", "chooseRule").HoldOne(t, flags(3), func(in []string) string {
		v := is(in)
		return string(chooseRule(v[0], v[1], v[2]))
	})
}

func TestStampTables(t *testing.T) {
	doctable.Of(t, "stamp.go", "stampRule").HoldOne(t, flags(4), func(in []string) string {
		v := is(in)
		return string(stampRule(v[0], v[1], v[2], v[3]))
	})
	doctable.Of(t, "stamp.go", "StampFor").HoldOne(t, flags(4), func(in []string) string {
		v := is(in)
		return yes(stamps(v[0], v[1], v[2], v[3]))
	})
}

func TestPreflightTables(t *testing.T) {
	seen := doctable.Words(SeenAsked, SeenFailing, SeenInvalid, SeenReady)
	doctable.Of(t, "preflight.go", "archRule").HoldOne(t, [][]string{doctable.YesNo(), seen, doctable.YesNo()}, func(in []string) string {
		return string(archRule(in[0] == "yes", Seen(in[1]), in[2] == "yes"))
	})
	doctable.Of(t, "preflight.go", "stubRule").HoldOne(t, [][]string{doctable.YesNo(), seen, doctable.YesNo(), doctable.YesNo()}, func(in []string) string {
		return string(stubRule(in[0] == "yes", Seen(in[1]), in[2] == "yes", in[3] == "yes"))
	})
}

func TestVerifiedTable(t *testing.T) {
	doctable.Of(t, "verified.go", "verifiedRule").HoldOne(t, flags(3), func(in []string) string {
		v := is(in)
		return string(verifiedRule(v[0], v[1], v[2]))
	})
}

// Row 14 (MCO#5865): of an entry without maxIgnition nothing is guessed.
func TestLimitTable(t *testing.T) {
	doctable.Of(t, "limit.go", "limitRule").HoldOne(t, flags(3), func(in []string) string {
		v := is(in)
		return string(limitRule(v[0], v[1], v[2]))
	})
}

func TestCauseTable(t *testing.T) {
	doctable.Of(t, "revision.go", "causeRule").HoldOne(t, flags(5), func(in []string) string {
		v := is(in)
		return orNone(string(causeRule(v[0], v[1], v[2], v[3], v[4])))
	})
}

func TestLoopTable(t *testing.T) {
	doctable.Of(t, "hotloop.go", "loopRule").HoldOne(t, flags(3), func(in []string) string {
		v := is(in)
		return string(loopRule(v[0], v[1], v[2]))
	})
}

func TestTakeTables(t *testing.T) {
	doctable.Of(t, "take.go", "takeRule").HoldOne(t, flags(6), func(in []string) string {
		v := is(in)
		return string(takeRule(v[0], v[1], v[2], v[3], v[4], v[5]))
	})
	doctable.Of(t, "take.go", "canaryRule").HoldOne(t, flags(3), func(in []string) string {
		v := is(in)
		return yes(canaryRule(v[0], v[1], v[2]))
	})
}

func TestOlderTable(t *testing.T) {
	doctable.Of(t, "older.go", "olderRule").HoldOne(t, flags(6), func(in []string) string {
		v := is(in)
		return string(olderRule(v[0], v[1], v[2], v[3], v[4], v[5]))
	})
}

func TestKeepTable(t *testing.T) {
	doctable.Of(t, "keep.go", "keepRule").HoldOne(t, flags(4), func(in []string) string {
		v := is(in)
		return yes(keepRule(v[0], v[1], v[2], v[3]))
	})
}

func TestSkewTable(t *testing.T) {
	doctable.Of(t, "skew.go", "skewRule").HoldOne(t, append([][]string{doctable.Words(resource.SkewModes()...)}, flags(3)...), func(in []string) string {
		return string(skewRule(resource.SkewMode(in[0]), in[1] == "yes", in[2] == "yes", in[3] == "yes"))
	})
}

func TestConditionTable(t *testing.T) {
	doctable.Of(t, "conditions.go", "conditionRule").Hold(t, flags(5), func(in []string) []string {
		v := is(in)
		progressing, degraded, deferred := conditionRule(v[0], v[1], v[2], v[3], v[4])
		return []string{yes(progressing), yes(degraded), yes(deferred)}
	})
}
