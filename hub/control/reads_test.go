package control

import (
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"rackboot/hub/reports"
	"rackboot/hub/store/storetest"
	"rackboot/protocol"
	"rackboot/protocol/resource"
	"rackboot/protocol/wire"
)

// TestStale: a word is as old as the last read that its agent has on disk, by the hub's
// clock, whatever is silent: the agent's disk, the agent, or the link.
func TestStale(t *testing.T) {
	for _, row := range []struct {
		name string
		poll time.Duration // of the rack; 0 is the default
		// says is what the agent says after so long, again and again each 15 s until then;
		// nil: nothing.
		says  func(r resource.ServerReport, since time.Duration) *resource.ServerReport
		lasts time.Duration
		state resource.HoldState
		stale bool
		never bool // it was never read
	}{
		{
			name: "read and reported", lasts: 10 * time.Minute, state: resource.StateFenced,
			says: func(r resource.ServerReport, _ time.Duration) *resource.ServerReport { return &r },
		},
		{
			name: "reported, and not recorded since", lasts: time.Minute, state: resource.StateStale, stale: true,
			says: func(r resource.ServerReport, since time.Duration) *resource.ServerReport {
				r.ReadAge = since
				return &r
			},
		},
		{
			name: "the same within three polls", lasts: 40 * time.Second, state: resource.StateFenced,
			says: func(r resource.ServerReport, since time.Duration) *resource.ServerReport {
				r.ReadAge = since
				return &r
			},
		},
		{
			name: "a slow BMC has longer", lasts: time.Minute, state: resource.StateFenced,
			says: func(r resource.ServerReport, since time.Duration) *resource.ServerReport {
				r.ReadAge = since
				r.Observation.ReadAt = r.Observation.StartedAt.Add(12 * time.Second)
				return &r
			},
		},
		{
			name: "the agent was started anew, and has read nothing since", lasts: time.Minute, state: resource.StateStale, stale: true,
			says: func(r resource.ServerReport, _ time.Duration) *resource.ServerReport {
				r.ReadAge, r.Observation = 0, protocol.Observation{}
				return &r
			},
		},
		{
			name: "an agent that does not say how old its read is", lasts: time.Minute, state: resource.StateStale, stale: true,
			says: func(r resource.ServerReport, _ time.Duration) *resource.ServerReport {
				r.ReadAge = 0
				return &r
			},
		},
		{
			name: "never read", lasts: time.Minute, state: resource.StateEnforced, stale: true, never: true,
			says: func(r resource.ServerReport, _ time.Duration) *resource.ServerReport { return &r },
		},
		{
			name: "not read yet", lasts: 40 * time.Second, state: resource.StateEnforced, never: true,
			says: func(r resource.ServerReport, _ time.Duration) *resource.ServerReport { return &r },
		},
		{name: "the link is cut", lasts: reports.DarkAfter + time.Second, state: resource.StateUnreachable, stale: true},
		{name: "the link is cut, and the rack is polled rarely", poll: time.Minute, lasts: reports.DarkAfter + time.Second, state: resource.StateUnreachable},
		{name: "the same for three polls", poll: time.Minute, lasts: 3*time.Minute + time.Second, state: resource.StateUnreachable, stale: true},
	} {
		t.Run(row.name, func(t *testing.T) {
			b, m := modernSite(t)
			if row.poll > 0 {
				rack := storetest.Rack("r1")
				rack.Spec.PollInterval = protocol.Duration(row.poll)
				b.apply(rack)
			}
			id := b.place("o", "k", "n1")
			b.pass()
			m.listens()
			r := off("n1")
			r.Holds = []resource.HoldReport{{
				ID: id, Word: resource.HoldFenced, State: resource.StateFenced, EnforcedAt: b.now,
				Receipt: seal(t, key(m.name), wire.FactReceipt, resource.Receipt{HoldID: id, Server: "n1", Agent: m.name, StoppedSince: b.now, ConfirmedAt: b.now}),
			}}
			b.now = b.now.Add(time.Hour) // a server that comes late was not silent before
			if row.never {
				r.ReadAge, r.Observation = 0, protocol.Observation{}
				r.Holds[0].Word, r.Holds[0].State, r.Holds[0].Receipt = resource.HoldEnforced, resource.StateEnforced, nil
			} else {
				r.Observation.StartedAt, r.Observation.ReadAt = b.now, b.now
			}
			m.reports(r)
			began := b.now
			for b.now.Sub(began) < row.lasts {
				b.now = b.now.Add(min(15*time.Second, row.lasts-b.now.Sub(began)))
				if row.says != nil {
					m.reports(*row.says(r, b.now.Sub(began)))
				}
			}
			h, _ := b.hold(id)
			if st := h.Status; st.State != row.state || st.Stale != row.stale || (st.Word == resource.HoldFenced) == row.never || (st.Receipt == nil) != row.never || (st.ReadAt == nil) != row.never {
				t.Errorf("state %s, stale %t, word %s, read at %v: %s", st.State, st.Stale, st.Word, st.ReadAt, st.Message)
			}
			if row.state == resource.StateStale && !strings.Contains(h.Status.Message, "the last recorded read is 1m0s old, more than three polls (45s); last word Fenced") {
				t.Errorf("message %q", h.Status.Message)
			}
			s := b.server("n1")
			if said := strings.Contains(codes(s.Status.Conditions), string(resource.CondStale)); said != row.stale || s.Status.Stale != row.stale {
				t.Errorf("the server says %s", codes(s.Status.Conditions))
			}
			want := "\n# HELP rackboot_hub_stale_servers Servers whose last recorded read is older than three polls, by rack.\n# TYPE rackboot_hub_stale_servers gauge\nrackboot_hub_stale_servers{rack=\"r1\"} "
			want += map[bool]string{true: "1", false: "0"}[row.stale] + "\n"
			if err := testutil.GatherAndCompare(b.reg, strings.NewReader(want), "rackboot_hub_stale_servers"); err != nil {
				t.Error(err)
			}
		})
	}
}
