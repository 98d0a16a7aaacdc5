package jetstream

import (
	"strconv"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"rackboot/internal/doctable"
)

func TestAstray(t *testing.T) {
	doctable.Of(t, "alone.go", "astray").HoldOne(t, [][]string{doctable.YesNo(), doctable.YesNo(), doctable.YesNo()}, func(in []string) string {
		waited := doubtAfter - 1
		switch {
		case in[0] == "yes":
			waited = elected
		case in[1] == "yes":
			waited = elected - 1
		}
		return map[bool]string{true: "yes", false: "no"}[astray(waited, func() bool { return in[2] == "yes" })]
	})
}

func TestHearsFew(t *testing.T) {
	heard, silent := &jetstream.PeerInfo{Active: time.Second}, &jetstream.PeerInfo{Active: silentFor}
	gone := &jetstream.PeerInfo{Active: time.Second, Offline: true}
	for i, row := range []struct {
		leader string
		peers  []*jetstream.PeerInfo
		few    bool
	}{
		{"n1", []*jetstream.PeerInfo{heard, heard}, false},
		{"n1", []*jetstream.PeerInfo{heard, silent}, false}, // two of three store
		{"n1", []*jetstream.PeerInfo{silent, gone}, true},
		{"n1", []*jetstream.PeerInfo{gone, gone}, true},
		{"n2", []*jetstream.PeerInfo{silent, silent}, false}, // another one leads, by what this one knows
		{"", []*jetstream.PeerInfo{silent, silent}, false},
		{"n1", nil, false}, // it is the only one
		{"n1", []*jetstream.PeerInfo{heard, heard, silent, silent}, false},
		{"n1", []*jetstream.PeerInfo{heard, silent, silent, silent}, true},
	} {
		t.Run(strconv.Itoa(i), func(t *testing.T) {
			if got := hearsFew(&jetstream.ClusterInfo{Leader: row.leader, Replicas: row.peers}, "n1"); got != row.few {
				t.Errorf("it hears few: %v", got)
			}
		})
	}
	if hearsFew(nil, "n1") {
		t.Error("a server that is no cluster's hears few")
	}
}
