package guard

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"time"

	"rackboot/protocol"
	"rackboot/state/slots"
)

// slotsName is of the files of the guard set in the agent's folder.
const slotsName = "guard"

// slotSize is for how large a guard set room is taken at first.
const slotSize = 64 << 10

// keep has the guard set, in memory and in the slots. A disk that hangs makes nobody wait who only
// reads the set.
type keep struct {
	cfg     *Config
	writing sync.Mutex  // held by the one who changes the set or uses the slots
	pair    *slots.Pair // nil while it cannot be opened
	damaged bool        // there was a guard set, and no slot is whole
	written Set         // what is in the slots for certain

	mu      sync.Mutex
	set     Set
	has     bool
	dirty   bool // the slots have less than they might, of no hurry
	news    chan struct{}
	trouble string // why the set would not survive the process; empty if it does
}

func openKeep(cfg *Config) *keep {
	k := &keep{cfg: cfg, news: make(chan struct{}, 1), set: Set{Version: setVersion, Agent: cfg.Agent}.clone()}
	if k.open() != nil {
		return k
	}
	raw, ok := []byte(nil), false
	if k.pair != nil {
		raw, ok = k.pair.Read()
	}
	if !ok {
		return k
	}
	s, err := Parse(raw)
	switch {
	case err != nil:
		k.damaged = true
		k.say(err)
	case s.Agent == cfg.Agent: // else it is of an agent that was before this one in the folder
		k.written, k.set, k.has = s.clone(), s.clone(), true
	}
	return k
}

