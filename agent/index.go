package agent

import (
	"log/slog"
	"sync"

	"rackboot/agent/boot"
	"rackboot/agent/discover"
	"rackboot/agent/files"
	"rackboot/agent/store"
)

// index is what the boot servers, the finder and the files serve from, as it was last read
// from the store.
type index struct {
	servers *store.Servers
	boot    *boot.Room
	finder  *discover.Finder
	files   *files.Room
	log     *slog.Logger
	// mirrored is what is served of package repositories.
	mirrored files.Mirrored

	mu     sync.Mutex // while it is made: the last one made is of the last that was read
	missed bool       // what was to be read could not be; guarded by mu
}

// read reads the boot servers' index from the store. Documents and people at the
// socket may come at once.
func (x *index) read() error {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.rebuild()
}

// hold is read where only the holds of some servers have changed, which does not
// grow with the rack. What an earlier call could not read is read now.
func (x *index) hold(servers []string) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.missed {
		return x.rebuild()
	}
	for _, name := range servers {
		held, err := x.servers.Held(name)
		if err != nil {
			x.missed = true
			return err
		}
		x.boot.Hold(name, held)
	}
	return nil
}

// rebuild needs x.mu.
func (x *index) rebuild() error {
	x.missed = true
	o, err := x.servers.Overview()
	if err != nil {
		return err
	}
	if x.boot.Rebuild(o) {
		x.log.Info("has the hub's documents, and does what they say", "servers", len(o.Intents), "segments", len(o.Rack.Segments))
	}
	served := x.boot.Served(o)
	x.finder.Segments(served)
	x.boot.Tell(served)
	x.files.Keep(o)
	if o.Standby { // so that a failover boots at once
		x.files.Foresee(o)
	}
	x.missed = false
	return nil
}
