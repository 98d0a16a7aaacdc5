package faults

import (
	"context"
	"crypto/rand"
	"log/slog"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/prometheus/client_golang/prometheus"

	"rackboot/hub/control"
	"rackboot/hub/fence"
	"rackboot/hub/store"
	"rackboot/hub/store/storetest"
	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
	"rackboot/protocol/wire"
)

// hub is the real control over an in-memory store. Its disk outlives it.
type hub struct {
	site *site
	name string
	disk atomic.Pointer[storetest.Memory]
	// ahead is how far its clock is ahead of the right time.
	ahead atomic.Int64

	*process
	store   *store.Store
	fence   *fence.Start
	control *control.Control
}

func (s *site) newHub(name string, disk *storetest.Memory) *hub {
	h := &hub{site: s, name: name}
	h.disk.Store(disk)
	return h
}

// clock is the hub's. Setting a clock changes what it shows and not how much time has passed
// since another reading. Times in a bubble have no monotonic reading, and nothing public makes
// one: the first word of a time.Time that has one is a bit, seconds since 1885 and 30 bits of
// nanoseconds, and the second counts nanoseconds (package time, type Time).
func (h *hub) clock() time.Time {
	now := time.Now()
	shown := now.Add(time.Duration(h.ahead.Load()))
	words := [2]uint64{
		1<<63 | uint64(shown.Unix()-time.Date(1885, 1, 1, 0, 0, 0, 0, time.UTC).Unix())<<30 | uint64(shown.Nanosecond()), uint64(now.UnixNano()),
	}
	*(*[2]uint64)(unsafe.Pointer(&shown)) = words
	return shown
}

func (h *hub) alive() bool { return h.process != nil && !h.dead.Load() }

// writable says whether people may change anything, as the API asks the hub.
func (h *hub) writable() bool { return h.alive() && h.fence.Writable() == nil }

// start opens the store and connects, as a hub that starts does.
func (h *hub) start() {
	s := h.site
	s.t.Helper()
	disk := h.disk.Load()
	h.process = newProcess(s.ctx, func() { h.disk.Store(disk.Copy()) })
	var err error
	h.store, err = store.Open(s.ctx, store.Config{KV: disk, Log: disk, Clock: h.clock, NewID: s.newID, Logger: s.log, Crash: h.crash})
	if err != nil {
		s.t.Fatal(err)
	}
	var publish func(string, []byte) error
	if h.fence, err = fence.Begin(s.ctx, h.store.Meta, h.clock, s.log.With("hub", h.name), s.newID()); err != nil {
		s.t.Fatal(err)
	}
	h.control, err = control.New(s.ctx, control.Config{
		Store: h.store, Start: h.fence, Signer: s.hubSigner, Images: s.image, Issuer: anyIssuer{}, CA: []byte("ca"), Broker: "mqtts://hub:8883",
		Publish: func(topic string, payload []byte) error { return publish(topic, payload) },
		Clock:   h.clock, NewID: s.newID, Random: rand.Reader, Logger: s.log.With("hub", h.name),
		Registerer: prometheus.NewRegistry(), Crash: h.crash,
	})
	if err != nil {
		s.t.Fatal(err)
	}
	e := &endpoint{name: h.name, process: h.process, subscribe: []string{message.TopicAllUp}, up: h.control.Link.Announce, receive: h.control.Link.Receive}
	publish = s.net.attach(e)
	h.run(s, "store", h.store.Run)
	h.run(s, "control", h.control.Run)
	s.net.connect(e)
	s.book.opened(h)
}

// epoch is that of the documents which the hub signs now.
func (h *hub) epoch() uint64 {
	raw, _, err := h.store.Meta.Get("epoch")
	if err != nil || len(raw) != 8 {
		h.site.t.Fatalf("epoch %x: %v", raw, err)
	}
	var n uint64
	for _, b := range raw {
		n = n<<8 | uint64(b)
	}
	return n
}

// rollBackHub starts the hub again on an old copy of its disk. What was accepted
// since is forgotten.
func (s *site) rollBackHub(disk *storetest.Memory) {
	s.note("the hub's disk is rolled back")
	s.hub.kill()
	s.book.split(disk)
	s.hub.disk.Store(disk)
	s.book.forget()
	s.hub.start()
	s.book.restored(s.hub)
}

// raiseEpoch is what `rackboot-hub restored` does, on the disk of a hub that does
// not run.
func (h *hub) raiseEpoch() {
	if _, err := fence.RaiseEpoch(h.site.ctx, h.site.stored(h.disk.Load()), 0); err != nil {
		h.site.t.Fatal(err)
	}
}

// stored opens a hub's disk beside the hub, to look or, where none runs, to change.
func (s *site) stored(disk *storetest.Memory) *store.Store {
	st, err := store.Open(s.ctx, store.Config{KV: disk, Log: disk, Clock: time.Now, NewID: s.newID, Logger: s.log})
	if err != nil {
		s.t.Fatal(err)
	}
	return st
}

// agentConditions are what the hub prints of an agent.
func (h *hub) agentConditions(name string) []resource.ConditionState {
	a, err := store.Get[*resource.Agent](h.store.Objects, name)
	if err != nil {
		h.site.t.Fatal(err)
	}
	h.control.Status.Decorate(a)
	return a.Status.Conditions
}

func (h *hub) serverConditions(name string) []resource.ConditionState {
	sv, err := store.Get[*resource.Server](h.store.Objects, name)
	if err != nil {
		h.site.t.Fatal(err)
	}
	h.control.Status.Decorate(sv)
	return sv.Status.Conditions
}

// registry resolves every reference to one image.
type registry struct{ image resource.Image }

func (r registry) Resolve(_ context.Context, ref, arch string) (resource.Image, error) {
	img := r.image
	img.Reference, img.Architecture = ref, arch
	return img, nil
}

func (registry) Require(resource.Image, protocol.BootTarget) error { return nil }

// anyIssuer certifies whatever it is asked to.
type anyIssuer struct{}

func (anyIssuer) IssueAgent([]byte, string, time.Duration) ([]byte, error) {
	return []byte("certificate"), nil
}

// opens says whether a message on a topic is signed by the hub's key.
func opens(v *wire.Verifier, topic string, payload []byte, msg any) bool {
	return wire.Open(v, topic, payload, msg) == nil
}

func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }
