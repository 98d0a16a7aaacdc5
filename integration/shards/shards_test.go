package shards

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	agentreports "rackboot/agent/reports"
	hubreports "rackboot/hub/reports"
	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// line is a link between an agent and the hub. While it is bad, it loses, repeats and delays messages of both
// ways.
type line struct {
	mu     sync.Mutex // of all below, while something is said or comes
	r      *rand.Rand
	bad    bool
	agent  *agentreports.Room
	mirror *hubreports.Mirror
	// told and refused count what came, by how much it told, and what the hub could not take.
	told    map[string]int
	refused int
}

// Report implements the agent's Sender.
func (l *line) Report(ms []message.Report) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.bad && l.r.IntN(10) == 0 {
		return errors.New("the connection is gone")
	}
	for _, m := range ms {
		m.Session = "s"
		l.carry(func() { l.take(m) })
	}
	return nil
}

// Events implements the agent's Sender.
func (l *line) Events() time.Duration { return time.Hour }

// Found implements the agent's Found.
func (l *line) Found() []resource.FoundBMC { return nil }

func (l *line) carry(arrive func()) {
	if !l.bad {
		arrive()
		return
	}
	for range l.r.IntN(3) { // not at all, once, or twice
		time.AfterFunc(time.Duration(l.r.IntN(4000))*time.Millisecond, func() {
			l.mu.Lock()
			defer l.mu.Unlock()
			arrive()
		})
	}
}

// take is what the hub does with a report.
func (l *line) take(m message.Report) {
	if !l.mirror.Accepts(m.Agent, m) {
		return
	}
	rack := hubreports.Rack{Has: func(string) bool { return true }}
	if m.As == 0 {
		l.told["all"]++
		l.mirror.Put(m, rack, time.Now())
		return
	}
	if len(m.Servers) > 0 {
		l.told["changes"]++
	}
	if _, _, have := l.mirror.Change(m, rack, time.Now()); !have {
		l.refused++
		l.says()
	}
}

// sync says what the hub has.
func (l *line) sync() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.says()
}

func (l *line) says() {
	seqs := l.mirror.Reported("a", "s")
	l.carry(func() { l.agent.Had(seqs) })
}

// Whatever is lost, repeated or overtaken on the way: once the line is good, the hub has what the agent has.
func TestTheHubHasWhatTheAgentHas(t *testing.T) {
	told, refused := map[string]int{}, 0
	for seed := range uint64(60) {
		synctest.Test(t, func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 7))
			l := &line{r: rand.New(rand.NewPCG(seed, 8)), bad: true, mirror: hubreports.New(), told: told}
			l.agent = agentreports.New(agentreports.Config{Agent: "a", Rack: "r", Run: "x", Every: 15 * time.Second, Clock: time.Now, Registerer: prometheus.NewRegistry()})
			servers := 1 + r.IntN(120)
			ctx, stop := context.WithCancel(t.Context())
			ended := make(chan struct{})
			go func() { defer close(ended); l.agent.Run(ctx, l, l) }()
			news := 0
			put := func() {
				news++
				now := time.Now()
				l.agent.Put(resource.ServerReport{
					Server: fmt.Sprintf("n%d", r.IntN(servers)), PowerEpoch: uint64(news), OwnerUID: fmt.Sprint(r.IntN(2)),
					Observation: protocol.Observation{StartedAt: now.Add(-2 * time.Second), ReadAt: now.Add(-time.Second)},
				}, resource.PhaseInitial)
			}
			for range 400 {
				for range r.IntN(4) {
					put()
				}
				if r.IntN(5) == 0 {
					l.sync()
				}
				if r.IntN(100) == 0 {
					l.mirror.Drop("a", nil) // the hub knows nothing of the session any more
				}
				time.Sleep(time.Duration(r.IntN(2000)) * time.Millisecond)
			}
			time.Sleep(5 * time.Second) // what is on the way comes
			l.mu.Lock()
			l.bad = false
			l.mu.Unlock()
			for range 6 {
				l.sync()
				time.Sleep(10 * time.Second)
			}
			synctest.Wait()
			want, _ := l.agent.Snapshot()
			for _, w := range want {
				got, _ := l.mirror.Server(w.Server)
				if got == nil || got.PowerEpoch != w.PowerEpoch || got.OwnerUID != w.OwnerUID {
					t.Errorf("seed %d: of %s the hub has %+v, the agent %d %s", seed, w.Server, got, w.PowerEpoch, w.OwnerUID)
				}
			}
			stop()
			<-ended
			refused += l.refused
		})
	}
	if told["changes"] < 1000 || told["all"] < 100 || refused < 100 {
		t.Errorf("it has not tried much: %v, %d refused", told, refused)
	}
	t.Log(told, refused)
}
