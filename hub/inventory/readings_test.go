package inventory

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"rackboot/protocol/resource"
)

// Whatever happens to BMCs, who is due is what a look at all of them says.
func TestReadingsDue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := newReadings()
		now := time.Date(2026, 11, 23, 0, 0, 0, 0, time.UTC)
		bmcs := map[string]*resource.BMC{}
		pick := func() string { return fmt.Sprintf("b%d", rapid.IntRange(0, 5).Draw(t, "bmc")) }
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			now = now.Add(time.Duration(rapid.IntRange(0, 3000).Draw(t, "seconds")) * time.Second)
			name := pick()
			switch rapid.IntRange(0, 5).Draw(t, "step") {
			case 0, 1: // a turn of its rack
				b := bmcs[name]
				if b == nil || rapid.IntRange(0, 9).Draw(t, "made anew") == 0 {
					b = &resource.BMC{}
					b.Metadata.Name, b.Metadata.UID = name, fmt.Sprint(name, len(r.byBMC), now.UnixNano(), rapid.Int().Draw(t, "uid"))
					b.Spec.Address, b.Status.State = "https://10.0.0.1", resource.BMCAccepted
					bmcs[name] = b
				}
				read := time.Time{}
				if rapid.Bool().Draw(t, "was read") {
					read = now.Add(-time.Duration(rapid.IntRange(0, 30).Draw(t, "hours")) * time.Hour)
				}
				agent := rapid.SampledFrom([]string{"", "a-1", "a-2"}).Draw(t, "agent")
				board := rapid.SampledFrom([]string{"", "x", "y"}).Draw(t, "identity")
				r.learn(subject{bmc: b, agent: agent, servers: []string{name}}, read, map[string]*resource.ServerReport{name: {Server: name, Identity: board}}, now)
			case 2: // nobody has it any more
				delete(bmcs, name)
				var there []*resource.BMC
				for _, b := range bmcs {
					there = append(there, b)
				}
				r.forget(there)
			case 3:
				if k := r.byBMC[name]; k != nil {
					r.ended(*k, now, map[bool]error{true: errors.New("no")}[rapid.Bool().Draw(t, "failed")])
				}
			}
			var want []string
			for name, k := range r.byBMC {
				if at, ok := k.Due(); ok && k.wanted && !at.After(now) {
					want = append(want, name)
				}
			}
			var got []string
			var taken []reading
			for _, agent := range r.due(now) {
				for {
					k, due := r.next(agent, now)
					if !due {
						break
					}
					got = append(got, k.bmc)
					if k.agent != agent {
						t.Fatalf("%s is of %q, in the line of %q", k.bmc, k.agent, agent)
					}
					taken = append(taken, k)
				}
			}
			for i, k := range taken {
				if i == 0 {
					r.begin(k)
				} else {
					r.putBack(k)
				}
			}
			slices.Sort(want)
			slices.Sort(got)
			if !slices.Equal(got, want) {
				t.Fatalf("due are %v, want %v", got, want)
			}
		}
	})
}
