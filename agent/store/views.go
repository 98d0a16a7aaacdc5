package store

import (
	"strings"
	"sync"
)

// views are servers' views as they are on disk, decoded: most reads of a BMC say what the one before said, and
// nothing was written between them. A view counts until something that it is made of is written. It holds
// what the rack shares with no server alone only as far as a write of that makes all views count no more.
type views struct {
	mu   sync.Mutex
	by   map[string]View
	all  uint64            // how often something was written that all views are made of
	own  map[string]uint64 // by server, how many writes there were of what only its view is made of
	open map[string]uint64 // likewise, of a transaction that goes on
	wide bool              // it writes of all
}

// stamp tells whether anything was written that a view is made of.
type stamp struct{ all, own uint64 }

// written is the stamp after one write of what only this view is made of. Nobody else has written anything between
// if it is the stamp of now.
func (s stamp) written() stamp { return stamp{s.all, s.own + 1} }

// at returns the view of a server, if there is one that counts, and the stamp of now.
func (vs *views) at(server string) (v View, at stamp, have bool) {
	vs.mu.Lock()
	defer vs.mu.Unlock()
	if !vs.wide && vs.open[server] == 0 {
		v, have = vs.by[server]
	}
	return v.apart(), stamp{vs.all, vs.own[server]}, have
}

// keep takes a view that was read since the stamp.
func (vs *views) keep(server string, v View, at stamp) {
	vs.mu.Lock()
	defer vs.mu.Unlock()
	if !vs.still(server, at) {
		return
	}
	if vs.by == nil {
		vs.by = map[string]View{}
	}
	vs.by[server] = v.apart()
}

// stand reports whether nothing was written since the stamp.
func (vs *views) stand(server string, at stamp) bool {
	vs.mu.Lock()
	defer vs.mu.Unlock()
	return vs.still(server, at)
}

// still needs vs.mu.
func (vs *views) still(server string, at stamp) bool {
	return !vs.wide && vs.open[server] == 0 && at == stamp{vs.all, vs.own[server]}
}

// touch notes that the transaction that goes on writes a key. There is one at a time.
func (vs *views) touch(key string) {
	server, wide := viewed(key)
	if !wide && server == "" {
		return
	}
	vs.mu.Lock()
	defer vs.mu.Unlock()
	if wide {
		vs.wide = true
		return
	}
	if vs.open == nil {
		vs.open = map[string]uint64{}
	}
	vs.open[server]++
}

// over forgets the views of what a transaction wrote that has ended, whether or not it is on disk.
func (vs *views) over() {
	vs.mu.Lock()
	defer vs.mu.Unlock()
	if vs.wide {
		vs.wide, vs.by = false, nil
		vs.all++
	}
	for server, writes := range vs.open {
		if vs.own == nil {
			vs.own = map[string]uint64{}
		}
		delete(vs.by, server)
		vs.own[server] += writes
	}
	clear(vs.open)
}

// viewed says whose view a key is of: that of one server, or those of all; of nobody's if neither.
func viewed(key string) (server string, all bool) {
	switch key {
	case keyIncarnation, keyEnded, keyReplaced, keyStandby, keyAside, keyRack, keyFloor:
		return "", true
	}
	for _, prefix := range []string{keyReleased, keyApproval, keyForced} {
		if strings.HasPrefix(key, prefix) {
			return "", true
		}
	}
	for _, prefix := range []string{keyIntents, keyHolds, keyRecords, keyRequests, keyAsked} {
		if of, is := strings.CutPrefix(key, prefix); is {
			server, _, _ = strings.Cut(of, "/")
			return server, false
		}
	}
	return "", false
}

// apart is the view with an intent of its own, which who has the view may change. What lies below it, and
// in the record, is shared, and nobody changes it in place.
func (v View) apart() View {
	if v.Intent != nil {
		in := *v.Intent
		v.Intent = &in
	}
	return v
}
