package server

// Room makes the loops of servers, and has what they share. All methods are safe for
// concurrent use.
type Room struct {
	cfg     Config
	met     *metrics
	surveys chan struct{} // held while a board is read
	reads   budget        // that evidence asks for
	unnoted unnoted
	places  *places
}

// New makes the room. No server has a loop before Loops has begun.
func New(cfg Config) *Room {
	return &Room{cfg: cfg, met: newMetrics(cfg.Registerer), surveys: make(chan struct{}, boardsAtOnce), places: newPlaces(cfg.Registerer)}
}

// Tell reports what is on disk of a server, before any loop has read it.
func (r *Room) Tell(server string) error { return r.loop(server).steps.tell() }

// loop puts the parts of a loop together.
func (r *Room) loop(server string) *loop {
	cfg := &r.cfg
	log := cfg.Logger.With("server", server)
	l := &loop{cfg: cfg, log: log, server: server, signals: newSignals(server), reads: &r.reads, places: r.places, wakes: r.met.wakes}
	l.inbox = &inbox{}
	l.board = &board{cfg: cfg, log: log, server: server, surveys: r.surveys, signals: l.signals, inbox: l.inbox}
	l.bmc = &connection{cfg: cfg, log: log, server: server, signals: l.signals, board: l.board}
	l.images = newImages(cfg.Store.Images, log, server)
	traced := cfg.Traces.Server(server)
	l.steps = &steps{
		cfg: cfg, log: log, server: server, met: r.met, unnoted: &r.unnoted, places: r.places, signals: l.signals, inbox: l.inbox, can: &l.bmc.can, traced: traced,
		teller: &teller{cfg: cfg, log: log, server: server, images: l.images},
	}
	l.hand = &hand{cfg: cfg, log: log, server: server, met: r.met, unnoted: &r.unnoted, places: r.places, bmc: l.bmc, traced: traced}
	return l
}
