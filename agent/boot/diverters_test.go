package boot

import (
	"net/netip"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"rackboot/netboot"
)

// TestDiverters: who may have servers load another file counts at once and for a while, on the
// segment, however many other notices wait; who uses another's address does not.
func TestDiverters(t *testing.T) {
	now := time.Unix(100, 0)
	address := netip.MustParseAddr("10.7.0.9")
	for name, row := range map[string]struct {
		notice netboot.Notice
		want   bool
	}{
		"another DHCP server":        {netboot.Notice{Kind: netboot.NoticeForeignServer, Segment: "one", Address: address}, true},
		"at the agent's address":     {netboot.Notice{Kind: netboot.NoticeSpoofed, Segment: "one", Address: address, MAC: "m", Own: true}, true},
		"at a server's address":      {netboot.Notice{Kind: netboot.NoticeSpoofed, Segment: "one", Address: address, MAC: "m", Server: "n1"}, false},
		"at that of another machine": {netboot.Notice{Kind: netboot.NoticeSpoofed, Segment: "one", Address: address, MAC: "m"}, false},
		"a loop":                     {netboot.Notice{Kind: netboot.NoticeBootLoop, Segment: "one"}, false},
	} {
		r := &Room{diverters: &diverters{}, met: newMetrics(prometheus.NewRegistry())}
		r.cfg.Clock = func() time.Time { return now }
		n := newNotices(r)
		for range 2 * noticesWaiting {
			n.take(netboot.Notice{Kind: netboot.NoticeConflict, Segment: "one"})
		}
		n.take(row.notice)
		if got := r.Diverted("one") != ""; got != row.want || r.Diverted("two") != "" {
			t.Errorf("%s: %q, and on another segment %q", name, r.Diverted("one"), r.Diverted("two"))
		}
		now = now.Add(noticed + time.Second)
		if got := r.Diverted("one"); got != "" {
			t.Errorf("%s: %q for ever", name, got)
		}
	}
}
