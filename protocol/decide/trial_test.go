package decide

import (
	"testing"
	"time"

	"rackboot/internal/doctable"
)

func TestSegmentsTable(t *testing.T) {
	doctable.Of(t, "trial.go", "segmentsRule").Hold(t, [][]string{
		doctable.Words(offeredNothing, offeredFirst, offeredConfirmed, offeredTried, offeredRefused, offeredOther), doctable.YesNo(), doctable.YesNo(), {"left", "over"},
	}, func(in []string) []string {
		return doctable.Words(segmentsRule(offered(in[0]), in[1] == "yes", in[2] == "yes", in[3] == "over"))
	})
}

// TestSegmentTrials follows a rack's segments through documents, looks and words of
// the hub, in all orders of five steps: what is in force is always confirmed or on
// trial, nothing is confirmed without a word of the hub after it came into force, and
// no trial outlives its window.
func TestSegmentTrials(t *testing.T) {
	const window, step = 2 * time.Minute, 70 * time.Second
	type world struct {
		trial SegmentTrial
		force string // in force
		alone time.Duration
	}
	var walk func(w world, path string)
	walk = func(w world, path string) {
		if w.trial.Tried != "" && w.force != w.trial.Tried || w.trial.Tried == "" && w.force != w.trial.Confirmed {
			t.Errorf("%s: %s is in force under %+v", path, w.force, w.trial)
		}
		if w.trial.Tried != "" && w.alone >= window {
			t.Errorf("%s: %+v after %v without the hub", path, w.trial, w.alone)
		}
		if len(path) == 5 {
			return
		}
		for _, digest := range []string{"a", "b", "c"} {
			act, trial := OfferSegments(w.trial, digest)
			n := world{trial, w.force, w.alone}
			switch act {
			case SegmentsServe, SegmentsTry:
				if digest != w.trial.Confirmed && w.trial.Confirmed != "" && act == SegmentsServe {
					t.Errorf("%s%s: served without a trial", path, digest)
				}
				n.force, n.alone = digest, 0
			case SegmentsRefuse:
				if digest != w.trial.Refused {
					t.Errorf("%s%s: refused", path, digest)
				}
			case SegmentsWait, SegmentsConfirm, SegmentsBack, SegmentsLeave:
			}
			walk(n, path+digest)
		}
		act, trial, left := LookAtSegments(w.trial, step, window, false)
		n := world{trial, w.force, w.alone + step}
		switch {
		case act == SegmentsBack:
			n.force = w.trial.Confirmed
			if trial.Refused != w.force {
				t.Errorf("%s-: %+v after a roll-back of %s", path, trial, w.force)
			}
		case act == SegmentsWait && left != window-n.alone:
			t.Errorf("%s-: %v left after %v", path, left, n.alone)
		case trial.Confirmed != w.trial.Confirmed:
			t.Errorf("%s-: confirmed without the hub", path)
		}
		walk(n, path+"-")
		act, trial, _ = LookAtSegments(w.trial, step, window, true)
		if act == SegmentsBack || trial.Tried != "" {
			t.Errorf("%s+: %s, %+v", path, act, trial)
		}
		walk(world{trial, w.force, 0}, path+"+")
	}
	walk(world{}, "")
}

// TestSegmentClock: no clock that goes backwards makes a trial longer.
func TestSegmentClock(t *testing.T) {
	before := SegmentTrial{Confirmed: "a", Tried: "b", Spent: time.Minute}
	if act, after, left := LookAtSegments(before, -time.Hour, TrialWindow, false); act != SegmentsWait || after != before || left != time.Minute {
		t.Errorf("%s, %+v, %v left", act, after, left)
	}
}
