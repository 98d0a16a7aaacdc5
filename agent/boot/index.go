package boot

import (
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"rackboot/agent/store"
	"rackboot/netboot"
	"rackboot/protocol"
	"rackboot/protocol/decide"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
	"rackboot/state"
)

// Index is the in-memory answer to "which server is this, and may it boot". It
// is rebuilt from the store when a document is applied, and follows each step.
type Index struct {
	mu       sync.RWMutex
	synced   bool
	aside    bool // another agent has the same disk
	segments map[string]resource.SegmentIntent
	services map[string]netboot.Service
	byMAC    map[string][]string // MAC → servers
	byUUID   map[string][]string
	byToken  map[string]string
	servers  map[string]indexed
	windows  map[string]bool // servers whose discovery's window is open
	// Of stop images: the rack's rule, their tokens, and what offers one.
	safeStop *message.SafeStopIntent
	byStop   map[string]string
	stopKey  string
	clock    state.Clock
	offer    func(e indexed, token string, class protocol.ClientClass) *decide.StopOffer

	strangers strangers
	claimants claimants
	guard     Guard // nil is never
	// ambiguous is told of a machine that several servers could be; nil is nobody.
	ambiguous func(c protocol.BootClient, servers []string)
	// claimed is told of boot clients that say they are a server; nil is nobody.
	claimed func(server string, e decide.Event)
}

type indexed struct {
	architecture string    // that somebody knows; empty takes what firmware says
	heard        *heardCPU // what its firmware said of itself
	segment      string
	missing      bool
	held         bool
	uuid         string // that somebody gave; empty takes the BMC's
	port         string // of a relay, that a reservation gives
	attempt      *decide.Attempt
	medium       *decide.Medium
	bmc          string // address
	orders       decide.Orders
	unexpected   bool // it came on without an order
	start        decide.Start
	pace         decide.Pace
	uuidRead     string // that the BMC shows
	stop         string // token of its stop image, which never changes
}

// follow takes over what a server's record says.
func (e *indexed) follow(s store.Standing) {
	e.attempt, e.medium, e.orders, e.unexpected = s.Attempt, s.Medium, s.Orders, s.Unexpected
	e.start, e.pace, e.uuidRead = s.Start, s.Pace, s.UUID
}

// standing is what follow took over.
func (e *indexed) standing() store.Standing {
	return store.Standing{
		Attempt: e.attempt, Medium: e.medium, Orders: e.orders, Unexpected: e.unexpected, Start: e.start, Pace: e.pace, UUID: e.uuidRead,
	}
}

// NewIndex makes an index that has nothing.
func NewIndex() *Index {
	return &Index{servers: map[string]indexed{}, byToken: map[string]string{}, windows: map[string]bool{}, clock: time.Now}
}

