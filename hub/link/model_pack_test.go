//go:build !race

package link

// packed is a state as numbers of its parts: there are far fewer parts than states.
type packed struct {
	store, log, net, agent uint32
	hubs                   [nHubs]uint32
}

// stored is what of a state belongs to the store, and what is left to happen.
type stored struct {
	keys keys
	left budget
}

// logged is the log.
type logged struct {
	log  [maxLog]write
	logs uint8
}

// parts numbers the values of a part.
type parts[T comparable] struct {
	number map[T]uint32
	values []T
}

func (p *parts[T]) of(v T) uint32 {
	n, known := p.number[v]
	if !known {
		n = uint32(len(p.values))
		p.number[v] = n
		p.values = append(p.values, v)
	}
	return n
}

func newParts[T comparable]() parts[T] { return parts[T]{number: map[T]uint32{}} }

// packer makes the short form of states.
type packer struct {
	stores parts[stored]
	logs   parts[logged]
	nets   parts[[maxNet]packet]
	agents parts[agentState]
	hubs   parts[hubState]
}

func newPacker() *packer {
	return &packer{newParts[stored](), newParts[logged](), newParts[[maxNet]packet](), newParts[agentState](), newParts[hubState]()}
}

func (k *packer) pack(w world) (p packed) {
	p.store, p.log, p.net, p.agent = k.stores.of(stored{w.store, w.left}), k.logs.of(logged{w.log, w.logs}), k.nets.of(w.net), k.agents.of(w.agent)
	for i, h := range w.hubs {
		p.hubs[i] = k.hubs.of(h)
	}
	return p
}

func (k *packer) unpack(p packed) (w world) {
	s, l := k.stores.values[p.store], k.logs.values[p.log]
	w.store, w.left, w.log, w.logs = s.keys, s.left, l.log, l.logs
	w.net, w.agent = k.nets.values[p.net], k.agents.values[p.agent]
	for i, n := range p.hubs {
		w.hubs[i] = k.hubs.values[n]
	}
	return w
}
