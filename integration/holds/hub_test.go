package holds

import (
	"context"
	"crypto/rand"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"rackboot/hub/access"
	"rackboot/hub/api"
	"rackboot/hub/api/gate"
	"rackboot/hub/control"
	"rackboot/hub/fence"
	"rackboot/hub/sharing"
	"rackboot/hub/store"
	"rackboot/hub/store/storetest"
	"rackboot/protocol"
	protoapi "rackboot/protocol/api"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// Who calls the hub: a row's steps are by the admin, who may break glass, unless they
// say otherwise.
const (
	admin    = "admin"
	stranger = "stranger" // has no such right
)

// token is the caller's.
func token(caller string) string { return caller + strings.Repeat("-", 32) }

// hub is the real store, control and API over an in-memory key-value store.
type hub struct {
	*process
	store   *store.Store
	control *control.Control
	clients map[string]*protoapi.Client // by caller
}

// by is the client of a caller.
func (h *hub) by(caller string) *protoapi.Client {
	if caller == "" {
		caller = admin
	}
	return h.clients[caller]
}

func (s *site) startHub() {
	s.t.Helper()
	disk := storetest.NewMemory()
	h := &hub{clients: map[string]*protoapi.Client{}, process: newProcess(s.ctx, func() {}, func(err error) { s.t.Errorf("hub: %v", err) })}
	var err error
	if h.store, err = store.Open(s.ctx, store.Config{KV: disk, Log: disk, Clock: time.Now, NewID: s.newID, Logger: s.log}); err != nil {
		s.t.Fatal(err)
	}
	reg := prometheus.NewRegistry()
	start, err := fence.Begin(s.ctx, h.store.Meta, time.Now, s.log, s.newID())
	if err != nil {
		s.t.Fatal(err)
	}
	h.control, err = control.New(s.ctx, control.Config{
		Store: h.store, Start: start, Signer: s.hubSigner, Images: s.image, Issuer: anyIssuer{}, CA: []byte("ca"), Broker: "mqtts://hub:8883",
		Publish: func(topic string, payload []byte) error { return s.net.publish("hub", topic, payload) },
		Clock:   time.Now, NewID: s.newID, Random: rand.Reader, Logger: s.log.With("process", "hub"), Registerer: reg,
	})
	if err != nil {
		s.t.Fatal(err)
	}
	a, err := api.New(api.Config{
		Store: h.store, Rooms: rooms(h.control, sharing.NewAlone(store.Hub{Name: "hub"}, start, h.store.Objects)), Token: token(admin), Clock: time.Now, NewID: s.newID, Registerer: reg, Logger: s.log, Writable: start.Writable,
		Callers: gate.Callers{Clients: []gate.Client{{Caller: access.Caller{Name: stranger}, Token: token(stranger)}}},
	})
	if err != nil {
		s.t.Fatal(err)
	}
	for _, who := range []string{admin, stranger} {
		h.clients[who], err = protoapi.NewClient(protoapi.Config{BaseURL: "https://hub.example", Token: token(who), HTTPClient: &http.Client{Transport: door{a}}})
		if err != nil {
			s.t.Fatal(err)
		}
	}
	h.run(h.store.Run)
	h.run(h.control.Run)
	s.net.join("hub", &endpoint{hears: hears(message.TopicAllUp), up: h.control.Link.Announce, receive: h.control.Link.Receive})
	s.hub = h
}

// rooms are those that the API asks, as the daemon gives them.
func rooms(c *control.Control, hubs api.Hubs) api.Rooms {
	return api.Rooms{
		Status: c.Status, Claims: c.Owners.Claims, Imports: c.Owners.Imports, Firmware: c.Outbound.Firmware, Discovery: c.Owners.Discovery, Traces: c.Outbound.Trace, Plans: c.Outbound.Plans, Mirrors: c.Outbound.Mirrors,
		Members: c.Members, Inventory: c.Inventory, Carried: c.Env, Groups: c.Groups, Rollouts: c.Rollouts, Upgrades: c.Outbound.Upgrades, Events: c.Events, Watches: c.Shown.Watches, Hubs: hubs,
	}
}

// door is a handler as a client's transport.
type door struct{ http.Handler }

// RoundTrip implements http.RoundTripper.
func (d door) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	if r.Body == nil {
		r.Body = http.NoBody
	}
	d.ServeHTTP(w, r)
	return w.Result(), nil
}

// registry resolves every reference to one image.
type registry struct{ image resource.Image }

// Resolve implements control.Images.
func (r registry) Resolve(_ context.Context, ref, arch string) (resource.Image, error) {
	img := r.image
	img.Reference, img.Architecture = ref, arch
	return img, nil
}

// Require implements control.Images.
func (registry) Require(resource.Image, protocol.BootTarget) error { return nil }

// anyIssuer certifies whatever it is asked to.
type anyIssuer struct{}

// IssueAgent implements control.Issuer.
func (anyIssuer) IssueAgent([]byte, string, time.Duration) ([]byte, error) {
	return []byte("certificate"), nil
}
