package link

import (
	"crypto/ed25519"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"rackboot/agent/reports"
	"rackboot/agent/store"
	"rackboot/protocol/message"
	"rackboot/protocol/wire"
	"rackboot/state/statetest"
)

// heardBy notes what a room says of the hub's words.
type heardBy struct{ changed, looks, holds int }

func (h *heardBy) Holds(message.HoldDoc, string, string) error { h.holds++; return nil }
func (h *heardBy) Rack(message.RackDoc, string, string) error  { return nil }
func (h *heardBy) Ask(message.Ask)                             {}
func (h *heardBy) Contact()                                    {}
func (h *heardBy) Changed() error                              { h.changed++; return nil }
func (h *heardBy) LookAtAll()                                  { h.looks++ }
func (h *heardBy) News(string)                                 {}

// rig is a room with a store, and what it sends.
type rig struct {
	t     *testing.T
	room  *Room
	db    *statetest.Memory
	hub   *wire.Signer
	own   *wire.Verifier
	heard heardBy
	now   time.Time
	guard bool
	sent  []sentMessage
	ids   int
	dies  string // the crash point at which the process ends
	at    []string
}

// killed is what ends a rig's process.
type killed struct{}

// lives runs do, and reports whether the process outlived it.
func (r *rig) lives(do func()) (lives bool) {
	defer func() {
		if v := recover(); v != nil {
			if _, is := v.(killed); !is {
				panic(v)
			}
		}
	}()
	do()
	return true
}

type sentMessage struct {
	leaf string
	data []byte
}

// Publish implements Transport.
func (r *rig) Publish(topic string, payload []byte) error {
	r.sent = append(r.sent, sentMessage{strings.TrimPrefix(topic, message.TopicUp("r1-1", "")), payload})
	return nil
}

func key(seed byte) ed25519.PrivateKey {
	return ed25519.NewKeyFromSeed([]byte(strings.Repeat(string(rune('a'+seed)), ed25519.SeedSize)))
}

func newRig(t *testing.T, db *statetest.Memory, run string) *rig {
	t.Helper()
	return newRigAt(t, db, run, "")
}

// newRigAt is a rig whose disk is at a place.
func newRigAt(t *testing.T, db *statetest.Memory, run, place string) *rig {
	t.Helper()
	return newRigOf(t, db, run, place, false)
}

// newRigOf is newRigAt with or without heartbeats to the other agent of the rack.
func newRigOf(t *testing.T, db *statetest.Memory, run, place string, heartbeats bool) *rig {
	t.Helper()
	r := &rig{t: t, db: db, hub: wire.NewSigner(key(0)), now: hubStart}
	signer, reg := wire.NewSigner(key(1)), prometheus.NewRegistry()
	r.own = wire.NewVerifier(signer.Public())
	clock := func() time.Time { return r.now }
	id := func() string { r.ids++; return fmt.Sprintf("%s-%d", run, r.ids) }
	st, err := store.Open(store.Config{DB: db, NewID: id, Crash: func(point string) {
		if r.at = append(r.at, point); point == r.dies {
			panic(killed{})
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	r.room, err = New(Config{
		Agent: "r1-1", Run: run, Place: place, Heartbeats: heartbeats, Guard: func() bool { return r.guard }, Store: st, Signer: signer, HubKeys: []ed25519.PublicKey{r.hub.Public()},
		Reports: reports.New(reports.Config{Agent: "r1-1", Rack: "r1", Every: time.Second, Clock: clock, Registerer: reg}),
		Heard:   &r.heard, Every: time.Second, NewID: id, Clock: clock, Logger: slog.New(slog.DiscardHandler), Registerer: reg,
	})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// hellos says Hello if it is due now, and returns the Hellos that were sent.
func (r *rig) hellos() (out []message.Hello) {
	r.t.Helper()
	r.room.look()
	if now, _ := r.room.greeter.due(); now {
		r.room.hello()
	}
	for _, s := range r.sent {
		if s.leaf == message.LeafHello {
			out = append(out, open[message.Hello](r, s))
		}
	}
	r.sent = nil
	return out
}

func open[T any](r *rig, s sentMessage) (m T) {
	r.t.Helper()
	if err := wire.Open(r.own, message.TopicUp("r1-1", s.leaf), s.data, &m); err != nil {
		r.t.Fatal(err)
	}
	return m
}

// says has the hub say something.
func (r *rig) says(leaf string, m any) {
	r.t.Helper()
	topic := message.TopicDown("r1-1", leaf)
	data, err := wire.Seal(r.hub, topic, m)
	if err != nil {
		r.t.Fatal(err)
	}
	r.room.Receive(topic, data)
}

// answers answers the last session.
func (r *rig) answers(m message.Sync) {
	r.t.Helper()
	m.Session, _ = r.room.session.names()
	m.At, m.ValidFor = r.now, message.SyncValid
	r.says(message.LeafSync, m)
}

func (r *rig) conditions() string {
	_, conds := r.room.cfg.Reports.Snapshot()
	var out []string
	for _, c := range conds {
		out = append(out, string(c.Code))
	}
	return strings.Join(out, " ")
}
