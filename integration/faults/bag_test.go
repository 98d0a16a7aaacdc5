package faults

import (
	"slices"
	"sync"
)

// bag is a network without a broker: each message waits until the test takes it
// out, in whatever order, once, twice or never.
type bag struct {
	mu      sync.Mutex
	ends    map[string]*endpoint // that are connected
	down    map[string]bool
	attends map[string]*endpoint // the living, by name
	letters []letter
}

// letter is one message for one endpoint.
type letter struct {
	to, topic string
	payload   []byte
}

// bagSize bounds the messages that wait; the oldest are lost.
const bagSize = 300

func newBag(*site) network {
	return &bag{ends: map[string]*endpoint{}, down: map[string]bool{}, attends: map[string]*endpoint{}}
}

func (b *bag) attach(e *endpoint) func(string, []byte) error {
	return func(topic string, payload []byte) error { return b.post(e, topic, payload) }
}

func (b *bag) post(from *endpoint, topic string, payload []byte) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if from.dead.Load() || b.ends[from.name] != from {
		return errDown
	}
	for _, name := range sortedKeys(b.ends) {
		if to := b.ends[name]; to.matches(topic) {
			b.letters = append(b.letters, letter{name, topic, slices.Clone(payload)})
		}
	}
	b.letters = b.letters[max(0, len(b.letters)-bagSize):]
	return nil
}

func (b *bag) connect(e *endpoint) {
	b.mu.Lock()
	b.attends[e.name] = e
	up := !b.down[e.name]
	if up {
		b.ends[e.name] = e
	}
	b.mu.Unlock()
	if up {
		e.up()
	}
}

func (b *bag) cut(name string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.down[name] = true
	delete(b.ends, name)
}

func (b *bag) heal(name string) {
	b.mu.Lock()
	was := b.down[name]
	delete(b.down, name)
	e := b.attends[name]
	b.mu.Unlock()
	if was && e != nil && !e.dead.Load() {
		b.connect(e)
	}
}

// restart loses all connections and all messages at once.
func (b *bag) restart() {
	b.mu.Lock()
	b.letters = nil
	clear(b.ends)
	var all []*endpoint
	for _, name := range sortedKeys(b.attends) {
		all = append(all, b.attends[name])
	}
	b.mu.Unlock()
	for _, e := range all {
		if !e.dead.Load() {
			b.connect(e)
		}
	}
}

// take removes letter i modulo their number, or leaves it in the bag as well.
func (b *bag) take(i int, leave bool) (letter, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.letters) == 0 {
		return letter{}, false
	}
	i %= len(b.letters)
	l := b.letters[i]
	if !leave {
		b.letters = slices.Delete(b.letters, i, i+1)
	}
	return l, true
}

// deliver hands a letter to whoever has the name now; a letter to nobody is lost.
func (b *bag) deliver(l letter) {
	b.mu.Lock()
	e := b.ends[l.to]
	b.mu.Unlock()
	if e != nil && !e.dead.Load() {
		e.receive(l.topic, l.payload)
	}
}
