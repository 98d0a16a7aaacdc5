package heartbeat

import (
	"context"
	"log/slog"
	"net"
	"net/netip"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/errgroup"

	"rackboot/protocol/message"
	"rackboot/protocol/wire"
	"rackboot/state"
)

// Line is where beats of one segment go.
type Line struct {
	Segment   string
	Interface string         // bind to this interface; empty on loopback
	Listen    netip.AddrPort // the agent's own address on the segment
	Peer      netip.AddrPort // the other agent's
}

// Config is what the room is made of.
type Config struct {
	Agent, Rack string
	Run         string // random, of this process
	Signer      *wire.Signer
	Lines       []Line
	// Open opens the socket of a line.
	Open func(Line) (net.PacketConn, error)
	// Twin is the other agent of the rack; false while there is none, or this one is none of the rack's any more.
	Twin       func() (message.TwinIntent, bool)
	Clock      state.Clock
	Logger     *slog.Logger
	Registerer prometheus.Registerer
}

// Room has all lines. It is safe for concurrent use.
type Room struct {
	cfg   Config
	beats *prometheus.CounterVec

	mu    sync.Mutex
	twin  string // whose ears these are
	seq   uint64
	ears  map[string]*ear // by segment
	conns []net.PacketConn
}

// What became of beats, for the metric.
const (
	sent    = "sent"
	unsent  = "failed"
	refused = "refused"
)

// New makes the room. Nothing is opened.
func New(cfg Config) *Room {
	r := &Room{cfg: cfg, ears: map[string]*ear{}}
	r.beats = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "rackboot_agent_beats_total", Help: "Heartbeats to and of the other agent of the rack, by what became of them: sent, failed, counted, answered, dropped, or refused as no word of that agent.",
	}, []string{"result"})
	for _, what := range []string{sent, unsent, refused, string(beatCount), string(beatEcho), string(beatDrop)} {
		r.beats.WithLabelValues(resultOf(what))
	}
	cfg.Registerer.MustRegister(r.beats)
	return r
}

func resultOf(what string) string {
	switch what {
	case string(beatCount):
		return "counted"
	case string(beatEcho):
		return "answered"
	case string(beatDrop):
		return "dropped"
	}
	return what
}

// Listen opens all lines, so that a busy port is a start-up error. None is open after one.
func (r *Room) Listen() error {
	var conns []net.PacketConn
	for _, l := range r.cfg.Lines {
		c, err := r.cfg.Open(l)
		if err != nil {
			for _, c := range conns {
				_ = c.Close()
			}
			return err
		}
		conns = append(conns, c)
	}
	r.conns = conns
	return nil
}

// Run sends and receives until ctx ends. Lines that are not open it goes on opening.
func (r *Room) Run(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	receive := func() {
		for i, c := range r.conns {
			group.Go(func() error {
				r.receive(ctx, r.cfg.Lines[i], c)
				return nil
			})
		}
	}
	receive()
	group.Go(func() error {
		tick := time.NewTicker(message.BeatEvery)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				for _, c := range r.conns {
					_ = c.Close()
				}
				return nil
			case <-tick.C:
				if len(r.conns) < len(r.cfg.Lines) && r.Listen() == nil {
					receive()
				}
				r.send()
			}
		}
	})
	return group.Wait()
}

// send says on each line that this agent lives.
func (r *Room) send() {
	twin, ok := r.cfg.Twin()
	if !ok || len(r.conns) == 0 {
		return
	}
	r.mu.Lock()
	r.hears(twin.Agent)
	r.seq++
	seq := r.seq
	beats := make([]message.Beat, len(r.cfg.Lines))
	for i, l := range r.cfg.Lines {
		beats[i] = message.Beat{Rack: r.cfg.Rack, Agent: r.cfg.Agent, Segment: l.Segment, Run: r.cfg.Run, Seq: seq}
		if e := r.ears[l.Segment]; e != nil {
			beats[i].Echo, beats[i].EchoSeq = e.run, e.seq
		}
	}
	r.mu.Unlock()
	for i, b := range beats {
		what := sent
		data, err := wire.Seal(r.cfg.Signer, wire.FactBeat, b)
		if err == nil {
			_ = r.conns[i].SetWriteDeadline(time.Now().Add(message.BeatEvery))
			_, err = r.conns[i].WriteTo(data, net.UDPAddrFromAddrPort(r.cfg.Lines[i].Peer))
		}
		if err != nil {
			what = unsent
			r.cfg.Logger.Debug("heartbeat not sent", "segment", b.Segment, "err", err)
		}
		r.beats.WithLabelValues(what).Inc()
	}
}

// maxBeat bounds a datagram; a beat has some 400 bytes.
const maxBeat = 2048

// receivePause is how long a line rests whose socket fails.
const receivePause = time.Second

func (r *Room) receive(ctx context.Context, l Line, c net.PacketConn) {
	buf := make([]byte, maxBeat)
	for ctx.Err() == nil {
		n, _, err := c.ReadFrom(buf)
		if err != nil {
			select {
			case <-ctx.Done():
			case <-time.After(receivePause):
			}
			continue
		}
		r.take(l, buf[:n])
	}
}

// take takes a datagram. Whoever sent it: the signature says whether it is a beat of the twin.
func (r *Room) take(l Line, data []byte) {
	twin, ok := r.cfg.Twin()
	if !ok {
		return
	}
	var b message.Beat
	if err := wire.Open(wire.NewVerifier(twin.Key), wire.FactBeat, data, &b); err != nil || b.Agent != twin.Agent || b.Rack != r.cfg.Rack || b.Segment != l.Segment {
		r.beats.WithLabelValues(refused).Inc()
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.hears(twin.Agent)
	e := r.ears[l.Segment]
	if e == nil {
		e = &ear{}
		r.ears[l.Segment] = e
	}
	r.beats.WithLabelValues(resultOf(string(e.take(b, r.cfg.Run, r.seq, r.cfg.Clock())))).Inc()
}

// hears forgets what was heard of another twin. It needs r.mu.
func (r *Room) hears(twin string) {
	if r.twin != twin {
		r.twin = twin
		clear(r.ears)
	}
}

// Heard is how the twin is heard on each segment on which it was.
func (r *Room) Heard() (out []message.HeardBeat) {
	twin, ok := r.cfg.Twin()
	if !ok {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.hears(twin.Agent)
	now := r.cfg.Clock()
	for _, l := range r.cfg.Lines {
		if e := r.ears[l.Segment]; e != nil {
			if h, ok := e.report(l.Segment, now); ok {
				out = append(out, h)
			}
		}
	}
	return out
}
