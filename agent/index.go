package agent

import (
	"slices"
	"sync"

	"rackboot/agent/store"
	"rackboot/protocol"
	"rackboot/protocol/decide"
)

// index is the in-memory answer to "which server is this, and may it boot". It
// is rebuilt from the store when a document is applied, and follows each step.
type index struct {
	mu       sync.RWMutex
	synced   bool
	segments map[string]protocol.SegmentIntent
	byMAC    map[string][]string // MAC → servers
	byUUID   map[string][]string
	byToken  map[string]string
	servers  map[string]indexed
}

type indexed struct {
	architecture string
	segment      string
	missing      bool
	held         bool
	attempt      *decide.Attempt
}

func newIndex() *index {
	return &index{servers: map[string]indexed{}, byToken: map[string]string{}}
}

// rebuild replaces the index by what the store says. Attempts of servers that
// are in it already stay: the steps that follow them may be newer than o.
func (x *index) rebuild(o store.Overview) {
	segments := map[string]protocol.SegmentIntent{}
	for _, s := range o.Rack.Segments {
		segments[s.Name] = s
	}
	byMAC, byUUID, servers := map[string][]string{}, map[string][]string{}, map[string]indexed{}
	for _, in := range o.Intents {
		servers[in.Server] = indexed{architecture: in.Architecture, segment: in.Segment, missing: in.Missing}
		for _, m := range append([]string{in.BootMAC}, in.MACs...) {
			if !slices.Contains(byMAC[m], in.Server) {
				byMAC[m] = append(byMAC[m], in.Server)
			}
		}
		for _, u := range []string{in.UUID, swapped(in.UUID)} {
			if u != "" && !slices.Contains(byUUID[u], in.Server) {
				byUUID[u] = append(byUUID[u], in.Server)
			}
		}
	}
	for _, h := range o.Holds {
		e := servers[h.Server]
		e.held = true
		servers[h.Server] = e
	}
	for _, r := range o.Records {
		e, ok := servers[r.Server]
		if !ok {
			continue
		}
		e.attempt = r.Attempt
		servers[r.Server] = e
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	byToken := map[string]string{}
	for name, e := range servers {
		if old, ok := x.servers[name]; ok {
			e.attempt = old.attempt
			servers[name] = e
		}
		if e.attempt != nil {
			byToken[e.attempt.Token] = name
		}
	}
	x.synced, x.segments, x.byMAC, x.byUUID, x.byToken, x.servers = o.Synced, segments, byMAC, byUUID, byToken, servers
}

// swapped is a UUID with the first three groups in the other byte order: SMBIOS
// stores them little-endian, and firmware sends them either way in option 97.
func swapped(uuid string) string {
	b := []byte(uuid)
	if len(b) != 36 {
		return ""
	}
	for _, g := range [][2]int{{0, 8}, {9, 13}, {14, 18}} {
		for i, j := g[0], g[1]-2; i < j; i, j = i+2, j-2 {
			b[i], b[i+1], b[j], b[j+1] = b[j], b[j+1], b[i], b[i+1]
		}
	}
	return string(b)
}

// hold takes over whether a hold lies on a server.
func (x *index) hold(server string, held bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if e, there := x.servers[server]; there || held {
		e.held = held
		x.servers[server] = e
	}
}

// follow takes over what a step changed. Whether a server is held is not its
// business: a step that read the store before a hold was enforced would open the
// gate again behind it.
func (x *index) follow(server string, a *decide.Attempt) {
	x.mu.Lock()
	defer x.mu.Unlock()
	e := x.servers[server]
	if e.attempt != nil && (a == nil || a.Token != e.attempt.Token) {
		delete(x.byToken, e.attempt.Token)
	}
	e.attempt = a
	x.servers[server] = e
	if a != nil {
		x.byToken[a.Token] = server
	}
}

// Segment implements netboot.Resolver.
func (x *index) Segment(name string) (protocol.SegmentIntent, bool) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	s, ok := x.segments[name]
	return s, ok && x.synced
}

// Resolve implements netboot.Resolver: which server is it, then one decision.
// A MAC address names a server; a UUID only where no MAC does. More than one
// match is refused rather than guessed.
func (x *index) Resolve(c protocol.BootClient) protocol.BootAnswer {
	x.mu.RLock()
	defer x.mu.RUnlock()
	names := x.byMAC[c.MAC]
	if len(names) == 0 && c.UUID != "" {
		names = x.byUUID[c.UUID]
	}
	s := decide.ServeSnapshot{Synced: x.synced}
	if len(names) > 0 {
		e := x.servers[names[0]]
		s.Server, s.Ambiguous = names[0], len(names) > 1
		s.Held, s.Missing, s.Attempt, s.Architecture = e.held, e.missing, e.attempt, e.architecture
	}
	return decide.Serve(s, c)
}

// server finds the server of a boot client for its evidence.
func (x *index) server(c protocol.BootClient) (string, bool) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	names := x.byMAC[c.MAC]
	if len(names) == 0 && c.UUID != "" {
		names = x.byUUID[c.UUID]
	}
	if len(names) != 1 {
		return "", false
	}
	return names[0], true
}

// token finds the server and attempt of a token.
func (x *index) token(token string) (server string, e indexed, ok bool) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	server, ok = x.byToken[token]
	return server, x.servers[server], ok
}
