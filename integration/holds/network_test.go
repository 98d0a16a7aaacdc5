package holds

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"

	"rackboot/protocol/message"
)

// queueSize bounds what waits for one end of the network.
const queueSize = 1024

var errDown = errors.New("not connected")

// network is the link between hub and agent: in order, until it is cut. It keeps the
// hold documents that went through, and can change one on its way.
type network struct {
	mu     sync.Mutex
	ends   map[string]*endpoint
	down   bool
	passed []packet                     // hold documents
	tamper func(packet) (packet, error) // of hold documents; nil for none
}

type packet struct {
	topic   string
	payload []byte
}

// endpoint is one run of a hub or an agent.
type endpoint struct {
	up      func() // on each new connection
	receive func(topic string, payload []byte)
	hears   func(topic string) bool
	queue   chan packet
	done    sync.WaitGroup
}

func newNetwork() *network { return &network{ends: map[string]*endpoint{}} }

// join connects a process under a name.
func (n *network) join(name string, e *endpoint) {
	e.queue = make(chan packet, queueSize)
	e.done.Go(func() {
		for m := range e.queue {
			e.receive(m.topic, m.payload)
		}
	})
	n.mu.Lock()
	n.ends[name] = e
	down := n.down
	n.mu.Unlock()
	if !down {
		e.up()
	}
}

// leave ends a process's connection, and returns when it receives nothing any more.
func (n *network) leave(name string) {
	n.mu.Lock()
	e := n.ends[name]
	delete(n.ends, name)
	if e != nil {
		close(e.queue)
	}
	n.mu.Unlock()
	if e != nil {
		e.done.Wait()
	}
}

func (n *network) publish(from, topic string, payload []byte) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.down || n.ends[from] == nil {
		return errDown
	}
	m := packet{topic, slices.Clone(payload)}
	if _, direction, leaf, ok := message.SplitTopic(topic); ok && direction == "d" && leaf == message.LeafHold {
		if n.tamper != nil {
			var err error
			if m, err = n.tamper(m); err != nil {
				return err
			}
		}
		n.passed = append(n.passed, m)
	}
	n.give(m)
	return nil
}

// give hands a message to who hears it; it needs n.mu.
func (n *network) give(m packet) {
	for _, name := range slices.Sorted(maps.Keys(n.ends)) {
		if e := n.ends[name]; e.hears(m.topic) {
			select {
			case e.queue <- m:
			default: // the link may lose
			}
		}
	}
}

// cut parts hub and agent; heal joins them again.
func (n *network) cut() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.down = true
}

func (n *network) heal() {
	n.mu.Lock()
	n.down = false
	ends := maps.Clone(n.ends)
	n.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(ends)) {
		ends[name].up()
	}
}

// replay gives the agent the hold document again that was the last but back.
func (n *network) replay(back int) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.passed) <= back {
		return errors.New("so many hold documents did not pass")
	}
	n.give(n.passed[len(n.passed)-1-back])
	return nil
}

func hears(filters ...string) func(string) bool {
	return func(topic string) bool {
		return slices.ContainsFunc(filters, func(f string) bool {
			pre, rest, wild := strings.Cut(f, "+")
			if !wild {
				pre, _, wild = strings.Cut(f, "#")
				return topic == f || wild && strings.HasPrefix(topic, pre)
			}
			_, after, ok := strings.Cut(strings.TrimPrefix(topic, pre), "/")
			return ok && strings.HasPrefix(topic, pre) && strings.HasPrefix("/"+after, strings.TrimSuffix(rest, "#"))
		})
	}
}
