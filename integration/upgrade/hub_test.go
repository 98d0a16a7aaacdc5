package upgrade

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"log/slog"
	"maps"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	mochi "github.com/mochi-mqtt/server/v2"
	"github.com/mochi-mqtt/server/v2/listeners"
	"github.com/mochi-mqtt/server/v2/packets"

	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
	"rackboot/protocol/wire"
)

const agentID = "r1-1"

// hub is what an agent needs of a hub: it lets one join, gives it documents and files, and keeps what it reports.
type hub struct {
	t      *testing.T
	signer *wire.Signer
	broker string
	api    *httptest.Server
	ca     []byte
	caKey  *ecdsa.PrivateKey
	caCert *x509.Certificate
	server *mochi.Server

	mu       sync.Mutex
	key      *wire.Verifier // of the agent, once it has joined
	files    map[string][]byte
	holds    message.HoldDoc
	rack     message.RackDoc
	version  uint64
	sealed   map[string][]byte // documents by leaf
	heads    map[string]protocol.Head
	mute     bool // it hears, and answers no Hello
	hellos   []message.Hello
	upgrades []message.UpgradeReport // as they were reported, each once
	news     chan struct{}
}

func newHub(t *testing.T) *hub {
	t.Helper()
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	h := &hub{
		t: t, signer: wire.NewSigner(key), files: map[string][]byte{}, sealed: map[string][]byte{}, heads: map[string]protocol.Head{},
		news: make(chan struct{}, 1),
	}
	h.authority()
	h.listen()
	h.serve()
	h.change(func() {
		h.rack.Rack = &message.RackIntent{Name: "r1", SoftTimeout: time.Second, SettleWindow: time.Second, PollInterval: time.Second}
	})
	return h
}

// authority makes the CA of the API and of the agent's certificate.
func (h *hub) authority() {
	h.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		h.t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		h.t.Fatal(err)
	}
	if h.caCert, err = x509.ParseCertificate(der); err != nil {
		h.t.Fatal(err)
	}
	h.caKey, h.ca = key, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}

// listen starts the broker, on loopback and without TLS.
func (h *hub) listen() {
	h.t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		h.t.Fatal(err)
	}
	h.broker = "mqtt://" + l.Addr().String()
	h.server = mochi.New(&mochi.Options{Logger: slog.New(slog.DiscardHandler), InlineClient: true, SysTopicResendInterval: 3600})
	if err := h.server.AddHook(&hook{hub: h}, nil); err != nil {
		h.t.Fatal(err)
	}
	if err := h.server.AddListener(listeners.NewNet("loopback", l)); err != nil {
		h.t.Fatal(err)
	}
	if err := h.server.Serve(); err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() { _ = h.server.Close() })
}

// hook lets everybody in, and gives the hub what agents say.
type hook struct {
	mochi.HookBase
	hub *hub
}

func (*hook) ID() string { return "test" }

func (*hook) Provides(b byte) bool {
	return slices.Contains([]byte{mochi.OnConnectAuthenticate, mochi.OnACLCheck, mochi.OnPublished}, b)
}

func (*hook) OnConnectAuthenticate(*mochi.Client, packets.Packet) bool { return true }
func (*hook) OnACLCheck(*mochi.Client, string, bool) bool              { return true }

func (k *hook) OnPublished(c *mochi.Client, p packets.Packet) {
	if !c.Net.Inline {
		k.hub.hear(p.TopicName, slices.Clone(p.Payload))
	}
}

// serve starts the API: joining, and files by their digest.
func (h *hub) serve() {
	mux := http.NewServeMux()
	mux.HandleFunc("POST "+api.PathJoin, h.join)
	mux.HandleFunc("GET "+api.PathISOContent, func(w http.ResponseWriter, r *http.Request) {
		h.mu.Lock()
		content, there := h.files[strings.TrimPrefix(r.URL.Path, api.PathISOContent)]
		h.mu.Unlock()
		if !there {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(content))
	})
	h.api = httptest.NewUnstartedServer(mux)
	h.api.TLS = &tls.Config{MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{{Certificate: [][]byte{h.caCert.Raw}, PrivateKey: h.caKey}}}
	h.api.StartTLS()
	h.t.Cleanup(h.api.Close)
}

func (h *hub) join(w http.ResponseWriter, r *http.Request) {
	var m api.JoinRequest
	if err := json.NewDecoder(r.Body).Decode(&m); err != nil {
		h.t.Errorf("a join: %v", err)
		return
	}
	block, _ := pem.Decode(m.CSR)
	if block == nil {
		h.t.Error("a join without a CSR")
		return
	}
	csr, err := x509.ParseCertificateRequest(block.Bytes)
	if err != nil {
		h.t.Errorf("a join: %v", err)
		return
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: agentID}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(90 * 24 * time.Hour),
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, h.caCert, csr.PublicKey, h.caKey)
	if err != nil {
		h.t.Errorf("a join: %v", err)
		return
	}
	h.mu.Lock()
	h.key = wire.NewVerifier(m.Key)
	h.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(api.JoinAnswer{
		Agent: agentID, Rack: "r1", Term: 1, Certificate: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), CA: h.ca, HubKey: h.signer.Public(), Broker: h.broker,
		Standing: api.Standing{Brokers: []string{h.broker}, API: []string{h.api.URL}, BrokerCA: h.ca, HubCA: h.ca},
	})
}

