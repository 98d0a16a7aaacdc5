package control

import (
	"cmp"
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"rackboot/hub/approval"
	"rackboot/hub/fence"
	"rackboot/hub/images"
	"rackboot/hub/secret"
	"rackboot/hub/store"
	"rackboot/hub/store/storetest"
	"rackboot/hub/terms"
	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
	"rackboot/protocol/wire"
)

// bench is a Control over an in-memory store. Nothing runs by itself: a test makes
// each pass, and time stands still until it moves it.
type bench struct {
	catalogue images.Files
	signed    images.Verifier
	t         *testing.T
	now       time.Time
	mem       *storetest.Memory
	store     *store.Store
	hub       *wire.Signer
	past      []ed25519.PublicKey // keys of the hub before
	images    images.Registry
	deltas    *store.Deltas // of this start of the hub
	control   *Control
	reg       *prometheus.Registry
	sent      []packet // since the last take
	ids       int
	random    counting
	crash     string // the point at which to die
	kek       string // the key of the hub's secrets; empty is none
	trail     trail
	seq       map[string]uint64
	nonces    map[string]string // of the session that greets began, by agent
	unread    bool              // nothing is known of servers that no test reports
	feature   bool              // managedBootImages
	cut       func(agent string) (int, error)
	passes    func(point string) // is called at each crash point
	version   string

	policy      approval.Policy
	destructive *approval.Key
}

type packet struct {
	topic   string
	payload []byte
}

// crashed is what a bench panics with at its crash point.
type crashed struct{ point string }

func key(name string) ed25519.PrivateKey {
	seed := sha256.Sum256([]byte(name))
	return ed25519.NewKeyFromSeed(seed[:])
}

func newBench(t *testing.T, images images.Registry) *bench {
	t.Helper()
	b := &bench{t: t, now: time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC), mem: storetest.NewMemory(), hub: wire.NewSigner(key("hub")), images: images, seq: map[string]uint64{}, nonces: map[string]string{}}
	b.restart()
	t.Cleanup(b.unaltered)
	return b
}

func (b *bench) clock() time.Time { return b.now }

func (b *bench) newID() string {
	b.ids++
	return fmt.Sprintf("id%06d", b.ids)
}

// unaltered holds everybody to the contract of what the store shares.
func (b *bench) unaltered() {
	b.t.Helper()
	if keys := b.store.Objects.Altered(); len(keys) > 0 {
		b.t.Errorf("shared resources were changed: %v", keys)
	}
}

// restart opens the store again, as a hub that starts does.
func (b *bench) restart() {
	b.t.Helper()
	if b.store != nil {
		b.unaltered()
	}
	clear(b.nonces)
	b.reg = prometheus.NewRegistry()
	vault := secret.New(secret.Config{
		Current: &secret.Source{Env: "KEY"}, Getenv: func(string) string { return b.kek }, Logger: slog.New(slog.DiscardHandler), Registerer: b.reg,
	})
	var err error
	if b.store, err = store.Open(b.t.Context(), store.Config{KV: b.mem, Log: b.mem, Clock: b.clock, NewID: b.newID, Vault: vault, Crash: b.at}); err != nil {
		b.t.Fatal(err)
	}
	vault.Start(b.t.Context(), b.store.Secrets, b.store.Meta)
	b.deltas, _ = b.store.Deltas()
	start, err := fence.Begin(b.t.Context(), b.store.Meta, b.clock, slog.New(slog.DiscardHandler), b.newID())
	if err != nil {
		b.t.Fatal(err)
	}
	b.control, err = New(b.t.Context(), Config{
		Store: b.store, Start: start, Signer: b.hub, Images: b.images, Issuer: anyIssuer{}, Vault: vault, Catalogue: b.catalogue, Signatures: b.signed, Audit: &b.trail, CA: []byte("ca"), Broker: "mqtts://hub:8883",
		Approvals: b.policy, Destructive: b.destructive, ManagedBootImages: b.feature, Version: b.version, Trail: &b.trail, PastKeys: b.past,
		Publish: func(topic string, payload []byte) error {
			b.sent = append(b.sent, packet{topic, payload})
			return nil
		},
		Clock: b.clock, NewID: b.newID, Random: &b.random, Logger: slog.New(slog.DiscardHandler), Registerer: b.reg,
		Crash: b.at,
		Cut: func(agent string) (int, error) {
			if b.cut == nil {
				return 0, nil
			}
			return b.cut(agent)
		},
	})
	if err != nil {
		b.t.Fatal(err)
	}
}

