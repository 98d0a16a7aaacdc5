package brokers

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/pem"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	mqtt "github.com/eclipse/paho.mqtt.golang"
	natsgo "github.com/nats-io/nats.go"
	natsjs "github.com/nats-io/nats.go/jetstream"

	hubcluster "rackboot/hub/cluster"
	"rackboot/hub/pki"
	"rackboot/protocol/api"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// natsWithStore is a cluster of three nodes for messages and for the hub's store, with an account for each.
func natsWithStore(t *testing.T, s *site) *place {
	t.Helper()
	dir := t.TempDir()
	on := &hubcluster.Config{Replicas: nodes, CertFile: filepath.Join(dir, "store.pem"), KeyFile: filepath.Join(dir, "store.key")}
	key, csr := request(t)
	cert, err := s.keys.IssueClient(csr, "store", time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	s.write(on.CertFile, string(cert))
	s.write(on.KeyFile, string(key))
	s.hub.Store.NATS = on
	p := nats(t, s)
	on.CAFile = p.caFile
	for _, addr := range p.clients {
		on.URLs = append(on.URLs, "tls://"+addr)
	}
	if err := on.Check(); err != nil {
		t.Fatal(err)
	}
	return p
}

// TestHostileCertificates: a site works on the accounts that are written down, its store too, and a join needs no new
// ones. Nobody does anything there with a certificate that is not for it, over MQTT or over NATS; an agent that is revoked
// does not any more.
func TestHostileCertificates(t *testing.T) {
	t.Parallel()
	s := newSite(t, 1, natsWithStore)
	other := s.works()
	s.holdToRelease()
	s.permissions()

	first, log := s.broker.addrs[0], s.broker.written.servers[0]
	for name, config := range s.strangers() {
		if c, err := s.tries(first, config); err == nil {
			c.Disconnect(50)
			t.Errorf("%s is let in over MQTT", name)
		}
		if conn, err := s.triesNATS(config); err == nil {
			conn.Close()
			t.Errorf("%s is let in over NATS", name)
		}
	}
	for name, config := range s.mistaken() {
		c, err := s.tries(first, config)
		if err != nil {
			t.Errorf("%s is refused over MQTT, and the documents say otherwise: %v", name, err)
			continue
		}
		if s.grants(c, message.TopicDown(otherAgent, "#"), 0) {
			t.Errorf("%s is more than the agent %s", name, agentName)
		}
		c.Disconnect(50)
	}
	for name, config := range map[string]*tls.Config{"an agent": other, "the hub": s.hubTLS(s.broker.caFile)} {
		if conn, err := s.triesNATS(config); err == nil {
			conn.Close()
			t.Errorf("%s is let in over NATS", name)
		}
	}

	store, err := s.triesNATS(s.storeTLS())
	if err != nil {
		t.Fatalf("the store's certificate is refused: %v", err)
	}
	defer store.Close()
	overheard := make(chan *natsgo.Msg, 1<<16)
	if _, err := store.ChanSubscribe(">", overheard); err != nil {
		t.Fatal(err)
	}
	if err := store.Flush(); err != nil {
		t.Fatal(err)
	}
	if c, err := s.tries(first, s.storeTLS()); err == nil {
		c.Disconnect(50)
		t.Error("the store's certificate is let in over MQTT")
	}

	seen := make(chan mqtt.Message, 4096)
	s.subscribe(s.connect(s.hubTLS(s.broker.caFile), nil), message.TopicAllUp, func(_ mqtt.Client, m mqtt.Message) { seen <- m })
	for _, topic := range forbidden() {
		for _, qos := range []byte{0, 1} {
			for _, retain := range []bool{false, true} {
				before := log.says("Publish Violation")
				c := s.connect(other, nil)
				c.Publish(topic, qos, retain, forged)
				s.until("the refusal of "+topic, func() bool { return log.says("Publish Violation") > before || !c.IsConnectionOpen() }, func() any { return "none" })
				c.Disconnect(50)
			}
		}
		s.die(other, topic, forged)
	}
	for _, filter := range filters() {
		for _, qos := range []byte{0, 1} {
			if c := s.connect(other, nil); s.grants(c, filter, qos) {
				t.Errorf("%s may subscribe to %s", otherAgent, filter)
			} else {
				c.Disconnect(50)
			}
		}
	}
	for _, topic := range []string{"$JS/API/STREAM/DELETE/$MQTT_sess", "$JS/API/STREAM/DELETE/rackboot", message.TopicUp(agentName, "report"), "rackboot/hub/x"} {
		before := log.says("Publish Violation") // with the hub's certificate for the broker, as a thief of it
		c := s.connect(s.hubTLS(s.broker.caFile), nil)
		c.Publish(topic, 0, false, forged)
		s.until("the refusal of "+topic, func() bool { return log.says("Publish Violation") > before || !c.IsConnectionOpen() }, func() any { return "none" })
		c.Disconnect(50)
	}
	s.await(s.connect(other, nil).Publish(message.TopicUp(otherAgent, "probe"), 1, false, honest))
	s.arrive(seen, message.TopicUp(otherAgent, "probe"))
	s.streamsAreThere(store)
	s.release(s.word(s.hold("after"), resource.HoldFenced))

	s.revoked(other)
	for len(overheard) > 0 {
		if m := <-overheard; strings.HasPrefix(m.Subject, "rb.") || strings.Contains(string(m.Data), forged) {
			t.Errorf("%s came into the store's account", m.Subject)
		}
	}
}

// TestHostileCertificatesAtMosquitto is what of that Mosquitto can say: it lets everybody in who has a certificate of the
// hub's authority, and knows them by their common names.
func TestHostileCertificatesAtMosquitto(t *testing.T) {
	t.Parallel()
	s := newSite(t, 1, mosquittoWritten)
	other := s.works()
	s.holdToRelease()
	s.permissions()
	seen := make(chan mqtt.Message, 4096)
	s.subscribe(s.connect(s.hubTLS(s.broker.caFile), nil), message.TopicAllUp, func(_ mqtt.Client, m mqtt.Message) { seen <- m })
	hears := func(config *tls.Config) (c mqtt.Client, heard chan mqtt.Message) {
		heard = make(chan mqtt.Message, 4096)
		c, err := s.tries(s.broker.addrs[0], config)
		if err != nil {
			return nil, nil
		}
		for _, filter := range filters() {
			c.Subscribe(filter, 0, func(_ mqtt.Client, m mqtt.Message) { heard <- m }).WaitTimeout(waitAtMost) // it grants all, or none
		}
		return c, heard
	}
	for name, config := range s.strangers() {
		switch name {
		case "an agent's name and more", "an agent's name and then another": // a common name is all that Mosquitto knows
			continue
		}
		c, heard := hears(config)
		if c == nil {
			continue
		}
		for _, topic := range append(forbidden(), message.TopicUp(agentName+".client", "report")) {
			s.await(c.Publish(topic, 1, false, forged))
		}
		id := s.hold("overheard") // the hub and the agent speak meanwhile
		s.release(s.word(id, resource.HoldFenced))
		if !c.IsConnectionOpen() {
			t.Errorf("%s is not there any more, so that nothing was shown", name)
		}
		c.Disconnect(50)
		if n := len(heard); n > 0 {
			t.Errorf("%s heard %d messages, one of %s", name, n, (<-heard).Topic())
		}
	}
	s.await(s.connect(other, nil).Publish(message.TopicUp(otherAgent, "probe"), 1, false, honest))
	s.arrive(seen, message.TopicUp(otherAgent, "probe"))

	// It may stay connected, and is nobody.
	thief, ear := s.connect(other, nil), s.listens(other, filters())
	s.publish(s.connect(s.hubTLS(s.broker.caFile), nil), message.TopicDown(otherAgent, "hold"), honest)
	if got := ear.heard(); !slices.Contains(got, message.TopicDown(otherAgent, "hold")) {
		t.Errorf("an agent heard %v, and not what is for it", got)
	}
	s.revoke(otherAgent)
	s.follow()
	ear.heard()
	s.publish(s.connect(s.hubTLS(s.broker.caFile), nil), message.TopicDown(otherAgent, "hold"), honest)
	if thief.IsConnectionOpen() {
		s.await(thief.Publish(message.TopicUp(otherAgent, "probe"), 1, false, forged))
	}
	again, heardAgain := hears(other)
	if again != nil {
		s.await(again.Publish(message.TopicUp(otherAgent, "probe"), 1, false, forged))
	}
	s.release(s.word(s.hold("after"), resource.HoldFenced))
	if got := ear.heard(); len(got)+len(heardAgain) > 0 {
		t.Errorf("a revoked agent heard %v, and %d messages over another connection", got, len(heardAgain))
	}
	s.await(s.connect(s.agentTLS(), nil).Publish(message.TopicUp(agentName, "probe"), 1, false, honest))
	s.arrive(seen, message.TopicUp(agentName, "probe")) // and nothing forged
}

// otherAgent is the agent of another rack, which has a certificate and is no more than its key here.
const otherAgent = other

// works starts hub and agent, and returns what a thief of another agent's certificate has.
func (s *site) works() *tls.Config {
	s.t.Helper()
	s.startHub()
	b := &resource.Rack{}
	b.Metadata.Name = strings.TrimSuffix(otherAgent, "-1")
	b.Default()
	s.applies(append(s.manifests(), b)...)
	s.join()
	s.startAgent()
	s.running("the disk boot after the installation")

	token, err := s.client.Agents.NewToken(s.t.Context(), b.Metadata.Name, api.TokenRequest{})
	if err != nil {
		s.t.Fatal(err)
	}
	key, csr := request(s.t)
	secret, _, _ := strings.Cut(token.Token, ".") // the rest names the hub
	answer, err := s.client.Agents.Join(s.t.Context(), api.JoinRequest{Token: secret, CSR: csr, Key: make([]byte, 32), Host: "other"})
	if err != nil || answer.Agent != otherAgent {
		s.t.Fatalf("joined as %q, %v", answer.Agent, err)
	}
	return s.with(s.pair(answer.Certificate, key))
}

// revoked revokes an agent; the broker ends its connection once it has read who may do what.
func (s *site) revoked(config *tls.Config) {
	s.t.Helper()
	was := s.connect(config, nil)
	s.revoke(otherAgent)
	s.follow()
	s.until("the end of the revoked agent's connection", func() bool { return !was.IsConnectionOpen() }, func() any { return "it is open" })
	for _, addr := range s.broker.addrs {
		if c, err := s.tries(addr, config); err == nil {
			c.Disconnect(50)
			s.t.Errorf("a revoked agent is let in at %s", addr)
		}
	}
	s.release(s.word(s.hold("revoked"), resource.HoldFenced)) // the others go on
}

func (s *site) revoke(agent string) {
	s.t.Helper()
	answer, err := s.client.Agents.Revoke(s.t.Context(), agent, api.EndRequest{Reason: "its host was stolen"})
	if err != nil || !strings.Contains(answer.Broker, "rackboot-hub broker-config") {
		s.t.Fatalf("%+v, %v", answer, err)
	}
}

// forbidden are topics on which no agent may publish, but for the agent of agentName the first.
func forbidden() []string {
	return []string{
		message.TopicUp(agentName, "report"), message.TopicDown(agentName, "hold"), message.TopicDown(otherAgent, "hold"), message.TopicAnnounce,
		"rb/v1/a/" + otherAgent, "rb/v1/a/" + otherAgent + "/u.d/hold", "rackboot/hub/x", "rackboot/unit/site", "rackboot-log/x",
		"$JS/API/STREAM/DELETE/rackboot", "$JS/API/STREAM/PURGE/$MQTT_sess", "$JS/API/STREAM/MSG/DELETE/$MQTT_rmsgs", "$JS/ACK/x", "$KV/rackboot/x",
		"$MQTT/sess/x", "$MQTT/rmsgs/x", "$MQTT/msgs/x", "$MQTT/sub/x", "$MQTT/JSA/x", "_INBOX/x", "$SYS/REQ/SERVER/PING", "$SRV/PING",
	}
}

// filters are those that no agent may subscribe to, but for the agent of agentName some.
func filters() []string {
	return []string{
		"#", "+/#", "rb/#", "rb/v1/a/#", "rb/v1/a/+/d/#", "rb/v1/+/" + agentName + "/#", message.TopicDown(agentName, "#"), message.TopicDown(agentName, "hold"),
		message.TopicUp(agentName, "#"), message.TopicUp(otherAgent, "#"), message.TopicAllUp, "rb/v1/a/" + otherAgent + "/#",
		"$JS/#", "$JS/API/#", "$SYS/#", "$MQTT/#", "$MQTT/sess/#", "$MQTT/rmsgs/#", "$MQTT/sub/x", "$MQTT/deliver/pubrel/x", "$KV/#", "_INBOX/#",
		"rackboot/#", "rackboot-log/#", "rackboot/hub/#",
	}
}

// strangers are certificates that nobody may do anything with. All but the first were signed by the hub's own authority,
// which signs none of the crafted ones: a second wall.
func (s *site) strangers() map[string]*tls.Config {
	s.t.Helper()
	t := s.t
	ownKey, ownDER := issue(t, &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "Rackboot CA"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}, nil, nil)
	own, err := x509.ParseCertificate(ownDER)
	if err != nil {
		t.Fatal(err)
	}
	cn := func(value string) pkix.RelativeDistinguishedNameSET {
		return pkix.RelativeDistinguishedNameSET{{Type: asn1.ObjectIdentifier{2, 5, 4, 3}, Value: value}}
	}
	o := pkix.RelativeDistinguishedNameSET{{Type: asn1.ObjectIdentifier{2, 5, 4, 10}, Value: "x"}}
	ca, caKey := s.authority()
	out := map[string]*tls.Config{
		"an agent's name of another authority":   s.crafted(own, ownKey, pkix.RDNSequence{cn(agentName)}, nil),
		"the hub's name of another authority":    s.crafted(own, ownKey, pkix.RDNSequence{cn(pki.HubIdentity)}, nil),
		"an agent's name and more":               s.crafted(ca, caKey, pkix.RDNSequence{o, cn(agentName)}, nil),
		"an agent's name and then another":       s.crafted(ca, caKey, pkix.RDNSequence{cn(agentName), cn("x")}, nil),
		"two names":                              s.crafted(ca, caKey, pkix.RDNSequence{cn("x"), cn("y")}, nil),
		"no subject":                             s.crafted(ca, caKey, pkix.RDNSequence{}, nil),
		"an agent's name among its DNS names":    s.crafted(ca, caKey, pkix.RDNSequence{cn("x")}, []string{agentName, pki.HubIdentity, "*", ">"}),
		"an agent that has not joined any rack":  s.crafted(ca, caKey, pkix.RDNSequence{cn("rack-c1-1")}, nil),
		"an agent's name that goes on":           s.crafted(ca, caKey, pkix.RDNSequence{cn(agentName + "1")}, nil),
		"the beginning of an agent's name":       s.crafted(ca, caKey, pkix.RDNSequence{cn(agentName[:len(agentName)-1])}, nil),
		"a certificate of the API":               nil,
		"a certificate for the wrong use":        nil,
		"one that is over":                       nil,
		"a name in another script, like another": s.crafted(ca, caKey, pkix.RDNSequence{cn("r\u0430ck-a1-1")}, nil),
	}
	for _, value := range []string{"*", ">", "+", "#", "rack-*", "rack-a1-1.u.>", "a.b", "rack-a1-1 ", " rack-a1-1", "rack a1", "RACK-A1-1", "rack-a1-1\n", "CN=rack-a1-1", "rack-a1-1,O=x", `rack-a1-1"`, "räck", "%u", "%c", "$SYS", agentName + "/u"} {
		out["the name "+value] = s.crafted(ca, caKey, pkix.RDNSequence{cn(value)}, nil)
	}
	key, csr := request(t)
	cert, err := s.keys.IssueClient(csr, agentName, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	out["a certificate of the API"] = s.with(s.pair(cert, key))
	past := template(pkix.RDNSequence{cn(agentName)})
	past.NotBefore, past.NotAfter = time.Now().Add(-2*time.Hour), time.Now().Add(-time.Hour)
	out["one that is over"] = s.signed(past, ca, caKey)
	serves := template(pkix.RDNSequence{cn(agentName)})
	serves.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	out["a certificate for the wrong use"] = s.signed(serves, ca, caKey)
	return out
}

// mistaken are certificates that NATS takes for the agent's: it compares a subject without what it does not know of it, with
// the last of several common names, and before that alternative names. No hub signs such a one; it is why the listeners
// may trust no other authority.
func (s *site) mistaken() map[string]*tls.Config {
	s.t.Helper()
	ca, key := s.authority()
	cn := pkix.RelativeDistinguishedNameSET{{Type: asn1.ObjectIdentifier{2, 5, 4, 3}, Value: agentName}}
	before := pkix.RelativeDistinguishedNameSET{{Type: asn1.ObjectIdentifier{2, 5, 4, 3}, Value: "x"}}
	uid := pkix.RelativeDistinguishedNameSET{{Type: asn1.ObjectIdentifier{0, 9, 2342, 19200300, 100, 1, 1}, Value: "x"}}
	return map[string]*tls.Config{
		"an attribute that it does not know": s.crafted(ca, key, pkix.RDNSequence{uid, cn}, nil),
		"the last of two names":              s.crafted(ca, key, pkix.RDNSequence{before, cn}, nil),
		"an alternative name":                s.crafted(ca, key, pkix.RDNSequence{uid}, []string{"CN=" + agentName}),
	}
}

// authority is the hub's, with the key that only the hub has.
func (s *site) authority() (*x509.Certificate, *ecdsa.PrivateKey) {
	s.t.Helper()
	raw, err := os.ReadFile(filepath.Join(s.hub.DataDir, "pki", "ca.pem"))
	if err != nil {
		s.t.Fatal(err)
	}
	pair := s.pair(raw, raw)
	key, is := pair.PrivateKey.(*ecdsa.PrivateKey)
	if !is {
		s.t.Fatalf("%T", pair.PrivateKey)
	}
	return pair.Leaf, key
}

func template(subject pkix.RDNSequence) *x509.Certificate {
	raw, err := asn1.Marshal(subject)
	if err != nil {
		panic(err) // of a table's row
	}
	return &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), RawSubject: raw, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}
}

