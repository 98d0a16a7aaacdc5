package leasing

import (
	"log/slog"
	"net/netip"
	"strconv"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"rackboot/internal/doctable"
	"rackboot/netboot"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

func TestSpoofTable(t *testing.T) {
	doctable.Of(t, "spoofed.go", "spoofRule").Hold(t, [][]string{doctable.Words(WhoseOurs, WhoseLeased, WhoseOther), doctable.YesNo()},
		func(in []string) []string {
			if spoofRule(Whose(in[0]), in[1] == "yes") {
				return []string{"yes"}
			}
			return []string{"no"}
		})
}

// two knows two interfaces of server n1.
type two struct{}

func (two) Segment(string) (seg resource.SegmentIntent, ok bool) { return seg, true }

func (two) Resolve(c protocol.BootClient) protocol.BootAnswer {
	if c.MAC == "52:54:00:00:00:01" || c.MAC == "52:54:00:00:00:02" {
		return protocol.BootAnswer{Action: protocol.AnswerLease, Server: "n1"}
	}
	return protocol.BootAnswer{Action: protocol.AnswerSilence}
}

// TestUses: who uses an address of another is named once an hour, each interface and address;
// a second interface of the server is not. Memory is bounded, whatever is made up.
func TestUses(t *testing.T) {
	now := time.Unix(1, 0)
	var told []netboot.Notice
	counter := prometheus.NewCounterVec(prometheus.CounterOpts{Name: "spoofed"}, []string{"whose"})
	as := NewAnswers(Config{
		Segment: "rack1", Resolver: two{}, Evidence: nobody{}, Spoofed: counter, Logger: slog.New(slog.DiscardHandler),
		Clock: func() time.Time { return now }, Notify: func(n netboot.Notice) { told = append(told, n) },
	})
	a := netip.MustParseAddr("10.7.0.9")
	leased := Tenant{Whose: WhoseLeased, MAC: "52:54:00:00:00:01", Server: "n1"}
	for _, row := range []struct {
		name string
		by   string
		of   Tenant
		news bool
	}{
		{"its own", "52:54:00:00:00:01", leased, false},
		{"another interface of the server", "52:54:00:00:00:02", leased, false},
		{"a neighbour", "52:54:00:00:00:99", leased, true},
		{"the neighbour again", "52:54:00:00:00:99", leased, false},
		{"of no server", "52:54:00:00:00:02", Tenant{Whose: WhoseLeased, MAC: "52:54:00:00:00:08"}, true},
		{"the agent's own", "52:54:00:00:00:01", Tenant{Whose: WhoseOurs, MAC: "52:54:00:00:00:aa"}, true},
		{"nobody's", "52:54:00:00:00:99", Tenant{Whose: WhoseOther}, false},
	} {
		told = nil
		as.Uses(a, row.by, row.of)
		if (len(told) == 1) != row.news || row.news && (told[0].Kind != netboot.NoticeSpoofed || told[0].Address != a || told[0].MAC != row.by || told[0].Server != row.of.Server || told[0].Own != (row.of.Whose == WhoseOurs)) {
			t.Errorf("%s: told %+v", row.name, told)
		}
	}
	if n := testutil.ToFloat64(counter.WithLabelValues(string(WhoseLeased))); n != 3 {
		t.Errorf("%v were counted", n)
	}
	now, told = now.Add(spoofAgain), nil
	as.Uses(a, "52:54:00:00:00:99", leased)
	for i := range 10 * maxSpoofs {
		as.Uses(a, "made up "+strconv.Itoa(i), leased)
	}
	if len(told) > maxSpoofs || len(told) < 2 || len(as.spoofs.told) > maxSpoofs {
		t.Errorf("told %d, %d are remembered", len(told), len(as.spoofs.told))
	}
	told = nil
	as.Uses(a, "52:54:00:00:00:99", Tenant{Whose: WhoseOurs, MAC: "52:54:00:00:00:aa"})
	if len(told) != 1 || !told[0].Own {
		t.Errorf("behind many others who uses the agent's own address is not told of: %+v", told)
	}
}
