package leasing

import (
	"log/slog"
	"net/netip"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"rackboot/netboot"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// Config is what Answers need.
type Config struct {
	Segment  string
	V6       bool
	Resolver netboot.Resolver
	Evidence netboot.Evidence
	Trace    netboot.Trace          // nil is told nothing
	Notify   func(netboot.Notice)   // nil is told nothing
	Loops    *prometheus.CounterVec // refused boots, by class
	Spoofed  *prometheus.CounterVec // addresses that another machine uses, by whose they are
	Logger   *slog.Logger
	Clock    func() time.Time
}

// Answers say what clients are to get. The resolver is asked once in an exchange, and a
// boot that is offered without end is refused. They are safe for concurrent use.
type Answers struct {
	cfg    Config
	ours   *frozen
	guests *frozen // clients that are no machines of ours
	loops  *loops
	spoofs spoofs
	// oursSpoofed is the same for the agent's own addresses: who makes up others hides none of
	// these.
	oursSpoofed spoofs
}

// NewAnswers makes those of a segment.
func NewAnswers(cfg Config) *Answers {
	return &Answers{cfg: cfg, ours: newFrozen(freezeMax), guests: newFrozen(freezeGuests), loops: newLoops()}
}

// Question is a client's message, as far as its answer depends on it.
type Question struct {
	Client protocol.BootClient
	ID     string // what the server knows the client by
	// First says that the message begins an exchange, unless it repeats the one that did.
	First bool
	// Information says that the client asks for no address, which is an exchange of its own.
	Information bool

	told protocol.BootAnswer
	// who is the client with the address that it has or is offered; nil before the resolver
	// was asked.
	who *protocol.BootClient
}

// asker is the client of a question, for [decide].
type asker struct {
	answers *Answers
	*Question
}

func (a asker) Resolve(byUUID bool) (protocol.BootAnswer, *protocol.BootClient) {
	a.told, a.who = a.answers.resolve(a.Question, byUUID)
	return a.told, a.who
}

func (a asker) Seen() *protocol.BootClient {
	who := a.Client
	return &who
}

// Decide finds the answer for a client by the role of the segment, and the client to
// record as seen, nil if it is none.
func (as *Answers) Decide(seg resource.SegmentIntent, q *Question) (protocol.BootAnswer, *protocol.BootClient) {
	a, who, known := decide(seg, q.Client.MAC, asker{as, q})
	if !known {
		as.cfg.Logger.Error("segment has a role that this agent does not know", "role", seg.Role)
	}
	return a, who
}

// resolve asks who the client is and freezes the answer.
func (as *Answers) resolve(q *Question, byUUID bool) (protocol.BootAnswer, *protocol.BootClient) {
	now, client := as.cfg.Clock(), q.Client
	if !byUUID {
		client.UUID = ""
	}
	key := exchange{client: q.ID, class: client.Class, information: q.Information}
	if !as.cfg.V6 {
		key.xid = client.XID
	}
	for _, f := range []*frozen{as.ours, as.guests} {
		if a, ok := f.get(key, client.XID, q.First, now); ok {
			return a, &client
		}
	}
	a := as.cfg.Resolver.Resolve(client)
	keep, other := as.ours, as.guests
	if a.Server == "" {
		keep, other = other, keep
	}
	other.forget(key) // of an exchange before this one
	switch a.Action {
	case protocol.AnswerBoot:
		a = keep.put(key, client.XID, q.First, as.unloop(q, a), now)
	case protocol.AnswerLease, protocol.AnswerRefuse:
		a = keep.put(key, client.XID, q.First, a, now)
	case protocol.AnswerSilence:
	default:
		as.cfg.Logger.Error("resolver gave no answer", "mac", client.MAC, "client", q.ID, "action", a.Action)
		a.Action = protocol.AnswerSilence
	}
	return a, &client
}

// unloop turns the answer into a refusal if its client was offered the same boot
// too often: a chain that loads itself never ends by itself. Only what begins an exchange
// counts. Repetitions within one have a frozen answer and do not; what follows in an
// exchange of its own, such as a REQUEST at port 4011, is refused with them.
func (as *Answers) unloop(q *Question, a protocol.BootAnswer) protocol.BootAnswer {
	more := 0
	if q.First {
		more = 1
	}
	n := as.loops.count(boot{client: q.ID, class: q.Client.Class, token: a.Token, file: a.File}, more, as.cfg.Clock())
	if n <= MaxOffers {
		return a
	}
	as.cfg.Loops.WithLabelValues(string(q.Client.Class)).Add(float64(more))
	if n == MaxOffers+1 && more > 0 {
		as.cfg.Logger.Warn("boot loop refused", "mac", q.Client.MAC, "server", a.Server, "class", q.Client.Class, "offers", MaxOffers)
		as.Notice(netboot.Notice{Kind: netboot.NoticeBootLoop, MAC: q.Client.MAC, Server: a.Server})
	}
	return protocol.BootAnswer{Action: protocol.AnswerRefuse, Server: a.Server, Reason: "boot loop"}
}

// Seen records a boot client with the address that it holds or is offered; nil is none.
func (as *Answers) Seen(who *protocol.BootClient, addr, remote netip.Addr) {
	if who == nil {
		return
	}
	who.Address = addr
	as.cfg.Evidence.Record(netboot.Event{Kind: protocol.EvidenceDHCP, Client: *who, Remote: remote, At: as.cfg.Clock()})
}

// Traced tells the caller what became of a message about whose client the resolver was
// asked; a nil question was not decided.
func (as *Answers) Traced(q *Question, asked, result string) {
	if as.cfg.Trace == nil || q == nil || q.who == nil {
		return
	}
	as.cfg.Trace(netboot.Exchange{
		Source: protocol.TraceDHCP, At: as.cfg.Clock(), Asked: asked, Client: *q.who, Answered: result, Decision: q.told, V6: as.cfg.V6,
	})
}

// Notice tells the caller what somebody should know.
func (as *Answers) Notice(n netboot.Notice) {
	if as.cfg.Notify != nil {
		n.Segment, n.At = as.cfg.Segment, as.cfg.Clock()
		as.cfg.Notify(n)
	}
}

// Kept counts the answers of exchanges that run: of machines of ours, and of other clients.
func (as *Answers) Kept() (ours, guests int) { return as.ours.len(), as.guests.len() }
