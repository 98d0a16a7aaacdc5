package faults

import (
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"rackboot/protocol/message"
	"rackboot/protocol/resource"
	"rackboot/protocol/wire"
)

// TestMaliciousBroker: whoever has the broker, and not the keys, can delay. What it
// does is seen, said, and forgotten when it is honest again (P11).
func TestMaliciousBroker(t *testing.T) {
	seed := seedOf(t)
	for _, row := range []struct {
		name string
		do   func(*thief) policy
		// What must be said while it lasts, at each end.
		agent, hub []resource.ConditionCode
	}{
		{"forges", does((*thief).forge), conds(resource.CondMessagesRefused), conds(resource.CondMessagesRefused)},
		{"flips bits", does((*thief).flip), conds(resource.CondMessagesRefused), conds(resource.CondMessagesRefused)},
		{"truncates", does((*thief).truncate), conds(resource.CondMessagesRefused), conds(resource.CondMessagesRefused)},
		{"redirects", does((*thief).redirect), conds(resource.CondMessagesRefused), conds(resource.CondMessagesRefused)},
		{"plays old messages back", (*thief).replay, nil, nil},
		{"plays old messages back instead of new ones", does((*thief).freeze), conds(resource.CondHubUnverified), conds(resource.CondDark)},
		{"withholds what goes down", withhold(down), conds(resource.CondHubUnverified), conds(resource.CondNotAcknowledged)},
		{"withholds what goes up", withhold(up), nil, conds(resource.CondDark)},
		{"withholds the holds", withhold(leaf(message.LeafHold)), nil, conds(resource.CondNotAcknowledged)},
		{"withholds the shard", withhold(leaf(message.LeafRack)), nil, conds(resource.CondNotAcknowledged)},
		{"withholds the acknowledgements", withhold(leaf(message.LeafApplied)), nil, conds(resource.CondNotAcknowledged)},
		{"withholds the hub's word", withhold(leaf(message.LeafSync)), conds(resource.CondHubUnverified), nil},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				racks := 1
				if row.name == "redirects" {
					racks = 2
				}
				s := newSite(t, seed, racks, newBroker)
				b := &table{site: s, broker: s.net.(*broker)}
				defer func() { b.stop() }()
				th := &thief{table: b, key: wire.NewSigner(key("thief")), r: rand.New(rand.NewPCG(seed, 2)), ended: make(chan struct{})}
				b.broker.setPolicy(th.listen(honest))
				b.untilSettled("at the beginning", true)
				th.earlier()
				b.broker.setPolicy(th.listen(row.do(th)))
				b.note("the broker is not honest any more")
				b.place(unclaimed, resource.StopHard)
				b.somebody() // there is something to be acknowledged
				b.claim(claimed)
				b.seen(row.agent, row.hub)
				b.live(brief(10 * time.Minute))
				b.alone()
				b.broker.setPolicy(honest)
				close(th.ended)
				b.settle()
				b.alone()
			})
		})
	}
}

// alone wants that the agent is not taken for two, whatever the broker made of its words.
func (b *table) alone() {
	b.t.Helper()
	if b.agent().says(resource.CondAgentCopied) || b.has(b.hub.agentConditions(b.agent().name), resource.CondAgentCopied) {
		b.t.Error("a lone agent is taken for two")
	}
}

// does makes a policy of what a thief does with each message; listen holds its lock.
func does(do func(*thief, string, []byte) []delivery) func(*thief) policy {
	return func(th *thief) policy {
		return func(topic string, payload []byte) []delivery { return do(th, topic, payload) }
	}
}

func conds(c ...resource.ConditionCode) []resource.ConditionCode { return c }

// seen waits until each end says what it must.
func (b *table) seen(agent, hub []resource.ConditionCode) {
	b.t.Helper()
	missing := func() (out []string) {
		for _, c := range agent {
			if !b.agent().says(c) {
				out = append(out, "the agent does not say "+string(c))
			}
		}
		conds := b.hub.agentConditions(b.agent().name)
		for _, c := range hub {
			if !b.has(conds, c) {
				out = append(out, "the hub does not say "+string(c))
			}
		}
		return out
	}
	said := map[string]bool{}
	all := missing()
	for end := time.Now().Add(30 * time.Minute); time.Now().Before(end); {
		b.live(30 * time.Second)
		now := missing()
		for _, m := range all {
			if !slices.Contains(now, m) {
				said[m] = true
			}
		}
		if len(said) == len(all) {
			return
		}
	}
	for _, m := range all {
		if !said[m] {
			b.t.Errorf("within 30 minutes %s", m)
		}
	}
}

// thief has the broker and no key but its own.
type thief struct {
	*table
	key *wire.Signer

	ended chan struct{} // closed when the broker is honest again

	mu   sync.Mutex
	r    *rand.Rand
	kept map[string][]delivery // what passed, by topic
}

