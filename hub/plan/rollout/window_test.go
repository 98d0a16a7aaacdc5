package rollout

import (
	"testing"
	"time"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// zone is a time zone of the database.
func zone(t testing.TB, name string) *time.Location {
	t.Helper()
	z, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return z
}

func windows(zone string, ws ...resource.RolloutWindow) resource.RolloutSpec {
	return resource.RolloutSpec{TimeZone: zone, Windows: ws}
}

func win(start string, d time.Duration, days ...string) resource.RolloutWindow {
	return resource.RolloutWindow{Start: start, Duration: protocol.Duration(d), Days: days}
}

func TestInWindow(t *testing.T) {
	const at = "Mon 2006-01-02 15:04 MST"
	for _, c := range []struct {
		name string
		spec resource.RolloutSpec
		now  string // in the zone, as 2006-01-02 15:04
		open bool
		next string
	}{
		{"no window is always", windows("UTC"), "2026-11-21 12:00", true, ""},
		{"before", windows("UTC", win("22:00", 2*time.Hour)), "2026-11-21 21:59", false, "Sat 2026-11-21 22:00 UTC"},
		{"from its first minute", windows("UTC", win("22:00", 2*time.Hour)), "2026-11-21 22:00", true, "Sun 2026-11-22 00:00 UTC"},
		{"over midnight", windows("UTC", win("22:00", 4*time.Hour)), "2026-11-22 01:59", true, "Sun 2026-11-22 02:00 UTC"},
		{"to its end", windows("UTC", win("22:00", 2*time.Hour)), "2026-11-22 00:00", false, "Sun 2026-11-22 22:00 UTC"},
		{"the day is that of its start", windows("UTC", win("22:00", 4*time.Hour, "Fri")), "2026-11-21 01:00", true, "Sat 2026-11-21 02:00 UTC"},
		{"a week on", windows("UTC", win("22:00", time.Hour, "Sat")), "2026-11-21 23:00", false, "Sat 2026-11-28 22:00 UTC"},
		{"in its zone", windows("Europe/Berlin", win("22:00", time.Hour)), "2026-11-21 22:30", true, "Sat 2026-11-21 23:00 CET"},
		{"windows that overlap are one", windows("UTC", win("22:00", 3*time.Hour), win("23:00", 4*time.Hour)), "2026-11-21 22:10", true, "Sun 2026-11-22 03:00 UTC"},
		{"and so are those that meet", windows("UTC", win("23:00", time.Hour), win("22:00", time.Hour)), "2026-11-21 22:10", true, "Sun 2026-11-22 00:00 UTC"},
		{"of two the next", windows("UTC", win("04:00", time.Hour), win("02:00", time.Hour)), "2026-11-21 01:00", false, "Sat 2026-11-21 02:00 UTC"},
		{"all day is without an end in sight", windows("UTC", win("00:00", 24*time.Hour)), "2026-11-21 12:00", true, "Mon 2026-11-30 00:00 UTC"},
		// Clocks go from 02:00 CET to 03:00 CEST on 2026-03-29.
		{"a start that is skipped", windows("Europe/Berlin", win("02:30", time.Hour)), "2026-03-29 01:30", false, "Sun 2026-03-29 03:00 CEST"},
		{"it lasts as long", windows("Europe/Berlin", win("02:30", time.Hour)), "2026-03-29 03:30", true, "Sun 2026-03-29 04:00 CEST"},
		{"over the skipped hour", windows("Europe/Berlin", win("01:00", 2*time.Hour)), "2026-03-29 03:30", true, "Sun 2026-03-29 04:00 CEST"},
		{"a day of 23 hours", windows("Europe/Berlin", win("12:00", 24*time.Hour, "Sat")), "2026-03-29 12:30", true, "Sun 2026-03-29 13:00 CEST"},
		// Clocks go from 03:00 CEST to 02:00 CET on 2026-10-25.
		{"a start that comes twice is the first", windows("Europe/Berlin", win("02:30", time.Hour)), "2026-10-25 01:00", false, "Sun 2026-10-25 02:30 CEST"},
		// Lord Howe Island's clocks go by half an hour, on 2026-10-04 from 02:00.
		{"half an hour", windows("Australia/Lord_Howe", win("02:15", time.Hour)), "2026-10-04 01:00", false, "Sun 2026-10-04 02:30 +11"},
	} {
		t.Run(c.name, func(t *testing.T) {
			now, err := time.ParseInLocation("2006-01-02 15:04", c.now, zone(t, c.spec.TimeZone))
			if err != nil {
				t.Fatal(err)
			}
			open, next, err := InWindow(now, c.spec)
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			if !next.IsZero() {
				got = next.Format(at)
			}
			if open != c.open || got != c.next {
				t.Errorf("%v until %s; want %v until %s", open, got, c.open, c.next)
			}
		})
	}
}

// Over a year, by quarters of an hour, a window opens once on each of its days, lasts as long
// each time, and opens and closes when it was said to.
func TestWindowsOfAYear(t *testing.T) {
	for _, name := range []string{"Europe/Berlin", "America/New_York", "UTC"} {
		spec := windows(name, win("02:30", 45*time.Minute))
		z := zone(t, name)
		opened, was, minutes := map[string]int{}, false, 0
		var said time.Time
		for now := time.Date(2026, 1, 1, 0, 0, 0, 0, z); now.Year() == 2026; now = now.Add(15 * time.Minute) {
			open, next, err := InWindow(now, spec)
			if err != nil {
				t.Fatal(err)
			}
			if open != was && !said.IsZero() && !said.Equal(now) {
				t.Errorf("%s: it changed at %s, and was said to at %s", name, now, said)
			}
			switch {
			case open && !was:
				opened[now.Format("01-02")]++
				minutes = 0
			case was && !open && minutes != 45:
				t.Errorf("%s: %d minutes until %s", name, minutes, now)
			}
			if open {
				minutes += 15
			}
			was, said = open, next
		}
		for day, n := range opened {
			if n != 1 {
				t.Errorf("%s: %d times on %s", name, n, day)
			}
		}
		if len(opened) != 365 {
			t.Errorf("%s: on %d days", name, len(opened))
		}
	}
}

func TestWindowsThatCannotBeRead(t *testing.T) {
	now := time.Date(2026, 11, 21, 22, 30, 0, 0, time.UTC)
	for name, spec := range map[string]resource.RolloutSpec{
		"start":    windows("UTC", win("10 pm", time.Hour)),
		"day":      windows("UTC", win("22:00", time.Hour, "Monday")),
		"duration": windows("UTC", win("22:00", 0)),
		"too long": windows("UTC", win("22:00", 25*time.Hour)),
		"zone":     windows("Europe/Berlin", win("22:00", time.Hour)), // the time is not in it
	} {
		t.Run(name, func(t *testing.T) {
			if open, _, err := InWindow(now, spec); open || protocol.CodeOf(err) != protocol.CodeInvalid {
				t.Errorf("%v, %v", open, err)
			}
			spec.Default()
			spec.Strategy = resource.RolloutReboot
			servers := []Server{up("a"), up("b")}
			r := Step(Input{Now: now, Spec: spec, Status: Begin(now, spec, 2, 1, servers), Servers: servers, Stamped: true})
			if len(r.Orders) > 0 || r.Status.Phase != resource.RolloutWaiting || r.Status.Reason == "" {
				t.Errorf("%v, %s: %s", r.Orders, r.Status.Phase, r.Status.Reason)
			}
		})
	}
}

// up is a server that serves the image of before.
func up(name string) Server {
	return Server{Name: name, Rack: "r1", Boots: oldImage, Target: newImage, Up: true, Network: true, Claimed: true}
}

func TestLocal(t *testing.T) {
	now := time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)
	got, err := resource.RolloutSpec{TimeZone: "Europe/Berlin"}.Local(now)
	if err != nil || got.Hour() != 14 || got.Location().String() != "Europe/Berlin" {
		t.Errorf("%s, %v", got, err)
	}
	if _, err := (resource.RolloutSpec{TimeZone: "Mars/Olympus"}).Local(now); protocol.CodeOf(err) != protocol.CodeInvalid {
		t.Errorf("%v", err)
	}
}