// rebuild replaces the index by what the store says. Attempts of servers that
// are in it already stay: the steps that follow them may be newer than o. begins says that
// the agent has synced, and the index did not say so.
func (x *Index) rebuild(o store.Overview) (begins bool) {
	segments, services := map[string]resource.SegmentIntent{}, map[string]netboot.Service{}
	for _, s := range o.Rack.Segments {
		service := serviceOf(s.Service)
		service.Machines = machines(s.Name, s.Service, o.Intents)
		segments[s.Name], services[s.Name] = s, service
	}
	ports := portsOf(o.Rack.Segments)
	byMAC, byUUID, servers := map[string][]string{}, map[string][]string{}, map[string]indexed{}
	for _, in := range o.Intents {
		servers[in.Server] = indexed{architecture: in.Architecture, segment: in.Segment, missing: in.Missing, bmc: in.BMC.Address, uuid: in.UUID, port: ports[in.BootMAC]}
		for _, m := range append([]string{in.BootMAC}, in.MACs...) {
			if m != "" && !slices.Contains(byMAC[m], in.Server) {
				byMAC[m] = append(byMAC[m], in.Server)
			}
		}
		for _, u := range []string{in.UUID, protocol.SwapUUID(in.UUID)} {
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
		e.follow(r)
		servers[r.Server] = e
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	byToken, byStop, windows := map[string]string{}, map[string]string{}, map[string]bool{}
	for name, e := range servers {
		if old, ok := x.servers[name]; ok {
			e.follow(old.standing())
			e.stop, e.heard = old.stop, old.heard
		}
		if e.heard == nil {
			e.heard = new(heardCPU)
		}
		if e.stop == "" {
			e.stop = stopToken(x.stopKey, name)
		}
		servers[name] = e
		byStop[e.stop] = name
		for _, token := range e.attempt.Tokens() {
			byToken[token] = name
		}
		if e.medium != nil {
			byToken[e.medium.Token] = name
		}
		if e.attempt.Discovers() {
			windows[name] = true
		}
	}
	begins = o.Synced && !x.synced
	x.aside = o.Aside
	x.synced, x.segments, x.services, x.safeStop, x.byStop = o.Synced, segments, services, o.Rack.SafeStop, byStop
	x.byMAC, x.byUUID, x.byToken, x.servers, x.windows = byMAC, byUUID, byToken, servers, windows
	return begins
}

// machines is how many servers may need an address of the segment's pool: those without one
// that is reserved for them.
func machines(segment string, in *resource.ServiceIntent, servers []store.Intent) (n int) {
	for _, s := range servers {
		reserved := in != nil && slices.ContainsFunc(in.Reservations, func(r resource.Reservation) bool {
			return r.MAC != "" && strings.EqualFold(r.MAC, s.BootMAC)
		})
		if s.Segment == segment && !s.Missing && !reserved {
			n++
		}
	}
	return n
}

// serviceOf is what a segment's DHCP server needs. Reservations that contradict each
// other, which no hub sends, are none: nobody must get another's address.
func serviceOf(in *resource.ServiceIntent) (out netboot.Service) {
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

// portsOf are the ports of relays that reservations name beside a MAC address.
func portsOf(segments []resource.SegmentIntent) map[string]string {
	ports := map[string]string{}
	for _, s := range segments {
		if s.Service == nil {
			continue
		}
		for _, r := range s.Service.Reservations {
			if r.MAC != "" && r.Port != "" {
				ports[strings.ToLower(r.MAC)] = r.Port
			}
		}
	}
	return ports
}

// hold takes over whether a hold lies on a server.
func (x *Index) hold(server string, held bool) {
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
func (x *Index) follow(server string, r decide.Record) {
	a, m := r.Attempt, r.Residue.Medium()
	x.mu.Lock()
	defer x.mu.Unlock()
	e := x.servers[server]
	for _, token := range e.attempt.Tokens() {
		delete(x.byToken, token)
	}
	if e.medium != nil && (m == nil || m.Token != e.medium.Token) {
		delete(x.byToken, e.medium.Token)
	}
	e.follow(store.StandingOf(r))
	x.servers[server] = e
	for _, token := range a.Tokens() {
		x.byToken[token] = server
	}
	if m != nil {
		x.byToken[m.Token] = server
	}
	if delete(x.windows, server); a.Discovers() {
		x.windows[server] = true
	}
}

// Segment implements netboot.Resolver.
func (x *Index) Segment(name string) (resource.SegmentIntent, bool) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	s, ok := x.segments[name]
	return s, ok && x.synced
}

// Service implements netboot.Servicer.
func (x *Index) Service(segment string) netboot.Service {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.services[segment]
}

// Resolve implements netboot.Resolver: which server is it, then one decision. More
// than one match is refused rather than guessed.
func (x *Index) Resolve(c protocol.BootClient) protocol.BootAnswer {
	if x.guards() && c.Class != protocol.ClassNone {
		return protocol.BootAnswer{Action: protocol.AnswerSilence, Reason: "guard mode: an answer could not be recorded"}
	}
	d := x.resolve(c)
	if len(d.several) > 0 && x.ambiguous != nil {
		x.ambiguous(c, d.several)
	}
	if d.claim != nil && x.claimed != nil {
		x.claimed(d.answer.Server, *d.claim)
	}
	return d.answer
}

func (x *Index) guards() bool { return x.guard != nil && x.guard.On() }

// resolved is the answer to a boot client, with what others are to be told of it.
type resolved struct {
	answer  protocol.BootAnswer
	several []string      // servers that an unknown machine was refused for
	claim   *decide.Event // who says that it is the server, where that is news
}

func (x *Index) resolve(c protocol.BootClient) (d resolved) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	names := x.fitting(c)
	s := decide.ServeSnapshot{Synced: x.synced, Aside: x.aside}
	if len(names) == 0 && x.synced && !x.aside {
		var name string
		if name, d.several = x.strange(c); name != "" {
			names = []string{name}
		}
		if len(d.several) > 0 {
			d.answer = protocol.BootAnswer{Action: protocol.AnswerRefuse, Reason: "an unknown machine while several servers are being discovered"}
			return d
		}
	}
	var e indexed
	if len(names) > 0 {
		e = x.servers[names[0]]
		s.Server, s.Ambiguous = names[0], len(names) > 1
		if len(names) == 1 {
			x.hear(names[0], c)
		}
		s.Held, s.Missing, s.Attempt, s.Architecture = e.held, e.missing, e.attempt, e.cpu()
		s.Ordered, s.Early = e.orders.Explain(x.clock()), e.start.Early(x.clock())
		if wantsStop(x.safeStop) && x.offer != nil {
			s.Stop = x.offer(e, stopToken(x.stopKey, s.Server), c.Class)
		}
	}
	is := x.claimants.claim(e, s, c, x.clock())
	s.Claimed = is.Claimed
	d.answer = decide.Serve(s, c)
	if is.Claimed == decide.ClaimedFirst && d.answer.Token == "" {
		return d // it was not told what to boot
	}
	if x.claimants.news(s.Server, is) {
		d.claim = &is
	}
	return d
}

// fitting are the servers that a client may be: a MAC address names a server; a UUID
// only where no MAC does; and where neither does, the machine may have been answered as
// a server's that is being discovered. It needs x.mu.
func (x *Index) fitting(c protocol.BootClient) []string {
	if names := x.byMAC[c.MAC]; len(names) > 0 {
		return names
	}
	if names := x.byUUID[c.UUID]; c.UUID != "" && len(names) > 0 {
		return names
	}
	if t := x.strangers.of(c.MAC); x.lasts(t) {
		return []string{t.server}
	}
	return nil
}

// server finds the server of a boot client for its evidence.
func (x *Index) server(c protocol.BootClient) (string, bool) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	names := x.fitting(c)
	if len(names) != 1 {
		return "", false
	}
	return names[0], true
}

// attemptOf is the last attempt of the one server that a client is, or nil.
func (x *Index) attemptOf(c protocol.BootClient) (server string, a *decide.Attempt) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	names := x.fitting(c)
	if len(names) != 1 {
		return "", nil
	}
	return names[0], x.servers[names[0]].attempt
}