func (s *site) crafted(ca *x509.Certificate, caKey *ecdsa.PrivateKey, subject pkix.RDNSequence, dns []string) *tls.Config {
	c := template(subject)
	c.DNSNames = dns
	return s.signed(c, ca, caKey)
}

func (s *site) signed(c, ca *x509.Certificate, caKey *ecdsa.PrivateKey) *tls.Config {
	s.t.Helper()
	key, der := issue(s.t, c, ca, caKey)
	return s.with(tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key})
}

// with is a client with a certificate, which it shows whatever the server asks for.
func (s *site) with(pair tls.Certificate) *tls.Config {
	s.t.Helper()
	c := s.hubTLS(s.broker.caFile)
	c.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return &pair, nil }
	return c
}

func (s *site) pair(cert, key []byte) tls.Certificate {
	s.t.Helper()
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		s.t.Fatal(err)
	}
	return pair
}

func (s *site) storeTLS() *tls.Config {
	s.t.Helper()
	pair, err := tls.LoadX509KeyPair(s.hub.Store.NATS.CertFile, s.hub.Store.NATS.KeyFile)
	if err != nil {
		s.t.Fatal(err)
	}
	return s.with(pair)
}

// request is a key and a request for its certificate, both PEM.
func request(t *testing.T) (key, csr []byte) {
	t.Helper()
	own, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(own)
	if err != nil {
		t.Fatal(err)
	}
	asked, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{}, own)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: asked})
}

