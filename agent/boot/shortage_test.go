package boot

import (
	"testing"
	"time"

	"rackboot/netboot"
)

// TestShortages: who waits for an address, on which segment, until it has one or has not asked for
// long.
func TestShortages(t *testing.T) {
	now := time.Unix(0, 0)
	s := newShortages()
	ask := func(mac, server, segment string) {
		s.note(netboot.Notice{Kind: netboot.NoticeNoAddress, MAC: mac, Server: server, Segment: segment}, now)
	}
	check := func(what, server, segment, text string) {
		t.Helper()
		if got := s.of(server, now); got != segment {
			t.Errorf("%s: %s waits on %q", what, server, got)
		}
		if got := s.describe(now); got != text {
			t.Errorf("%s: %q", what, got)
		}
	}
	check("nobody", "n1", "", "")
	ask("52:54:00:00:00:01", "n1", "boot-a")
	ask("52:54:00:00:00:02", "n1", "boot-a") // its other interface
	ask("3c:ec:ef:00:00:01", "", "bmc-a")
	check("two", "n1", "boot-a", "segment bmc-a has no address for 3c:ec:ef:00:00:01; segment boot-a has no address for server n1")
	check("no server", "", "", "segment bmc-a has no address for 3c:ec:ef:00:00:01; segment boot-a has no address for server n1")
	if server, waited := s.end("52:54:00:00:00:01"); server != "n1" || !waited {
		t.Errorf("%q %t", server, waited)
	}
	if _, waited := s.end("52:54:00:00:00:01"); waited {
		t.Error("it waited twice")
	}
	s.end("3c:ec:ef:00:00:01")
	check("one interface", "n1", "boot-a", "segment boot-a has no address for server n1")
	now = now.Add(shortFor)
	check("long ago", "n1", "", "")
	for i := range 20 {
		ask(time.Duration(i).String(), "m"+time.Duration(i).String(), "boot-a")
	}
	check("many", "n1", "", "segment boot-a has no address for server m0s, server m10ns, server m11ns, server m12ns, server m13ns, server m14ns, server m15ns, server m16ns and 12 more")
}
