package holds

import (
	"context"
	"crypto/rand"
	"net/http"
	"net/http/httptest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"rackboot/hub/api"
	"rackboot/hub/control"
	"rackboot/hub/store"
	"rackboot/hub/store/storetest"
	"rackboot/protocol"
	protoapi "rackboot/protocol/api"
)

// adminToken is who the rows are by, unless they say otherwise.
const adminToken = "0123456789abcdef"

// hub is the real store, control and API over an in-memory key-value store.
type hub struct {
	*process
	store   *store.Store
	control *control.Control
	client  *protoapi.Client
}

func (s *site) startHub() {
	s.t.Helper()
	disk := storetest.NewMemory()
	h := &hub{process: newProcess(s.ctx, func() {}, func(err error) { s.t.Errorf("hub: %v", err) })}
	var err error
	if h.store, err = store.Open(s.ctx, store.Config{KV: disk, Log: disk, Clock: time.Now, NewID: s.newID, Logger: s.log}); err != nil {
		s.t.Fatal(err)
	}
	reg := prometheus.NewRegistry()
	h.control, err = control.New(s.ctx, control.Config{
		Store: h.store, Signer: s.hubSigner, Images: s.image, Issuer: anyIssuer{}, CA: []byte("ca"), Broker: "mqtts://hub:8883",
		Publish: func(topic string, payload []byte) error { return s.net.publish("hub", topic, payload) },
		Clock:   time.Now, NewID: s.newID, Random: rand.Reader, Logger: s.log.With("process", "hub"), Registerer: reg,
	})
	if err != nil {
		s.t.Fatal(err)
	}
	a, err := api.New(api.Config{
		Store: h.store, Fleet: h.control, Token: adminToken, Clock: time.Now, NewID: s.newID, Registerer: reg, Logger: s.log, Writable: h.control.Writable,
	})
	if err != nil {
		s.t.Fatal(err)
	}
	h.client, err = protoapi.NewClient(protoapi.Config{BaseURL: "https://hub.example", Token: adminToken, HTTPClient: &http.Client{Transport: door{a}}})
	if err != nil {
		s.t.Fatal(err)
	}
	h.run(h.store.Run)
	h.run(h.control.Run)
	s.net.join("hub", &endpoint{hears: hears(protocol.TopicAllUp), up: h.control.Announce, receive: h.control.Receive})
	s.hub = h
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
type registry struct{ image protocol.Image }

// Resolve implements control.Images.
func (r registry) Resolve(_ context.Context, ref, arch string) (protocol.Image, error) {
	img := r.image
	img.Reference, img.Architecture = ref, arch
	return img, nil
}

// Require implements control.Images.
func (registry) Require(protocol.Image, protocol.BootTarget) error { return nil }

// anyIssuer certifies whatever it is asked to.
type anyIssuer struct{}

// IssueAgent implements control.Issuer.
func (anyIssuer) IssueAgent([]byte, string, time.Duration) ([]byte, error) {
	return []byte("certificate"), nil
}
