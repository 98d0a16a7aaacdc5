package rollout

import (
	"slices"
	"time"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// week is in days how far ahead windows are looked for: one more, so that the window of
// this weekday that has just closed is found again.
const week = 8

// InWindow says whether servers may be begun at a time, which must be in the windows'
// zone (see [resource.RolloutSpec.Local]); next is when that changes: when the window
// closes, or the next one opens. Windows that meet or overlap are one. Without windows it
// is always open, and next is zero.
//
// A start that the clock skips is the moment at which it skips it; one that comes twice is
// the first of the two only. Either window lasts as long as any other, by elapsed time.
//
// Errors: invalid for windows that cannot be read, or a time in another zone: then no
// window is open.
func InWindow(now time.Time, spec resource.RolloutSpec) (open bool, next time.Time, err error) {
	if len(spec.Windows) == 0 {
		return true, time.Time{}, nil
	}
	switch zone := spec.TimeZone; {
	case zone == "" || zone == "UTC":
		now = now.UTC()
	case now.Location().String() != zone:
		return false, time.Time{}, protocol.Errorf(protocol.CodeInvalid, "rollout", "the time is of the zone %s, and the windows of %s", now.Location(), zone)
	}
	spans, err := spansAround(now, spec.Windows)
	if err != nil {
		return false, time.Time{}, err
	}
	slices.SortFunc(spans, func(a, b span) int { return a.from.Compare(b.from) })
	for _, s := range spans {
		switch {
		case !open && s.from.After(now):
			return false, s.from, nil
		case !open && s.to.After(now):
			open, next = true, s.to
		case open && !s.from.After(next) && s.to.After(next):
			next = s.to
		}
	}
	return open, next, nil
}

// span is one opening.
type span struct{ from, to time.Time }

// spansAround are the openings from those that may last until now to those of a week on.
func spansAround(now time.Time, windows []resource.RolloutWindow) ([]span, error) {
	var spans []span
	for i, w := range windows {
		start, err := time.Parse("15:04", w.Start)
		if err != nil || w.Duration.D() <= 0 || w.Duration.D() > 24*time.Hour {
			return nil, protocol.Errorf(protocol.CodeInvalid, "rollout", "windows[%d]: start %q and duration %s are not a time of day and up to a day", i, w.Start, w.Duration)
		}
		for _, d := range w.Days {
			if !slices.Contains(weekdays, d) {
				return nil, protocol.Errorf(protocol.CodeInvalid, "rollout", "windows[%d]: %q is not a day such as Mon", i, d)
			}
		}
		// Two days back: a window of 24 hours that began yesterday before the clock was
		// put forward began more than a day ago by the calendar.
		for day := -2; day <= week; day++ {
			wall := time.Date(now.Year(), now.Month(), now.Day()+day, start.Hour(), start.Minute(), 0, 0, time.UTC)
			if len(w.Days) == 0 || slices.Contains(w.Days, wall.Format("Mon")) {
				from := atWall(wall, now.Location())
				spans = append(spans, span{from, from.Add(w.Duration.D())})
			}
		}
	}
	return spans, nil
}

var weekdays = []string{"Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"}

// atWall is when a zone's clocks first show a wall time, which is given as if it were
// UTC; when they never do, the moment at which they skip it. time.Date promises neither.
func atWall(wall time.Time, zone *time.Location) time.Time {
	_, before := wall.Add(-24 * time.Hour).In(zone).Zone()
	_, after := wall.Add(24 * time.Hour).In(zone).Zone()
	first := wall.Add(-time.Duration(before) * time.Second).In(zone)
	second := wall.Add(-time.Duration(after) * time.Second).In(zone)
	switch {
	case shows(first, wall):
		return first // also the earlier one of two: the clock goes back, so before > after
	case shows(second, wall):
		return second
	}
	skipped, _ := first.ZoneBounds()
	return skipped
}

func shows(t, wall time.Time) bool {
	_, offset := t.Zone()
	return t.Add(time.Duration(offset) * time.Second).Equal(wall)
}