// change changes documents, and sends both.
func (h *hub) change(do func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	do()
	h.version++
	head := protocol.Head{Epoch: 1, Version: h.version}
	h.rack.Head, h.rack.Agent, h.rack.Term, h.rack.IssuedAt, h.rack.Shards = head, agentID, 1, time.Now(), 1
	h.version++
	head.Version = h.version
	h.holds.Head, h.holds.Agent, h.holds.Term, h.holds.IssuedAt = head, agentID, 1, time.Now()
	h.seal(message.LeafHold, h.holds, h.holds.Head)
	h.seal(message.RackLeaf(0), h.rack, h.rack.Head)
	h.give()
}

func (h *hub) seal(leaf string, doc any, head protocol.Head) {
	data, err := wire.Seal(h.signer, message.TopicDown(agentID, leaf), doc)
	if err != nil {
		h.t.Error(err)
	}
	h.sealed[leaf], h.heads[leaf] = data, head
}

// give sends the documents.
func (h *hub) give() {
	for _, leaf := range []string{message.LeafHold, message.RackLeaf(0)} {
		_ = h.server.Publish(message.TopicDown(agentID, leaf), h.sealed[leaf], false, 0) // to nobody is a loss like any other
	}
}

// order has the rack's agent run a release; nil is none.
func (h *hub) order(u *message.UpgradeIntent) { h.change(func() { h.rack.Rack.Upgrade = u }) }

// hold lays a hold on a server whose BMC nobody reaches; release lets it go.
func (h *hub) hold() {
	h.change(func() {
		h.rack.Servers = []message.ServerIntent{{
			Server: "n1", UID: "01uid", BMC: message.BMCIntent{Name: "b1", Address: "https://127.0.0.1:1", CredentialsRef: "local:bmc"}, Segment: "boot",
			BootMAC: "52:54:00:00:00:01", Architecture: "amd64",
		}}
		h.holds.Holds = []resource.ActiveHold{{ID: "01j9", HoldSpec: resource.HoldSpec{Server: "n1", Owner: "ann", HoldTerms: resource.HoldTerms{Key: "k", Mode: resource.StopHard}}}}
	})
}

func (h *hub) release() {
	h.change(func() {
		h.holds.Holds, h.holds.Releases = nil, []resource.Release{{HoldID: "01j9", Server: "n1", By: "ann", At: time.Now()}}
	})
}

// silence has the hub answer no Hello, or again.
func (h *hub) silence(so bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.mute = so
}

// hear takes what an agent says.
func (h *hub) hear(topic string, raw []byte) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.key == nil {
		return
	}
	switch topic {
	case message.TopicUp(agentID, message.LeafHello):
		var m message.Hello
		if wire.Open(h.key, topic, raw, &m) != nil {
			return
		}
		h.hellos = append(h.hellos, m)
		if !h.mute {
			h.answer(m)
		}
	case message.TopicUp(agentID, message.LeafReport):
		var m message.Report
		if wire.Open(h.key, topic, raw, &m) != nil || m.Upgrade == nil {
			return
		}
		if n := len(h.upgrades); n == 0 || h.upgrades[n-1] != *m.Upgrade {
			h.upgrades = append(h.upgrades, *m.Upgrade)
		}
	}
	select {
	case h.news <- struct{}{}:
	default:
	}
}

func (h *hub) answer(m message.Hello) {
	digests := map[string]string{}
	for leaf, data := range h.sealed {
		digests[leaf] = wire.Digest(data)
	}
	topic := message.TopicDown(agentID, message.LeafSync)
	s := message.Sync{
		Session: m.Session, Protocol: protocol.Version, At: time.Now(), Epoch: 1, Nonce: "nonce of " + m.Session, ValidFor: message.SyncValid,
		Heads: maps.Clone(h.heads), Digests: digests,
	}
	data, err := wire.Seal(h.signer, topic, s)
	if err != nil {
		h.t.Error(err)
		return
	}
	_ = h.server.Publish(topic, data, false, 0)
	h.give()
}

// reported is the last report of an upgrade.
func (h *hub) reported() (u message.UpgradeReport) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if n := len(h.upgrades); n > 0 {
		u = h.upgrades[n-1]
	}
	return u
}

// greeted is the last Hello, and how many there were.
func (h *hub) greeted() (m message.Hello, n int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if n = len(h.hellos); n > 0 {
		m = h.hellos[n-1]
	}
	return m, n
}