// tokenOf is the token of the open network boot of the one server that a client is.
func (x *Index) tokenOf(c protocol.BootClient) (token string, ok bool) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	names := x.fitting(c)
	if len(names) != 1 {
		return "", false
	}
	a := x.servers[names[0]].attempt
	if !a.Open() || !a.Network() {
		return "", false
	}
	return a.Token, true
}

// Serves implements files.Boots.
func (x *Index) Serves(server, generation string) bool {
	x.mu.RLock()
	defer x.mu.RUnlock()
	a := x.servers[server].attempt
	return a.Open() && a.Order.Chain != nil && a.Order.Chain.View == generation
}

// stopOf is the token of the stop image of the one server that a client is.
func (x *Index) stopOf(c protocol.BootClient) (token string, ok bool) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	names := x.fitting(c)
	if len(names) != 1 || !wantsStop(x.safeStop) {
		return "", false
	}
	return stopToken(x.stopKey, names[0]), true
}

// stop finds the server of a stop image's token.
func (x *Index) stop(token string) (server string, e indexed, ok bool) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	server, ok = x.byStop[token]
	return server, x.servers[server], ok && wantsStop(x.safeStop) && !x.guards()
}

// powerOffAfter is how long stop images wait; 0 is for ever.
func (x *Index) powerOffAfter() time.Duration {
	x.mu.RLock()
	defer x.mu.RUnlock()
	if x.safeStop == nil {
		return 0
	}
	return x.safeStop.PowerOffAfter
}

// waits says whether it matters what is heard of the server: it came on without an order.
func (x *Index) waits(server string) bool {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.servers[server].unexpected
}

// token finds the server and attempt of a token, of an attempt or of its medium.
func (x *Index) token(token string) (server string, e indexed, ok bool) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	server, ok = x.byToken[token]
	if e = x.servers[server]; ok && x.guards() {
		e.held = e.held || len(x.guard.Coming(server)) > 0
	}
	return server, e, ok
}

// served are the segments that are in force and that the agent's own file names.
func (x *Index) served(local []LocalSegment) (out []resource.SegmentIntent) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	for _, l := range local {
		if s, ok := x.segments[l.Name]; ok && x.synced {
			out = append(out, s)
		}
	}
	return out
}
