package agent

import (
	"net/netip"
	"slices"
	"sync"

	"rackboot/agent/store"
	"rackboot/netboot"
	"rackboot/protocol"
	"rackboot/protocol/decide"
)

// index is the in-memory answer to "which server is this, and may it boot". It
// is rebuilt from the store when a document is applied, and follows each step.
type index struct {
	mu       sync.RWMutex
	synced   bool
	segments map[string]protocol.SegmentIntent
	services map[string]netboot.Service
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
	segments, services := map[string]protocol.SegmentIntent{}, map[string]netboot.Service{}
	for _, s := range o.Rack.Segments {
		segments[s.Name], services[s.Name] = s, serviceOf(s.Service)
	}
	byMAC, byUUID, servers := map[string][]string{}, map[string][]string{}, map[string]indexed{}
	for _, in := range o.Intents {
		servers[in.Server] = indexed{architecture: in.Architecture, segment: in.Segment, missing: in.Missing}
		for _, m := range append([]string{in.BootMAC}, in.MACs...) {
			if !slices.Contains(byMAC[m], in.Server) {
				byMAC[m] = append(byMAC[m], in.Server)
			}
		}
		for _, u := range []string{in.UUID, netboot.SwapUUID(in.UUID)} {
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
	x.synced, x.segments, x.services = o.Synced, segments, services
	x.byMAC, x.byUUID, x.byToken, x.servers = byMAC, byUUID, byToken, servers
}

// serviceOf is what a segment's DHCP server needs. Reservations that contradict each
// other, which no hub sends, are none: nobody must get another's address.
func serviceOf(in *protocol.ServiceIntent) (out netboot.Service) {
	if in == nil {
		return out
	}
	out.Mode, out.Authoritative = in.Mode, in.Authoritative
	var list []netboot.Reservation
	for _, r := range in.Reservations {
		a, err := netip.ParseAddr(r.Address)
		if err != nil {
			return out
		}
		list = append(list, netboot.Reservation{Address: a, MAC: r.MAC, UUID: r.UUID, Port: r.Port})
	}
	out.Reservations, _ = netboot.NewReservations(list)
	return out
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

// Service implements netboot.Servicer.
func (x *index) Service(segment string) netboot.Service {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.services[segment]
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

// tokenOf is the token of the open network boot of the one server with a MAC address.
func (x *index) tokenOf(mac string) (token string, ok bool) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	names := x.byMAC[mac]
	if len(names) != 1 {
		return "", false
	}
	a := x.servers[names[0]].attempt
	if !a.Open() || !a.Network() {
		return "", false
	}
	return a.Token, true
}

// token finds the server and attempt of a token.
func (x *index) token(token string) (server string, e indexed, ok bool) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	server, ok = x.byToken[token]
	return server, x.servers[server], ok
}