// tries connects over MQTT, once.
func (s *site) tries(addr string, config *tls.Config) (mqtt.Client, error) {
	s.t.Helper()
	c := mqtt.NewClient(mqtt.NewClientOptions().AddBroker("mqtts://" + addr).SetTLSConfig(config).SetProtocolVersion(4).
		SetClientID(rand.Text()[:20]).SetCleanSession(true).SetAutoReconnect(false).SetConnectRetry(false).SetConnectTimeout(waitAtMost))
	token := c.Connect()
	if !token.WaitTimeout(waitAtMost) {
		s.t.Fatal("no answer from the broker")
	}
	return c, token.Error()
}

// triesNATS connects as a NATS client, once, to the first node.
func (s *site) triesNATS(config *tls.Config) (*natsgo.Conn, error) {
	return natsgo.Connect("tls://"+s.broker.clients[0], natsgo.Secure(config), natsgo.NoReconnect(), natsgo.Timeout(10*time.Second))
}

// grants subscribes, and reports whether the broker said yes.
func (s *site) grants(c mqtt.Client, filter string, qos byte) bool {
	s.t.Helper()
	token := c.Subscribe(filter, qos, nil)
	if !token.WaitTimeout(waitAtMost) {
		s.t.Fatalf("no answer to the subscription of %s", filter)
	}
	code, there := token.(*mqtt.SubscribeToken).Result()[filter]
	return token.Error() == nil && there && code < 0x80
}

// streamsAreThere looks from the store's account: its streams are there, and none of the other account's.
func (s *site) streamsAreThere(conn *natsgo.Conn) {
	s.t.Helper()
	js, err := natsjs.New(conn)
	if err != nil {
		s.t.Fatal(err)
	}
	names := js.StreamNames(s.t.Context())
	has := map[string]bool{}
	for name := range names.Name() {
		has[name] = true
	}
	delete(has, "rackboot-files") // made where the servers have room for uploads
	if err := names.Err(); err != nil || len(has) != 3 || !has["rackboot"] || !has["rackboot-log"] || !has["rackboot-audit"] {
		s.t.Errorf("the store's account has the streams %v, %v", has, err)
	}
}
