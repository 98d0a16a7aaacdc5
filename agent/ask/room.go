package ask

import (
	"context"
	"encoding/json"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/errgroup"

	"rackboot/agent/account"
	"rackboot/bmc"
	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
	"rackboot/state"
)

// Questions: how many are answered at once, wait, take how long at most, and
// how long the same one is not answered again, if it is of the last asksKnown.
const (
	asksAtOnce  = 2
	asksWaiting = 16
	askTimeout  = 3 * time.Minute
	askBlind    = time.Minute // while the hub's time is not known
	askRepeat   = 10 * time.Minute
	asksKnown   = 1024
	// readsAtOnce is how many servers are read for the hub at once: each waits for its BMC.
	readsAtOnce = 64
)

// askResult is what became of a question.
type askResult string

const (
	askAnswered askResult = "answered"
	askFailed   askResult = "failed"  // answered with why not
	askRefused  askResult = "refused" // answered with why not, without asking the BMC
	askExpired  askResult = "expired" // nobody waits any more
	askRepeated askResult = "repeated"
)

var askResults = []askResult{askAnswered, askFailed, askRefused, askExpired, askRepeated}

// Config is what the room is made of.
type Config struct {
	Accounts *account.Room
	// Denied are the accounts that BMCs refused to the loops of servers.
	Denied     *account.Denials
	OpenBMC    bmc.Opener
	Hub        Hub
	Traces     Traces
	Servers    Servers
	Mirror     Mirror
	Clock      state.Clock
	Logger     *slog.Logger
	Registerer prometheus.Registerer
}

// Hub is who asks.
type Hub interface {
	// Now returns the hub's time; zero while it is not known.
	Now() time.Time
	// Answer sends the answer to a question, or why there is none.
	Answer(id string, body []byte, err error)
}

// Traces are what was seen of power-ons.
type Traces interface {
	Trace(server string, serial int) (resource.Trace, error)
}

// Servers are the servers of the rack.
type Servers interface {
	// Read reads a server's BMC now, by its loop.
	Read(ctx context.Context, server string) (resource.ServerRead, error)
}

// Mirror is what the agent has of package repositories.
type Mirror interface {
	// MirrorStatus says what there is. It asks no repository.
	MirrorStatus() (resource.MirrorStatus, error)
	// FlushMirror forgets it: all, or what is at a URL or path and below it.
	FlushMirror(ctx context.Context, what string, force bool) (resource.MirrorFlushed, error)
}

// Room answers the hub's questions, beside everything else. Make it with New, then call Run
// once. All methods are safe for concurrent use.
type Room struct {
	cfg    Config
	queue  chan question
	reads  chan question    // they wait for no probe
	denied *account.Denials // besides those of servers' loops: what may be forbidden is only the question
	asks   *prometheus.CounterVec

	mu   sync.Mutex
	seen map[string]time.Time // by id, until when
}

type question struct {
	message.Ask
	until time.Time
}

// New makes a room that was asked nothing.
func New(cfg Config) *Room {
	q := &Room{cfg: cfg, queue: make(chan question, asksWaiting), reads: make(chan question, readsAtOnce), denied: account.NewDenials(), seen: map[string]time.Time{}}
	q.asks = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "rackboot_agent_asks_total", Help: "Questions of the hub, by what became of them.",
	}, []string{"result"})
	for _, r := range askResults {
		q.asks.WithLabelValues(string(r))
	}
	cfg.Registerer.MustRegister(q.asks)
	return q
}

func (q *Room) count(r askResult) { q.asks.WithLabelValues(string(r)).Inc() }