// keptOf bounds what is kept of one topic.
const keptOf = 200

// listen keeps what passes.
func (th *thief) listen(p policy) policy {
	return func(topic string, payload []byte) []delivery {
		th.mu.Lock()
		defer th.mu.Unlock()
		if th.kept == nil {
			th.kept = map[string][]delivery{}
		}
		if k := th.kept[topic]; len(k) < keptOf {
			th.kept[topic] = append(k, delivery{0, topic, payload})
		}
		return p(topic, payload)
	}
}

// earlier is a time of which there are old messages of every kind: holds come and
// go, and both ends start again.
func (th *thief) earlier() {
	for range 3 {
		id := th.place(installed, resource.StopHard)
		th.live(brief(2 * time.Minute))
		th.release(id)
		th.agent().kill()
		th.agent().start()
		th.live(brief(2 * time.Minute))
		th.hub.kill()
		th.hub.start()
	}
	th.untilSettled("after the earlier time", false)
}

// some is a kept message of the topic.
func (th *thief) some(topic string) []delivery {
	k := th.kept[topic]
	if len(k) == 0 {
		return nil
	}
	return []delivery{k[th.r.IntN(len(k))]}
}

// forge adds a message with the same content under the thief's own key.
func (th *thief) forge(topic string, payload []byte) []delivery {
	msg := emptyOf(topic)
	keys := wire.NewVerifier(th.hubSigner.Public(), th.agents[0].signer.Public())
	if !opens(keys, topic, payload, msg) {
		return honest(topic, payload)
	}
	forged, err := wire.Seal(th.key, topic, msg)
	if err != nil {
		th.t.Error(err)
	}
	return append(honest(topic, payload), delivery{0, topic, forged})
}

func emptyOf(topic string) any {
	_, _, leaf, _ := message.SplitTopic(topic)
	switch {
	case topic == message.TopicAnnounce:
		return &message.Announce{}
	case leaf == message.LeafHold:
		return &message.HoldDoc{}
	case strings.HasPrefix(leaf, message.LeafRack):
		return &message.RackDoc{}
	case leaf == message.LeafSync:
		return &message.Sync{}
	case leaf == message.LeafHello:
		return &message.Hello{}
	case leaf == message.LeafApplied:
		return &message.Applied{}
	case leaf == message.LeafReport:
		return &message.Report{}
	default:
		return &message.EventBatch{}
	}
}

func (th *thief) flip(topic string, payload []byte) []delivery {
	if th.r.IntN(2) == 0 {
		return honest(topic, payload)
	}
	spoilt := slices.Clone(payload)
	spoilt[th.r.IntN(len(spoilt))] ^= 1 << th.r.IntN(8)
	return []delivery{{0, topic, spoilt}}
}

func (th *thief) truncate(topic string, payload []byte) []delivery {
	if th.r.IntN(2) == 0 {
		return honest(topic, payload)
	}
	return []delivery{{0, topic, payload[:th.r.IntN(len(payload))]}}
}

// redirect sends each message to the other agent, or in the other's name, as well.
func (th *thief) redirect(topic string, payload []byte) []delivery {
	one, two := "/"+th.agents[0].name+"/", "/"+th.agents[1].name+"/"
	other := strings.Replace(topic, one, two, 1)
	if other == topic {
		other = strings.Replace(topic, two, one, 1)
	}
	return append(honest(topic, payload), delivery{0, other, payload})
}

// replay sends ten old messages a second, of every kind, between the new ones.
func (th *thief) replay() policy {
	go func() {
		for {
			select {
			case <-th.ended:
				return
			case <-time.After(100 * time.Millisecond):
			}
			th.mu.Lock()
			topics := sortedKeys(th.kept)
			old := th.some(topics[th.r.IntN(len(topics))])
			th.mu.Unlock()
			for _, d := range old {
				th.broker.send(d)
			}
		}
	}()
	return honest
}

// freeze shows both ends an old world only.
func (th *thief) freeze(topic string, payload []byte) []delivery {
	if old := th.some(topic); th.old(old, payload) {
		return old
	}
	return nil
}

func (th *thief) old(found []delivery, payload []byte) bool {
	return len(found) == 1 && !slices.Equal(found[0].payload, payload)
}

// withhold loses what is of the kind.
func withhold(of func(topic string) bool) func(*thief) policy {
	return func(*thief) policy {
		return func(topic string, payload []byte) []delivery {
			if of(topic) {
				return nil
			}
			return honest(topic, payload)
		}
	}
}

func down(topic string) bool { return !up(topic) }

func up(topic string) bool {
	_, direction, _, _ := message.SplitTopic(topic)
	return direction == "u"
}

func leaf(name string) func(string) bool {
	return func(topic string) bool {
		_, _, leaf, _ := message.SplitTopic(topic)
		return leaf == name || strings.HasPrefix(leaf, name+"/")
	}
}
