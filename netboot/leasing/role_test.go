package leasing

import (
	"os"
	"strings"
	"testing"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// fake is a client that is a server by its MAC address or not, and says a server's UUID.
type fake struct {
	server   bool
	resolved int
	byUUID   bool
	seen     int
}

func (f *fake) Resolve(byUUID bool) (protocol.BootAnswer, *protocol.BootClient) {
	f.resolved++
	f.byUUID = byUUID
	if f.server {
		return protocol.BootAnswer{Action: protocol.AnswerBoot, Server: "one"}, &protocol.BootClient{}
	}
	return protocol.BootAnswer{Action: protocol.AnswerSilence}, &protocol.BootClient{}
}

func (f *fake) Seen() *protocol.BootClient {
	f.seen++
	return &protocol.BootClient{}
}

// TestDecide compares decide with its table, for each role and MAC address.
func TestDecide(t *testing.T) {
	const bmc, other = "3c:ec:ef:00:00:01", "52:54:00:00:00:01"
	source, err := os.ReadFile("role.go")
	if err != nil {
		t.Fatal(err)
	}
	rows := 0
	for line := range strings.Lines(string(source)) {
		text, ok := strings.CutPrefix(line, "//\t")
		cells := strings.Split(text, "|")
		if !ok || len(cells) != 5 || strings.HasPrefix(text, "role") {
			continue
		}
		rows++
		role := resource.SegmentRole(strings.TrimSpace(cells[0]))
		for i, who := range []struct {
			mac    string
			server bool
		}{{other, true}, {bmc, false}, {bmc, true}, {other, false}} {
			want := strings.TrimSpace(cells[i+1])
			c := &fake{server: who.server}
			seg := resource.SegmentIntent{Role: role, BMCPrefixes: []string{"3c:ec:ef"}}
			a, seen, known := decide(seg, who.mac, c)
			got := "silence"
			switch {
			case a.Action == protocol.AnswerLease && a.Server == "":
				got = "lease"
			case c.resolved > 0:
				got = "resolver"
			}
			if got != want || known != (role != "?") || BMCs(seg, a) != (want == "lease") {
				t.Errorf("role %s, %+v: %s (%+v), the table says %s", role, who, got, a, want)
			}
			if c.resolved > 0 && c.byUUID == (role == resource.SegmentBoth && who.mac == bmc) {
				t.Errorf("role %s, %+v: the UUID is told: %t", role, who, c.byUUID)
			}
			if hosts := role == resource.SegmentBMC && want == "silence"; (c.seen > 0) != hosts || (seen != nil) != (hosts || c.resolved > 0) {
				t.Errorf("role %s, %+v: seen %d times, %v", role, who, c.seen, seen)
			}
		}
	}
	if rows != 4 {
		t.Errorf("the table has %d rows", rows)
	}
	if _, _, known := decide(resource.SegmentIntent{}, other, &fake{}); !known {
		t.Error("an empty role is boot")
	}
}
