package leasing

import (
	"log/slog"
	"strconv"
	"testing"
	"time"

	"rackboot/netboot"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// counting answers each question with another boot.
type counting struct{ n int }

func (c *counting) Segment(string) (seg resource.SegmentIntent, ok bool) { return seg, true }

func (c *counting) Resolve(protocol.BootClient) protocol.BootAnswer {
	c.n++
	return protocol.BootAnswer{Action: protocol.AnswerBoot, Server: "s1", Token: strconv.Itoa(c.n)}
}

type nobody struct{}

func (nobody) Record(netboot.Event) {}

// TestExchange: what is one exchange in each version, by messages in order; equal numbers
// are equal answers.
func TestExchange(t *testing.T) {
	type message struct {
		xid                uint32
		first, information bool
	}
	for _, row := range []struct {
		name string
		v6   bool
		in   []message
		want []string
	}{
		{"v4, repeated", false, []message{{1, true, false}, {1, true, false}, {1, false, false}}, []string{"1", "1", "1"}},
		{"v4, another xid", false, []message{{1, true, false}, {2, false, false}, {1, false, false}}, []string{"1", "2", "1"}},
		{"v6, a REQUEST has an xid of its own", true, []message{{1, true, false}, {2, false, false}}, []string{"1", "1"}},
		{"v6, repeated", true, []message{{1, true, false}, {1, true, false}}, []string{"1", "1"}},
		{"v6, another SOLICIT", true, []message{{1, true, false}, {2, true, false}, {3, false, false}}, []string{"1", "2", "2"}},
		{"v6, information only", true, []message{{1, true, false}, {2, true, true}, {3, false, false}}, []string{"1", "2", "1"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			as := NewAnswers(Config{
				Segment: "rack1", V6: row.v6, Resolver: &counting{}, Evidence: nobody{}, Loops: testMetrics().Loops,
				Logger: slog.New(slog.DiscardHandler), Clock: func() time.Time { return time.Unix(1, 0) },
			})
			for i, m := range row.in {
				a, who := as.Decide(resource.SegmentIntent{}, &Question{Client: protocol.BootClient{XID: m.xid}, ID: "c1", First: m.first, Information: m.information})
				if a.Token != row.want[i] || who == nil {
					t.Errorf("message %d: answer %s, want %s", i, a.Token, row.want[i])
				}
			}
		})
	}
}