// say notes why the set is not in the slots; nil is that it is.
func (k *keep) say(err error) {
	trouble := ""
	switch {
	case err != nil:
		trouble = protocol.Advice(err)
	case k.pair != nil && !k.pair.InPlace():
		trouble = "the file system of " + k.cfg.Dir + " does not write in place, and may need space for each write"
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.trouble = trouble
}

// open opens the slots. They may not be there to be opened: then the set is in memory.
func (k *keep) open() error {
	if k.cfg.Dir == "" || k.pair != nil {
		return nil
	}
	p, err := slots.Open(slots.Config{Dir: k.cfg.Dir, Name: slotsName, Size: slotSize, Crash: k.cfg.Crash})
	k.damaged = errors.Is(err, slots.ErrDamaged)
	if err == nil {
		k.pair = p
	}
	k.say(err)
	return err
}

// discard takes the slots away, so that new ones are made.
func (k *keep) discard() error {
	if k.cfg.Dir == "" {
		return nil
	}
	var errs []error
	if k.pair != nil {
		errs = append(errs, k.pair.Close())
		k.pair = nil
	}
	for _, n := range []string{".0", ".1"} {
		if err := os.Remove(filepath.Join(k.cfg.Dir, slotsName+n)); !errors.Is(err, os.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	k.damaged, k.written = false, Set{}
	return errors.Join(errs...)
}

// write puts the set into the slots.
func (k *keep) write(s Set) error {
	if k.cfg.Dir == "" {
		return nil
	}
	err := k.open()
	if err == nil {
		err = k.put(s)
	}
	if k.say(err); err != nil {
		k.cfg.Logger.Warn("the guard set could not be written", "err", err)
	}
	return err
}

func (k *keep) put(s Set) error {
	raw, err := s.encode()
	if err != nil {
		return err
	}
	if have, ok := k.pair.Read(); !ok || !bytes.Equal(have, raw) {
		if err := k.pair.Write(raw); err != nil {
			return err
		}
	}
	k.written = s
	k.mu.Lock()
	defer k.mu.Unlock()
	k.dirty = false
	return nil
}

// become replaces the set in memory.
func (k *keep) become(s Set, has, dirty bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.set, k.has, k.dirty = s, has, dirty
}

func (k *keep) now() (s Set, has, dirty bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.set, k.has, k.dirty
}

// Ahead is called within a transaction of the store, before it is on disk: what it adds is in
// the slots when Ahead returns, if they can be written. Where they cannot, the set is in memory:
// that a hold is enforced does not wait for them.
func (g *Guard) Ahead(c Change) {
	k := g.keep
	k.writing.Lock()
	defer k.writing.Unlock()
	if g.Frozen() { // there is no store that it goes before
		c.Early = nil
	}
	was, _, dirty := k.now()
	next := was.ahead(c)
	k.become(next, true, dirty)
	if !k.written.covers(next) || len(c.Early) > 0 {
		_ = k.write(next) // Volatile says so
	}
	g.cfg.Crash.At(PointAhead)
}

// The crash points of the guard set.
const (
	PointAhead  = "guard.ahead"  // it has what a transaction adds that is not in the store
	PointBehind = "guard.behind" // the store has a release that it does not have
)

// Behind is called once the transaction is on disk.
func (g *Guard) Behind(c Change) {
	k := g.keep
	k.writing.Lock()
	defer k.writing.Unlock()
	was, _, _ := k.now()
	next := was.behind(c)
	k.become(next, true, true)
	g.cfg.Crash.At(PointBehind)
	if c.AtOnce || was.loses(next) {
		_ = k.write(next) // Volatile says so
		return
	}
	select {
	case k.news <- struct{}{}:
	default:
	}
}

// loses says whether next has fewer holds.
func (s Set) loses(next Set) bool {
	for name, was := range s.Servers {
		for id := range was.Holds {
			if _, stays := next.Servers[name].Holds[id]; !stays {
				return true
			}
		}
	}
	return false
}

// Settle replaces the guard set by what the store has, at the start.
func (g *Guard) Settle(s Set) {
	k := g.keep
	k.writing.Lock()
	defer k.writing.Unlock()
	if k.damaged {
		if err := k.discard(); err != nil {
			k.say(err)
		}
	}
	s = s.clone()
	s.Agent, s.Version = g.cfg.Agent, setVersion
	k.become(s, true, false)
	_ = k.write(s) // Volatile says so
}

// Carry has the guard set go over to a new store: the one that it was of is lost, and somebody has
// said so. Its holds are coming, so that the new store enforces them: that a store is lost releases
// nothing.
func (g *Guard) Carry() error {
	k := g.keep
	k.writing.Lock()
	defer k.writing.Unlock()
	was, _, _ := k.now()
	if err := k.discard(); err != nil {
		return err
	}
	next := was.carried(g.cfg.Agent)
	k.become(next, len(next.Servers) > 0, false)
	if len(next.Servers) == 0 {
		return k.open()
	}
	return k.write(next)
}

// Set returns the guard set; false if there is none. Nobody changes it.
func (g *Guard) Set() (Set, bool) {
	s, has, _ := g.keep.now()
	return s, has
}

// Damaged reports whether there was a guard set that cannot be read.
func (g *Guard) Damaged() bool {
	g.keep.writing.Lock()
	defer g.keep.writing.Unlock()
	return g.keep.damaged
}

// Coming are the holds of a server that are not known to be in the store, as the store would keep
// them. They are guarded, and were not acknowledged.
func (g *Guard) Coming(server string) (values [][]byte) {
	s, _, _ := g.keep.now()
	for _, id := range sorted(s.Servers[server].Holds) {
		if h := s.Servers[server].Holds[id]; h.Coming {
			values = append(values, h.Value)
		}
	}
	return values
}

// Newcomers are the servers with holds that are coming.
func (g *Guard) Newcomers() (servers []string) {
	s, _, _ := g.keep.now()
	for _, name := range sorted(s.Servers) {
		if len(g.Coming(name)) > 0 {
			servers = append(servers, name)
		}
	}
	return servers
}

// Proved are the holds under which a server was proved off, as far as the guard set knows.
func (g *Guard) Proved(server string) []string {
	s, _, _ := g.keep.now()
	return s.Servers[server].Proved
}

// Volatile says why the guard set would not survive the process; empty if it would.
func (g *Guard) Volatile() string {
	g.keep.mu.Lock()
	defer g.keep.mu.Unlock()
	return g.keep.trouble
}

// Dirty tells that there is something to Flush, FlushAfter from now.
func (g *Guard) Dirty() <-chan struct{} { return g.keep.news }

// FlushAfter is how long what is of no hurry may lie in memory only.
const FlushAfter = time.Second

// Flush writes what is of no hurry.
func (g *Guard) Flush() {
	k := g.keep
	k.writing.Lock()
	defer k.writing.Unlock()
	if s, has, dirty := k.now(); has && dirty && !g.On() {
		_ = k.write(s) // Volatile says so
	}
}

// Close closes the slots.
func (g *Guard) Close() error {
	g.keep.writing.Lock()
	defer g.keep.writing.Unlock()
	if g.keep.pair == nil {
		return nil
	}
	return g.keep.pair.Close()
}
