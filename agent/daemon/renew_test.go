package daemon

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"log/slog"
	"math/big"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
	"rackboot/protocol/wire"
)

// fakeAgent notes what it is told.
type fakeAgent struct {
	conds  map[resource.ConditionCode]bool
	keys   []ed25519.PublicKey
	ended  int
	over   bool
	hubNow time.Time
	words  uint64
	said   map[resource.ConditionCode]string
}

func (f *fakeAgent) Tell(code resource.ConditionCode, so bool, detail string) {
	if f.conds[code] = so; so {
		f.said[code] = detail
	}
}
func (f *fakeAgent) Trust(keys ...ed25519.PublicKey) { f.keys = keys }
func (f *fakeAgent) End([]byte) error                { f.ended++; f.over = true; return nil }
func (f *fakeAgent) Over() bool                      { return f.over }

// HubTime is another word each time.
func (f *fakeAgent) HubTime() (time.Time, uint64) { f.words++; return f.hubNow, f.words }

// fakeHub signs what it is asked to, and notes how it was asked.
type fakeHub struct {
	t      *testing.T
	ca     tls.Certificate
	server *httptest.Server
	answer func(m message.Renewal, shown bool) (api.RenewAnswer, *protocol.Error)
	asked  []string // "cert" or "key", with " csr"
	life   time.Duration
	now    func() time.Time
	stand  api.Standing
}

func newFakeHub(t *testing.T, key ed25519.PublicKey, now func() time.Time) *fakeHub {
	t.Helper()
	h := &fakeHub{t: t, life: 90 * 24 * time.Hour, now: now}
	_, caKey, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: now().Add(-time.Hour), NotAfter: now().Add(10 * 365 * 24 * time.Hour), IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, template, template, caKey.Public(), caKey)
	if err != nil {
		t.Fatal(err)
	}
	h.ca = tls.Certificate{Certificate: [][]byte{der}, PrivateKey: caKey, Leaf: template}
	h.server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { h.serve(w, r, key) }))
	h.server.TLS = &tls.Config{ClientAuth: tls.RequestClientCert, MinVersion: tls.VersionTLS13}
	h.server.StartTLS()
	t.Cleanup(h.server.Close)
	h.stand = api.Standing{API: []string{h.server.URL}, Brokers: []string{"mqtts://hub.example"}, HubCA: pemOf(h.server.Certificate().Raw), BrokerCA: pemOf(der)}
	return h
}

func pemOf(der []byte) []byte { return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}) }

func (h *fakeHub) serve(w http.ResponseWriter, r *http.Request, key ed25519.PublicKey) {
	var q api.RenewRequest
	var m message.Renewal
	if err := json.NewDecoder(r.Body).Decode(&q); err != nil || wire.Open(wire.NewVerifier(key), wire.FactRenewal, q.Renewal, &m) != nil {
		h.t.Errorf("asked without a good signature: %v", err)
	}
	shown := len(r.TLS.PeerCertificates) > 0
	how := "key"
	if shown {
		how = "cert"
	}
	if len(m.CSR) > 0 {
		how += " csr"
	}
	h.asked = append(h.asked, how)
	out, refused := api.RenewAnswer{Standing: h.stand}, (*protocol.Error)(nil)
	if h.answer != nil {
		out, refused = h.answer(m, shown)
	}
	if refused != nil {
		p := api.ProblemOf(refused)
		w.Header().Set("Content-Type", api.ProblemType)
		w.WriteHeader(p.Status)
		_ = json.NewEncoder(w).Encode(p)
		return
	}
	if len(m.CSR) > 0 && out.Ended == nil {
		out.Certificate = h.sign(m.CSR, m.Agent)
	}
	_ = json.NewEncoder(w).Encode(out)
}

// sign makes a certificate from now on.
func (h *fakeHub) sign(csr []byte, agent string) []byte {
	block, _ := pem.Decode(csr)
	q, err := x509.ParseCertificateRequest(block.Bytes)
	if err != nil {
		h.t.Error(err)
		return nil
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: agent}, NotBefore: h.now(), NotAfter: h.now().Add(h.life)}
	der, err := x509.CreateCertificate(rand.Reader, template, h.ca.Leaf, q.PublicKey, h.ca.PrivateKey)
	if err != nil {
		h.t.Error(err)
	}
	return pemOf(der)
}

