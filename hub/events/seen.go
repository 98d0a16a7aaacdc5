package events

import "crypto/sha256"

// remembered is how many of the newest events are known by the id under which they were filed: as many as a fleet of a
// thousand racks says within some seconds, while a hub dies and what it had not acknowledged comes again.
const remembered = 1 << 16

// seen are the ids of the newest events. The zero value knows none.
type seen struct {
	ids  map[[16]byte]bool
	ring [][16]byte
	next int
}

// key is an id in few bytes.
func key(id string) (k [16]byte) {
	sum := sha256.Sum256([]byte(id))
	copy(k[:], sum[:])
	return k
}

// has reports whether an event was filed under an id.
func (s *seen) has(id string) bool { return id != "" && s.ids[key(id)] }

// add remembers the id of the next event.
func (s *seen) add(id string) {
	if id == "" {
		return
	}
	if s.ids == nil {
		s.ids = map[[16]byte]bool{}
	}
	k := key(id)
	if s.ids[k] {
		return
	}
	s.ids[k] = true
	if len(s.ring) < remembered {
		s.ring = append(s.ring, k)
		return
	}
	delete(s.ids, s.ring[s.next])
	s.ring[s.next] = k
	s.next = (s.next + 1) % remembered
}