// at is a crash point.
func (b *bench) at(point string) {
	if b.passes != nil {
		b.passes(point)
	}
	if point == b.crash {
		b.crash = ""
		panic(crashed{point})
	}
}

// dies runs do until the crash point and starts the hub again.
func (b *bench) dies(point string, do func()) {
	b.t.Helper()
	b.crash = point
	func() {
		defer func() {
			if r := recover(); r != any(crashed{point}) {
				b.t.Fatalf("the hub did not come to %s: %v", point, r)
			}
		}()
		do()
	}()
	b.restart()
}

// counting is a source of bytes that never repeat.
type counting struct{ n uint64 }

func (c *counting) Read(p []byte) (int, error) {
	c.n++
	sum := sha256.Sum256(fmt.Append(nil, c.n))
	return copy(p, sum[:]), nil
}

// anyIssuer certifies whatever it is asked to.
type anyIssuer struct{}

func (anyIssuer) IssueAgent(_ []byte, agent string, _ time.Duration) ([]byte, error) {
	return []byte("certificate of " + agent), nil
}

func (b *bench) apply(objs ...resource.Object) {
	b.t.Helper()
	if _, err := b.store.Sets.Apply(b.t.Context(), objs, store.ApplyOptions{By: "test"}); err != nil {
		b.t.Fatal(err)
	}
}

// pass reconciles, asks registries for what is due, and reconciles again.
func (b *bench) pass() {
	b.t.Helper()
	b.readOff()
	for range 2 {
		if err := b.control.reconcile(b.t.Context()); err != nil {
			b.t.Fatalf("reconcile: %v", err)
		}
		b.control.boots.images.Work(b.t.Context())
	}
	if err := b.control.reconcile(b.t.Context()); err != nil {
		b.t.Fatalf("reconcile: %v", err)
	}
}

// lane takes the turns of hold documents that are due, and nothing else.
func (b *bench) lane() {
	b.t.Helper()
	for _, rack := range b.control.wake.Holds.Take() {
		if err := b.control.Outbound.Holds.Turn(b.t.Context(), rack); err != nil {
			b.t.Fatal(err)
		}
	}
}

// readOff has each claimed server that was not reported read Off, some time ago: no claim
// is configured before. It counts as no report of an agent.
func (b *bench) readOff() {
	if b.unread {
		return
	}
	for _, cl := range store.List[*resource.Claim](b.store.Objects) {
		name := cl.Status.Server
		if ref := cl.Spec.ServerRef; ref != nil {
			name = ref.Name
		}
		if name == "" {
			continue
		}
		at := time.Time{}
		if b.feature {
			at = b.now // a roll-out waits for who is silent
		}
		b.control.reports.Assume(resource.ServerReport{Server: name, Power: protocol.PowerOff}, at)
	}
}

// join makes an agent of the rack; its key is made from its name.
func (b *bench) join(rack string) string {
	b.t.Helper()
	token, err := b.control.Members.NewJoinToken(b.t.Context(), rack, false)
	if err != nil {
		b.t.Fatal(err)
	}
	r, err := store.Get[*resource.Rack](b.store.Objects, rack)
	if err != nil {
		b.t.Fatal(err)
	}
	name := terms.AgentName(rack, r.Status.Term+1)
	answer, err := b.control.Members.Join(b.t.Context(), api.JoinRequest{Token: token.Token, Key: wire.NewSigner(key(name)).Public()})
	if err != nil || answer.Agent != name {
		b.t.Fatalf("joined as %q, want %q: %v", answer.Agent, name, err)
	}
	return name
}

// says has an agent sign a message for its own topic. One without a nonce gets that of
// the session which greets began.
func (b *bench) says(agent, leaf string, msg any) {
	b.t.Helper()
	switch m := msg.(type) {
	case message.Applied:
		m.Nonce = cmp.Or(m.Nonce, b.nonces[agent])
		msg = m
	case message.Report:
		m.Nonce = cmp.Or(m.Nonce, b.nonces[agent])
		msg = m
	}
	b.forge(agent, leaf, key(agent), msg)
}

