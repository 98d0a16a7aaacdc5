package broker

import (
	"log/slog"
	"sync"
	"time"
)

// rosterLogPause is the least time between two lines about connections that made room:
// how many there were is a metric.
const rosterLogPause = time.Minute

// roster bounds the MQTT connections of each certificate. The newest are served: an
// agent whose connections died unnoticed is let in at once, and its dead ones are what
// goes. It is safe for concurrent use.
type roster struct {
	log  *slog.Logger
	cut  func(id uint64) bool // ends a connection; false if it has gone
	live func(id uint64) bool
	gone func() // counts a connection that made room

	mu sync.Mutex
	by map[string][]uint64 // connections by certificate's name, oldest first

	loggedAt time.Time
}

// enter notes a new connection of a name. At most maxPerName of that name are open when
// it returns.
func (r *roster) enter(name string, id uint64) {
	r.mu.Lock()
	stay, over := admit(r.by[name], id, r.live)
	r.by[name] = stay
	say := len(over) > 0 && time.Since(r.loggedAt) >= rosterLogPause
	if say {
		r.loggedAt = time.Now()
	}
	r.mu.Unlock()
	if say {
		r.log.Warn("older connections make room for newer ones of the same certificate", "name", name, "most", maxPerName,
			"hint", "an agent has one connection: if this goes on, two processes have its certificate; rackctl rack revoke NAME refuses it")
	}
	for _, old := range over {
		if r.cut(old) {
			r.gone()
		}
	}
}

// forget drops all: the server has been started anew, and counts from 1 again.
func (r *roster) forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	clear(r.by)
}

// admit says which connections of a name stay beside a new one, oldest first, and which
// are ended for it. Those that are not live need no ending.
//
//	live before  | stay           | over
//	< maxPerName | live, new      | none
//	else         | newest of them | the oldest
func admit(have []uint64, id uint64, live func(uint64) bool) (stay, over []uint64) {
	for _, old := range have {
		if live(old) {
			stay = append(stay, old)
		}
	}
	n := max(0, len(stay)+1-maxPerName)
	return append(stay[n:len(stay):len(stay)], id), stay[:n]
}