// Take takes a question of the hub. It does not wait.
func (q *Room) Take(m message.Ask) {
	const op = "take a question"
	now := q.cfg.Clock()
	known := q.note(m.ID, now)
	until := now.Add(askBlind)
	hub := q.cfg.Hub.Now()
	if !hub.IsZero() {
		until = now.Add(min(m.NotAfter.Sub(hub), askTimeout))
	}
	var err error
	switch {
	case known:
		q.count(askRepeated)
		return
	case !until.After(now):
		q.count(askExpired)
		return
	case !slices.Contains(message.AskKinds(), m.Kind):
		err = protocol.Errorf(protocol.CodeUnsupported, op, "%.40q is no question that this agent knows", m.Kind).WithHint("upgrade the agent")
	case m.Kind == message.AskFlush && hub.IsZero(): // it may be an old one that somebody repeats
		err = protocol.Errorf(protocol.CodeUnavailable, op, "the hub's time is not known yet, nor how old this is").WithHint("ask again in a moment")
	case ofServer(m.Kind) && m.Server == "":
		err = protocol.Errorf(protocol.CodeInvalid, op, "the name of a server is needed")
	case ofBMC(m.Kind) && (m.BMC.Address == "" || resource.LocalOf(m.BMC.CredentialsRef) == "" && resource.SecretOf(m.BMC.CredentialsRef) == ""):
		err = protocol.Errorf(protocol.CodeInvalid, op, "a BMC address and credentials are needed").WithHint("accept the BMC with credentialsRef secret:NAME or local:NAME")
	default:
		queue := q.queue
		if m.Kind == message.AskRead || ofMirror(m.Kind) {
			queue = q.reads
		}
		select {
		case queue <- question{m, until}:
			return
		default:
			err = q.full(cap(queue))
		}
	}
	q.count(askRefused)
	q.cfg.Hub.Answer(m.ID, nil, err)
}

// ofServer reports whether a question is about a server, and not about a BMC.
func ofServer(kind message.AskKind) bool { return kind == message.AskTrace || kind == message.AskRead }

// ofMirror reports whether a question is about package repositories.
func ofMirror(kind message.AskKind) bool {
	return kind == message.AskMirror || kind == message.AskFlush
}

func ofBMC(kind message.AskKind) bool { return !ofServer(kind) && !ofMirror(kind) }

func (q *Room) full(waiting int) error {
	return protocol.Errorf(protocol.CodeUnavailable, "take a question", "%d questions wait already", waiting).WithHint("ask again later")
}

// note remembers an id, and says whether it was known. Of too many, the oldest is
// forgotten: that question was answered long before, and if somebody repeats it in the
// minutes for which it is good, a BMC is read once more.
func (q *Room) note(id string, now time.Time) (known bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if until, there := q.seen[id]; there && now.Before(until) {
		return true
	}
	if len(q.seen) >= asksKnown {
		oldest := ""
		for other, until := range q.seen {
			if oldest == "" || until.Before(q.seen[oldest]) {
				oldest = other
			}
		}
		delete(q.seen, oldest)
	}
	q.seen[id] = now.Add(askRepeat)
	return false
}

// Run answers until ctx ends.
func (q *Room) Run(ctx context.Context) {
	var all sync.WaitGroup
	for range asksAtOnce {
		all.Go(func() { q.serve(ctx) })
	}
	all.Go(func() { q.serveReads(ctx) })
	all.Wait()
}

func (q *Room) serve(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case m := <-q.queue:
			q.do(ctx, m)
		}
	}
}

// serveReads has servers read. None waits for another's BMC.
func (q *Room) serveReads(ctx context.Context) {
	var all errgroup.Group
	all.SetLimit(readsAtOnce)
	for {
		select {
		case <-ctx.Done():
			_ = all.Wait() // none fails
			return
		case m := <-q.reads:
			all.Go(func() error {
				q.do(ctx, m)
				return nil
			})
		}
	}
}

