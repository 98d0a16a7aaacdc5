package inventory

import (
	"slices"
	"sync"
	"time"

	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// foundBook keeps in memory what the agent of each rack found last. What decides is
// in the store; the rest is for people, and comes again with each report.
type foundBook struct {
	mu     sync.Mutex
	byRack map[string][]resource.FoundBMC
	left   map[string]int // found and left out, by rack
}

func newFoundBook() *foundBook {
	return &foundBook{byRack: map[string][]resource.FoundBMC{}, left: map[string]int{}}
}

// put takes what a report that was accepted says. Only shard 0 says it, and no more
// than MaxFound of it count. It reports whether that is another thing than before.
func (b *foundBook) put(r message.Report) (news bool) {
	if r.Shard != 0 {
		return false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	found := r.Found[:min(len(r.Found), resource.MaxFound)]
	news = !slices.EqualFunc(b.byRack[r.Rack], found, func(a, b resource.FoundBMC) bool {
		a.At, b.At = time.Time{}, time.Time{} // when it was seen last is no news
		return a == b
	})
	b.byRack[r.Rack] = found
	return news
}

// drop forgets what was found in a rack, because it has no agent any more.
func (b *foundBook) drop(rack string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.byRack, rack)
	delete(b.left, rack)
}

// of is what was found in a rack; it must not be changed.
func (b *foundBook) of(rack string) []resource.FoundBMC {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.byRack[rack]
}

// leave notes how many a pass left out.
func (b *foundBook) leave(rack string, n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.left[rack] = n
}

func (b *foundBook) leftOut(rack string) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.left[rack]
}

// see is the newest record of a BMC, by its MAC address or where it is; nil if its
// agent has none.
func (b *foundBook) see(bmc *resource.BMC) (out *resource.FoundBMC) {
	mac, at := bmc.MAC(), resource.HostPort(bmc.Reach())
	for _, f := range b.of(bmc.Spec.RackRef.Name) {
		f, ok := f.Clean()
		same := mac != "" && f.MAC == mac || (mac == "" || f.MAC == "") && resource.HostPort(f.Address) == at
		if ok && same && (out == nil || out.At.Before(f.At)) {
			out = &f
		}
	}
	return out
}

// Found keeps which BMCs a report names.
func (c *Room) Found(r message.Report) bool { return c.found.put(r) }
