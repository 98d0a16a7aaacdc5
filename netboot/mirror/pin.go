package mirror

import (
	"errors"
	"os"

	"rackboot/protocol"
)

// pin puts a pin on disk in place of that of the same name. Its contents are held by the
// caller meanwhile.
func (s *store) pin(op string, p pin) error {
	temp, err := s.stage(p)
	if err == nil {
		if err = s.placePin(temp, p); err == nil {
			err = s.settle()
		}
	}
	if err != nil {
		return protocol.Errorf(protocol.CodeUnavailable, op, "write the pin %q: %w", p.Name, err).
			WithHint("look at the disk of %s", s.dir)
	}
	return nil
}

func (s *store) placePin(temp string, p pin) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range p.Files {
		if s.contents[f.SHA256] == nil {
			return errors.Join(lost("pin", s.dir), os.Remove(temp))
		}
	}
	if err := s.place(temp, prefixPin+hashOf(p.Name)); err != nil {
		return err
	}
	old := s.pins[p.Name]
	s.pins[p.Name] = p
	for _, f := range p.Files {
		s.contents[f.SHA256].pins++
	}
	s.loosen(old)
	return nil
}

// unpin removes a pin; one that is not there is no error.
func (s *store) unpin(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p, ok := s.pins[name]
	if !ok {
		return
	}
	delete(s.pins, name)
	s.discard(prefixPin + hashOf(name))
	s.loosen(p)
}

// loosen takes a pin from its contents. The lock is held.
func (s *store) loosen(p pin) {
	for _, f := range p.Files {
		if c := s.contents[f.SHA256]; c != nil {
			c.pins--
			s.collect(c)
		}
	}
}

// pinned is a copy of a pin, and whether all of it is there.
func (s *store) pinned(name string) (p pin, whole, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p, ok = s.pins[name]
	whole = true
	for _, f := range p.Files {
		whole = whole && s.contents[f.SHA256] != nil
	}
	return p, whole, ok
}
