package reports

import (
	"crypto/ed25519"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"strings"
	"testing"
	"time"

	"rackboot/agent/discover"
	"rackboot/netboot"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
	"rackboot/protocol/wire"
)

func bmcSegment() resource.SegmentIntent {
	return resource.SegmentIntent{
		Name: "bmcs", Role: resource.SegmentBMC, Prefix: netip.MustParsePrefix("10.7.0.0/24"),
		Address: netip.MustParseAddr("10.7.0.1"), LeaseTime: time.Hour, BMCPrefixes: []string{"3c:ec:ef"},
	}
}

// finding is a reporting room with a finder of BMCs.
func finding(t *testing.T) (*Room, *discover.Finder, *wall) {
	t.Helper()
	r, w := reporting(t)
	f, err := discover.New(discover.Config{Leases: noLeases{}, Changed: r.PokeFound, Clock: w.read})
	if err != nil {
		t.Fatal(err)
	}
	return r, f, w
}

// noLeases is a lease store that nobody reads.
type noLeases struct {
	netboot.LeaseStore[netboot.Lease]
}

// TestFoundIsReported: BMCs that were found are in the first shard, soon, and without
// using up what server reports may take.
func TestFoundIsReported(t *testing.T) {
	r, finder, w := finding(t)
	for i := range 60 {
		r.Put(numbered(i), resource.PhaseInitial)
	}
	finder.Segments([]resource.SegmentIntent{bmcSegment()})
	find := func(i int) {
		finder.Leased(netboot.Lease{
			Segment: "bmcs", MAC: fmt.Sprintf("3c:ec:ef:00:00:%02x", i), Address: netip.AddrFrom4([4]byte{10, 7, 0, byte(i)}),
			Expires: w.now.Add(time.Hour),
		})
	}
	find(100)
	reports, _ := r.due(finder)
	if len(reports) != 2 || len(reports[0].Found) != 1 || len(reports[1].Found) != 0 {
		t.Fatalf("%d reports", len(reports))
	}
	find(101)
	if reports, next := r.due(finder); len(reports) != 0 || next != foundEvery {
		t.Errorf("%d reports at once, the next in %s", len(reports), next)
	}
	n := 0
	for i := range 100 { // 10 s
		find(102 + i)
		w.now = w.now.Add(100 * time.Millisecond)
		reports, _ := r.due(finder)
		for _, m := range reports {
			if n++; m.Shard != 0 {
				t.Errorf("shard %d was sent", m.Shard)
			}
		}
	}
	if n != 5 {
		t.Errorf("%d reports in 10 s", n)
	}
	s := numbered(0)
	s.PowerEpoch++
	r.Put(s, resource.PhaseInitial)
	if reports, _ := r.due(finder); len(reports) != 1 || len(reports[0].Found) != 102 {
		t.Errorf("a server's report waits: %d", len(reports))
	}
}

// TestReportFits: as many BMCs as may be found, whose firmware says as much nonsense
// as is kept, fit into one message beside a full shard of servers.
func TestReportFits(t *testing.T) {
	const chars = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ!#$%&()*+,-./:;<=>?@[]^_{|}~"
	dice := rand.New(rand.NewPCG(1, 2))
	text := func(n int, of string) string {
		b := make([]byte, n)
		for i := range b {
			b[i] = of[dice.IntN(len(of))]
		}
		return string(b)
	}
	m := message.Report{Agent: "a", Rack: "r", Shards: 1}
	for i := range discover.MaxFound {
		hexa := chars[:16]
		m.Found = append(m.Found, resource.FoundBMC{
			Segment: "bmcs", By: resource.FoundByLease, MAC: "3c:ec:ef:" + text(2, hexa) + ":" + text(2, hexa) + ":" + text(2, hexa),
			Address: fmt.Sprintf("https://10.7.%d.%d", i>>8, i&255), At: start.Add(time.Duration(dice.Int64N(1e12))),
			Fingerprint: "sha256:" + text(64, hexa), Vendor: text(32, chars), Product: text(48, chars), Redfish: text(16, chars[:10]),
			UUID:    text(8, hexa) + "-" + text(4, hexa) + "-" + text(4, hexa) + "-" + text(4, hexa) + "-" + text(12, hexa),
			Problem: "the service root has more than 65536 bytes",
		})
	}
	for i := range message.MaxServersPerShard {
		s := numbered(i)
		s.Conditions = []resource.ConditionState{{Code: resource.CondGuardMode, Message: strings.Repeat(text(30, chars), 10)}}
		s.Observation.ReadAt = start.Add(time.Duration(dice.Int64N(1e12)))
		m.Servers = append(m.Servers, s)
	}
	key := ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))
	sealed, err := wire.Seal(wire.NewSigner(key), message.TopicUp("a", message.LeafReport), m)
	if err != nil {
		t.Fatal(err)
	}
	if len(sealed) > wire.MaxMessage*3/4 {
		t.Errorf("%d bytes leave little room", len(sealed))
	}
}
