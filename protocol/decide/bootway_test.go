package decide

import (
	"slices"
	"strings"
	"testing"
	"time"

	"rackboot/internal/doctable"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

func TestWayTable(t *testing.T) {
	codes := []string{"none"}
	for _, f := range resource.AttemptFailures() {
		codes = append(codes, string(f.Code))
	}
	doctable.Of(t, "bootway.go", "wayRule").HoldOne(t, [][]string{doctable.Words(resource.ReachURI, resource.ReachSegment), doctable.Words(wayNone, wayDHCP, wayURL), codes}, func(in []string) string {
		if wayRule(resource.Reach(in[0]), bootWay(in[1]), resource.AttemptCode(strings.TrimPrefix(in[2], "none"))) {
			return "yes"
		}
		return "no"
	})
}

// Firmware that does HTTP only with a URL in its BMC boots by PXE first, and with the second
// attempt of the grant by HTTP, which its trace says (metal-operator 649).
func TestNextWay(t *testing.T) {
	w := newWorld(t)
	w.claim(2)
	w.m.faults.NoHTTP = true
	var told []string
	w.until("booted from disk", func() bool { return w.booted() && !w.record().Attempt.Network() })
	for _, e := range w.told {
		if e.Code == resource.EventAttemptBegun {
			told = append(told, e.Message)
		}
	}
	if use := w.record().Owners.Used["claim-1/1"]; use.Attempts != 2 || w.provisioned() == nil {
		t.Errorf("%+v, %s", use, w.disk)
	}
	if len(told) != 3 || told[1] != "UefiHttp boot for the claim, by a URL in the BMC, because that by DHCP ended with AskedByPXE" {
		t.Errorf("%q", told)
	}
	if w.m.uri != "" || w.record().Residue.URL() != nil {
		t.Errorf("the BMC has %q, the record %+v", w.m.uri, w.record().Residue.URL())
	}
}

// Where the BMC takes no URL, the override goes in without, and the attempt is as the first.
func TestNextWayThatIsNone(t *testing.T) {
	w := newWorld(t)
	w.claim(2)
	w.m.faults.NoHTTP, w.m.faults.NoURL = true, true
	w.until("given up", func() bool { return w.tried(2) })
	a := w.record().Attempt
	if use := w.record().Owners.Used["claim-1/1"]; use.Attempts != 2 || a.ByURL() || a.Stage.Ending.Code != resource.AttemptAskedByPXE || w.w.ons != 2 {
		t.Errorf("%+v, %d On, %+v", use, w.w.ons, a)
	}
	if w.m.uri != "" || w.record().Residue.URL() != nil {
		t.Errorf("the BMC has %q, the record %+v", w.m.uri, w.record().Residue.URL())
	}
}

// Each of the two ways comes after the other, as long as the grant has attempts.
func TestWaysGoRound(t *testing.T) {
	w := newWorld(t)
	w.claim(3)
	w.m.netboot = func(protocol.BootTarget) (d time.Duration, ok bool) { return 0, false }
	var ways []bool
	w.until("given up", func() bool {
		if a := w.record().Attempt; a != nil && a.Number > len(ways) {
			ways = append(ways, a.ByURL())
		}
		return w.tried(3)
	})
	if !slices.Equal(ways, []bool{false, true, false}) {
		t.Errorf("%v", ways)
	}
}

// tried says whether so many attempts of the first claim's grant have failed.
func (w *world) tried(n int) bool {
	rec := w.record()
	return rec.Owners.Used["claim-1/1"].Attempts == n && rec.Attempt.Stage.State == resource.AttemptFailed && w.m.power == protocol.PowerOff && rec.Residue.URL() == nil
}
