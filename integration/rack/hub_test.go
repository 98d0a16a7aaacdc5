package rack

import (
	"maps"
	"sync"
	"time"

	"rackboot/agent"
	"rackboot/agent/link"
	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/protocol/wire"
)

// hub answers an agent as a hub does, by what passed through it.
type hub struct {
	signer *wire.Signer
	key    *wire.Verifier // the agent's

	mu      sync.Mutex
	receive sync.Mutex // an agent receives one message at a time
	pending sync.WaitGroup
	heads   map[string]protocol.Head
	digests map[string]string
	fence   message.Fence // of the hub and its documents; zero is heeded also where no Sync comes
	silent  bool          // it is not heard
	renew   string        // an incarnation that it has seen to be an old copy
	known   string        // the incarnation that said Hello last
}

func newHub(signer *wire.Signer, key *wire.Verifier) *hub {
	return &hub{signer: signer, key: key, heads: map[string]protocol.Head{}, digests: map[string]string{}}
}

// mute withholds everything that the hub says by itself, or no more.
func (h *hub) mute(silent bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.silent = silent
}

// roll has the hub see that the present disk of the agent is an old copy, and waits
// for the next.
func (h *hub) roll(a *agent.Agent, t link.Transport) {
	h.mu.Lock()
	h.renew = h.known
	h.mu.Unlock()
	a.Connected(t)
	for end, old := time.Now().Add(20*time.Second), true; old; time.Sleep(time.Millisecond) { // between looks
		if time.Now().After(end) {
			panic("no Hello of a new incarnation")
		}
		h.mu.Lock()
		old = h.known == h.renew
		h.mu.Unlock()
	}
}

// note keeps what a document is, if it is one.
func (h *hub) note(topic string, raw []byte) {
	var d struct {
		Head protocol.Head `json:"head"`
	}
	_, _, leaf, _ := message.SplitTopic(topic)
	if wire.Open(wire.NewVerifier(h.signer.Public()), topic, raw, &d) != nil || d.Head.Version == 0 {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if d.Head.Newer(h.heads[leaf]) {
		h.heads[leaf], h.digests[leaf] = d.Head, wire.Digest(raw)
	}
}

// give hands a message to the agent.
func (h *hub) give(a *agent.Agent, topic string, raw []byte) {
	h.note(topic, raw)
	h.receive.Lock()
	defer h.receive.Unlock()
	a.Receive(topic, raw)
}

// hear answers a Hello, in time.
func (h *hub) hear(a *agent.Agent, topic string, raw []byte) {
	var m message.Hello
	if a == nil || topic != message.TopicUp(agentID, message.LeafHello) || wire.Open(h.key, topic, raw, &m) != nil {
		return
	}
	s, ok := h.answer(m)
	if !ok {
		return
	}
	down := message.TopicDown(agentID, message.LeafSync)
	data, err := wire.Seal(h.signer, down, s)
	if err != nil {
		return
	}
	h.pending.Go(func() { h.give(a, down, data) })
}

func (h *hub) answer(m message.Hello) (message.Sync, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.known = m.Incarnation
	s := message.Sync{
		Session: m.Session, Protocol: protocol.Version, At: time.Now(), Epoch: 1, Fence: h.fence, Nonce: "nonce of " + m.Session,
		ValidFor: message.SyncValid,
	}
	if h.renew != "" && h.renew == m.Incarnation {
		s.Again, s.Renew = true, h.renew
		return s, !h.silent
	}
	s.Heads, s.Digests = maps.Clone(h.heads), maps.Clone(h.digests)
	return s, !h.silent
}
