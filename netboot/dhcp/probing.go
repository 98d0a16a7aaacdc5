package dhcp

import "sync"

// probed is the result of a probe, the label `result`.
type probed string

const (
	probeFree    probed = "free"
	probeUsed    probed = "used"
	probeSkipped probed = "skipped"
)

// probing are the clients for whom an address is being probed. A second DISCOVER of
// one, such as another relay's copy, must not be offered what may turn out used.
type probing struct {
	mu   sync.Mutex
	macs map[string]int
}

func newProbing() *probing { return &probing{macs: make(map[string]int)} }

func (p *probing) begin(mac string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.macs[mac]++
}

func (p *probing) end(mac string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.macs[mac]--; p.macs[mac] <= 0 {
		delete(p.macs, mac)
	}
}

func (p *probing) has(mac string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.macs[mac] > 0
}