// rig is a renewer beside a fake agent and a fake hub. Time stands still.
type rig struct {
	*renewer
	hub   *fakeHub
	agent *fakeAgent
	now   time.Time     // the right time
	set   time.Duration // by which the host's clock is ahead of it
	up    bool
}

func newRig(t *testing.T) *rig {
	t.Helper()
	g := &rig{agent: &fakeAgent{conds: map[resource.ConditionCode]bool{}, said: map[resource.ConditionCode]string{}}, now: time.Now().Truncate(time.Second), up: true}
	id, q, err := newIdentity("", "host")
	if err != nil {
		t.Fatal(err)
	}
	clock := func() time.Time { return g.now.Add(g.set) }
	g.hub = newFakeHub(t, q.Key, func() time.Time { return g.now })
	hub, _, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	id.Answer = api.JoinAnswer{Agent: "r1-1", Certificate: g.hub.sign(q.CSR, "r1-1"), HubKey: hub, Standing: g.hub.stand}
	id.Keys = wire.Keys{Everyday: hub}
	dir := t.TempDir()
	keep := &keeper{dataDir: dir, clock: clock, floor: g.opened(dir, time.Time{})}
	if err := keep.replace(id); err != nil {
		t.Fatal(err)
	}
	g.renewer = &renewer{
		keep: keep, agent: g.agent, log: slog.New(slog.DiscardHandler), metrics: newRenewMetrics(prometheus.NewRegistry()),
		up: func() bool { return g.up }, every: lookEvery, news: make(chan string, 1),
	}
	return g
}

// opened opens the floor. The process runs as long as the right time passes.
func (g *rig) opened(dir string, built time.Time) *timeFloor {
	f := openFloor(dir, func() time.Time { return g.now.Add(g.set) }, built, nil)
	began := g.now
	f.ran = func() time.Duration { return g.now.Sub(began) }
	return f
}

// days moves the time and looks; the hub may be asked again whatever was before.
func (g *rig) days(t *testing.T, n float64) {
	t.Helper()
	g.now = g.now.Add(time.Duration(n * 24 * float64(time.Hour)))
	g.hub.asked = nil
	g.look(t.Context())
}

func (g *rig) expects(t *testing.T, what string, asked ...string) {
	t.Helper()
	if !slices.Equal(g.hub.asked, asked) {
		t.Errorf("%s: the hub was asked %q, want %q", what, g.hub.asked, asked)
	}
}

// The renewal of an agent over the life of its certificate, and after it.
func TestRenewals(t *testing.T) {
	g := newRig(t)
	g.days(t, 59)
	g.expects(t, "before two thirds")
	g.days(t, 6)
	g.expects(t, "after two thirds", "cert csr")
	onDisk, err := loadIdentity(g.keep.dataDir)
	if err != nil {
		t.Fatal(err)
	}
	_, leaf, err := onDisk.pair()
	if err != nil || !leaf.NotBefore.Equal(g.now.UTC()) || string(onDisk.LinkKey) != string(g.keep.now().LinkKey) {
		t.Errorf("on disk from %s, %v", leaf.NotBefore, err)
	}
	g.hub.answer = func(message.Renewal, bool) (api.RenewAnswer, *protocol.Error) {
		return api.RenewAnswer{}, &protocol.Error{Code: protocol.CodeUnavailable, Message: "no"}
	}
	g.days(t, 80)
	g.expects(t, "late, and the hub fails", "cert csr")
	if !g.agent.conds[resource.CondCertificateExpiring] {
		t.Error("nobody is told")
	}
	g.days(t, 0)
	g.expects(t, "at once again")
	g.hub.answer = func(_ message.Renewal, shown bool) (api.RenewAnswer, *protocol.Error) {
		if shown {
			return api.RenewAnswer{}, &protocol.Error{Code: protocol.CodeDenied, Message: "no"}
		}
		return api.RenewAnswer{Standing: g.hub.stand}, nil
	}
	g.days(t, 30)
	g.expects(t, "ended", "key csr")
	if g.agent.conds[resource.CondCertificateExpiring] {
		t.Error("the condition stays")
	}
	g.days(t, 90+366)
	g.expects(t, "after the grace")
	if !g.agent.conds[resource.CondCertificateExpiring] {
		t.Error("nobody is told that it must join anew")
	}
}