// forge seals a message with any key.
func (b *bench) forge(agent, leaf string, k ed25519.PrivateKey, msg any) {
	b.t.Helper()
	topic := message.TopicUp(agent, leaf)
	b.control.Link.Receive(topic, seal(b.t, k, topic, msg))
}

func seal(t *testing.T, k ed25519.PrivateKey, topic string, msg any) []byte {
	t.Helper()
	data, err := wire.Seal(wire.NewSigner(k), topic, msg)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// reports sends a report with the next number.
func (b *bench) reports(agent string, servers ...resource.ServerReport) {
	b.t.Helper()
	b.known(agent)
	b.seq[agent]++
	b.says(agent, message.LeafReport, message.Report{Agent: agent, Session: "s", Incarnation: "i", Seq: b.seq[agent], At: b.now, Shards: 1, Servers: servers})
}

// took are the leaves that were sent to an agent since the last take, in order.
func (b *bench) took(agent string) []string {
	b.t.Helper()
	var out []string
	for _, m := range b.sent {
		if to, _, leaf, _ := message.SplitTopic(m.topic); to == agent {
			out = append(out, leaf)
		}
	}
	b.sent = nil
	return out
}

// last opens the last message of a leaf that was sent to an agent.
func last[T any](b *bench, agent, leaf string) (m T) {
	b.t.Helper()
	topic := message.TopicDown(agent, leaf)
	for _, v := range slices.Backward(b.sent) {
		if v.topic == topic {
			if err := wire.Open(wire.NewVerifier(b.hub.Public()), topic, v.payload, &m); err != nil {
				b.t.Fatal(err)
			}
			return m
		}
	}
	b.t.Fatalf("nothing was sent to %s", topic)
	return m
}

// acks acknowledges everything that the ledger has for an agent.
func (b *bench) acks(agent string) {
	b.t.Helper()
	b.known(agent)
	l := b.ledger(agent)
	for leaf, s := range l.Sent {
		b.says(agent, message.LeafApplied, message.Applied{Doc: leaf, Head: s.Head, Digest: s.Sealed})
	}
}

// hello begins a session of an agent that has these documents: the first Hello asks for
// the nonce with which the second proves that it is new.
func (b *bench) hello(agent, session string, applied map[string]protocol.Head) {
	b.t.Helper()
	l := b.ledger(agent)
	m := message.Hello{
		Agent: agent, Session: session, Incarnation: "i", Protocol: protocol.Version, Applied: applied, Digests: map[string]string{},
		At: b.now, Nonce: b.nonces[agent], Capabilities: message.Capabilities(),
	}
	for leaf, head := range applied {
		if s, ok := l.Sent[leaf]; ok && s.Head == head {
			m.Digests[leaf] = s.Sealed
		}
	}
	for range 3 {
		b.says(agent, message.LeafHello, m)
		answer := last[message.Sync](b, agent, message.LeafSync)
		b.nonces[agent], m.Nonce = answer.Nonce, answer.Nonce
		if !answer.Again {
			return
		}
	}
	b.t.Fatalf("the hub never heeds %s", agent)
}

// greets has an agent say that it has what the ledger has.
func (b *bench) greets(agent string) {
	b.t.Helper()
	l := b.ledger(agent)
	applied := map[string]protocol.Head{}
	for leaf, s := range l.Sent {
		applied[leaf] = s.Head
	}
	sent := b.sent
	b.hello(agent, "s", applied)
	b.sent = sent
}

func (b *bench) ledger(agent string) store.Ledger {
	b.t.Helper()
	l, err := b.store.Ledgers.Get(agent)
	if err != nil {
		b.t.Fatal(err)
	}
	return l
}

// known greets an agent that has no session.
func (b *bench) known(agent string) {
	b.t.Helper()
	if b.nonces[agent] == "" {
		b.greets(agent)
	}
}

func codes(conds []resource.ConditionState) string {
	var out []string
	for _, c := range conds {
		out = append(out, string(c.Code))
	}
	return strings.Join(out, " ")
}

func ctx(t *testing.T) context.Context { return t.Context() }
