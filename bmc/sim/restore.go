package sim

import "sync"

// restore is what a system does when mains power returns. Its methods are safe for
// concurrent use.
type restore struct {
	manner *manner
	bios   *bios

	mu      sync.Mutex
	written RestorePolicy // empty: never
}

// set is a write of PowerRestorePolicy.
func (r *restore) set(p RestorePolicy) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.written = p
}

// policy is the one in force.
func (r *restore) policy() RestorePolicy {
	r.mu.Lock()
	written := r.written
	r.mu.Unlock()
	p := r.manner.now()
	if written != "" {
		return written
	}
	if name := p.Power.RestoreAttribute; name != "" {
		switch r.bios.attribute(name) {
		case "Last State", "Last":
			return RestoreLastState
		case "Power On", "On":
			return RestoreAlwaysOn
		default:
			return RestoreAlwaysOff
		}
	}
	if p.Restore == "" {
		return RestoreAlwaysOff
	}
	return p.Restore
}