func (q *Room) do(ctx context.Context, m question) {
	left := m.until.Sub(q.cfg.Clock())
	if left <= 0 {
		q.count(askExpired)
		return
	}
	ctx, cancel := context.WithTimeout(ctx, left)
	defer cancel()
	began := time.Now()
	var body []byte
	var err error
	switch m.Kind {
	case message.AskTrace:
		body, err = q.trace(m.Ask)
	case message.AskRead:
		body, err = q.read(ctx, m.Ask)
	case message.AskMirror:
		body, err = encoded(q.cfg.Mirror.MirrorStatus())
	case message.AskFlush:
		body, err = encoded(q.cfg.Mirror.FlushMirror(ctx, m.What, m.Force))
		q.cfg.Logger.Info("asked to flush the mirror", "what", m.What, "force", m.Force, "err", err)
	case message.AskInventory, message.AskProbe, message.AskFirmware:
		body, err = q.ask(ctx, m.Ask)
		q.cfg.Logger.Info("asked a BMC", "bmc", m.BMC.Name, "kind", m.Kind, "took", time.Since(began), "err", err)
	}
	if err != nil {
		q.count(askFailed)
	} else {
		q.count(askAnswered)
	}
	q.cfg.Hub.Answer(m.ID, body, err)
}

// trace answers from memory and disk.
func (q *Room) trace(m message.Ask) ([]byte, error) {
	return encoded(q.cfg.Traces.Trace(m.Server, m.Serial))
}

// read has a server's loop read it.
func (q *Room) read(ctx context.Context, m message.Ask) ([]byte, error) {
	return encoded(q.cfg.Servers.Read(ctx, m.Server))
}

// encoded is the body of an answer, unless there is an error.
func encoded[T any](v T, err error) ([]byte, error) {
	if err != nil {
		return nil, err
	}
	return json.Marshal(v)
}

// ask asks the BMC about one system, or each.
func (q *Room) ask(ctx context.Context, m message.Ask) ([]byte, error) {
	w, err := q.cfg.Accounts.Way("bmc/"+m.BMC.Name, m.BMC, m.SystemURI)
	if err != nil {
		return nil, err
	}
	for _, d := range []*account.Denials{q.cfg.Denied, q.denied} {
		if why, denied := d.Of(w.Account); denied {
			return nil, resource.AsCondition(resource.CondBMCDenied, protocol.Errorf(protocol.CodeDenied, "ask BMC "+m.BMC.Name, "not tried again until the credentials change: %s", why).
				WithHint("correct the Secret, or the credentials file at the agent"))
		}
	}
	first, err := q.cfg.OpenBMC(w.Target)
	if err != nil {
		return nil, err
	}
	defer func() { _ = first.Close() }() // the session ends by itself if this fails
	uris := []string{m.SystemURI}
	if lister, ok := first.(bmc.Lister); ok && m.SystemURI == "" {
		uris, err = lister.Systems(ctx)
	}
	all := make([]any, 0, len(uris))
	for _, uri := range uris {
		if err != nil {
			break
		}
		w.Target.SystemURI = uri
		var one any
		one, err = q.system(ctx, w.Target, m)
		all = append(all, one)
	}
	if err != nil {
		if protocol.CodeOf(err) == protocol.CodeDenied {
			q.denied.Note(w.Account, err.Error())
			err = resource.AsCondition(resource.CondBMCDenied, err)
		}
		return nil, err
	}
	return json.Marshal(all)
}

// system asks about one system.
func (q *Room) system(ctx context.Context, t bmc.Target, m message.Ask) (any, error) {
	d, err := q.cfg.OpenBMC(t)
	if err != nil {
		return nil, err
	}
	defer func() { _ = d.Close() }() // another driver has the session still
	switch m.Kind {
	case message.AskInventory:
		if r, ok := d.(bmc.Inventorier); ok {
			return inventory(ctx, r, m)
		}
	case message.AskProbe:
		if r, ok := d.(bmc.Prober); ok {
			return r.Probe(ctx, "")
		}
	case message.AskFirmware:
		if r, ok := d.(bmc.FirmwareReader); ok {
			return r.Firmware(ctx, m.Attributes)
		}
	case message.AskTrace, message.AskRead, message.AskMirror, message.AskFlush: // ask no BMC of their own
	}
	return nil, protocol.Errorf(protocol.CodeUnsupported, "ask a BMC", "its driver has no %s", m.Kind)
}