// Endpoints are asked in turn; a refusal at one is no end.
func TestRenewalEndpoints(t *testing.T) {
	g := newRig(t)
	id := g.keep.now()
	id.Answer.Standing.API = []string{"https://127.0.0.1:1", g.hub.server.URL}
	if err := g.keep.replace(id); err != nil {
		t.Fatal(err)
	}
	g.days(t, 65)
	g.expects(t, "the second", "cert csr")
	if got := g.keep.now().apis(); !slices.Equal(got, g.hub.stand.API) {
		t.Errorf("dials %v by now", got)
	}
}

// An agent that is cut off asks why, and keeps the word.
func TestCutOff(t *testing.T) {
	g := newRig(t)
	g.hub.answer = func(message.Renewal, bool) (api.RenewAnswer, *protocol.Error) {
		return api.RenewAnswer{Ended: []byte("sealed")}, nil
	}
	g.up = false
	for range downLooks - 1 {
		g.days(t, 0)
		g.expects(t, "a moment")
	}
	g.days(t, 0)
	g.expects(t, "cut off", "cert")
	if g.agent.ended != 1 {
		t.Errorf("told %d times", g.agent.ended)
	}
	g.days(t, 80)
	g.expects(t, "once its term is over")
}

// Keys are followed; a chain that is forged is not, and then nothing else that the hub
// says to trust either.
func TestFollows(t *testing.T) {
	g := newRig(t)
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	id := g.keep.now()
	id.Keys = wire.Keys{Everyday: wire.NewSigner(key).Public()}
	if err := g.keep.replace(id); err != nil {
		t.Fatal(err)
	}
	_, next, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	after, err := id.Keys.State(wire.NewSigner(key), message.KeyStatement{Role: message.KeyEveryday, Key: wire.NewSigner(next).Public()})
	if err != nil {
		t.Fatal(err)
	}
	forged, err := (wire.Keys{Everyday: wire.NewSigner(next).Public()}).State(wire.NewSigner(next), message.KeyStatement{Role: message.KeyEveryday, Key: wire.NewSigner(key).Public()})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name  string
		chain [][]byte
		taken bool
	}{{"forged", forged.Statements, false}, {"good", after.Statements, true}} {
		g.hub.stand.KeyStatements, g.hub.stand.Brokers = c.chain, []string{"mqtts://" + c.name}
		g.ask, g.next = true, time.Time{}
		g.days(t, 0)
		g.expects(t, c.name, "cert")
		got := g.keep.now()
		if (got.brokers()[0] == "mqtts://"+c.name) != c.taken || g.agent.conds[resource.CondKeysRefused] == c.taken || (len(g.agent.keys) == 1) != c.taken {
			t.Errorf("%s: dials %v, told %v, trusts %d keys", c.name, got.brokers(), g.agent.conds, len(g.agent.keys))
		}
	}
	g.days(t, 0)
	g.expects(t, "at once again, whatever comes by the broker")
	g.days(t, 0.01)
	g.expects(t, "once more, so that the hub knows", "cert")
	g.days(t, 0.01)
	g.expects(t, "and no more")
	// Its own news are none.
	g.hear(g.keep.now().Answer.Standing.Digest())
	if len(g.news) != 0 {
		t.Error("what it has is news to it")
	}
}

// A crash at any point of the write leaves a certificate that fits its key: the one
// before, or the new one.
func TestRenewalKilled(t *testing.T) {
	for point, renewed := range map[string]bool{"agent.identity.begun": false, "agent.identity.written": false, "agent.identity.renamed": true} {
		g := newRig(t)
		before := g.keep.now().Answer.Certificate
		g.keep.crash = func(at string) {
			if at == point {
				panic(point)
			}
		}
		func() {
			defer func() {
				if r := recover(); r != any(point) {
					t.Errorf("never came to %s: %v", point, r)
				}
			}()
			g.days(t, 65)
		}()
		id, err := loadIdentity(g.keep.dataDir)
		if err != nil {
			t.Fatalf("%s: %v", point, err)
		}
		if _, _, err := id.pair(); err != nil || (string(id.Answer.Certificate) == string(before)) == renewed {
			t.Errorf("%s: renewed %t, %v", point, string(id.Answer.Certificate) != string(before), err)
		}
		g.keep.crash = nil
		g.keep.id = id
		g.next = time.Time{}
		g.days(t, 90)
		if _, leaf, err := g.keep.now().pair(); err != nil || !leaf.NotBefore.Equal(g.now.UTC()) {
			t.Errorf("%s: the next renewal: %v", point, err)
		}
	}
}
