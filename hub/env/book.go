package env

import (
	"maps"
	"sync"

	"rackboot/hub/plan"
	"rackboot/protocol/resource"
)

// envBook keeps what was last found of the environment of each owner and configuration,
// so that a turn in which nothing of it changed costs no more than to see that. It is safe for
// concurrent use by turns of several units.
type envBook struct {
	mu    sync.Mutex
	units map[string]*envUnit
}

// envUnit is what the turns of one unit have found, one turn at a time.
type envUnit struct {
	shared string // EnvShared of this turn
	pages  map[string]envPage

	mu    *sync.Mutex     // the book's: others look at what is asked
	asked map[string]bool // askers of images in this turn, and in the last one
	last  map[string]bool
}

// envPage is what was found with some inputs; see plan.EnvInputs.
type envPage struct {
	inputs string
	cond   *resource.ConditionState
	used   bool // in this turn
}

func newEnvBook() *envBook { return &envBook{units: map[string]*envUnit{}} }

// of is what a unit has found.
func (b *envBook) of(unit string) *envUnit {
	b.mu.Lock()
	defer b.mu.Unlock()
	u := b.units[unit]
	if u == nil {
		u = &envUnit{mu: &b.mu, pages: map[string]envPage{}, asked: map[string]bool{}}
		b.units[unit] = u
	}
	return u
}

// begin begins a turn: what the last one did not ask for is forgotten.
func (b *envBook) begin(f plan.Fleet) {
	u := b.of(f.Of)
	for k, p := range u.pages {
		if !p.used {
			delete(u.pages, k)
			continue
		}
		p.used = false
		u.pages[k] = p
	}
	u.shared = plan.EnvShared(f.Env)
	b.mu.Lock()
	defer b.mu.Unlock()
	u.last, u.asked = u.asked, map[string]bool{}
}

// forget drops what units have found that are gone.
func (b *envBook) forget(there map[string]bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	maps.DeleteFunc(b.units, func(unit string, _ *envUnit) bool { return !there[unit] })
}

// asks reports whether any unit asks for an image.
func (b *envBook) asks(asker string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, u := range b.units {
		if u.asked[asker] || u.last[asker] {
			return true
		}
	}
	return false
}

func (u *envUnit) ask(asker string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.asked[asker] = true
}

func (u *envUnit) see(key, inputs string) (cond *resource.ConditionState, ok bool) {
	p, there := u.pages[key]
	if !there || p.inputs != inputs {
		return nil, false
	}
	p.used = true
	u.pages[key] = p
	return p.cond, true
}

func (u *envUnit) keep(key, inputs string, cond *resource.ConditionState) *resource.ConditionState {
	u.pages[key] = envPage{inputs: inputs, cond: cond, used: true}
	return cond
}
