package mirror

import (
	"errors"
	"os"

	"rackboot/protocol"
)

// pin puts a pin on disk in place of that of the same name. Its contents are held by the
// caller meanwhile.
func (s *store) pin(op string, p pin) error {
	temp, err := s.records.stage(p)
	if err == nil {
		if err = s.placePin(temp, p); err == nil {
			err = s.records.settle()
		}
	}
	if err != nil {
		return protocol.Errorf(protocol.CodeUnavailable, op, "write the pin %q: %w", p.Name, err).
			WithHint("look at the disk of %s", s.dir)
	}
	return nil
}

// placePin replaces a pin. Each content of the new one is pinned for it before those of the
// old one are given up.
func (s *store) placePin(temp string, p pin) error {
	if err := s.pinAll(p); err != nil {
		return errors.Join(err, os.Remove(temp))
	}
	s.mu.Lock()
	err := s.records.place(temp, prefixPin+hashOf(p.Name))
	old := s.pins[p.Name]
	if err == nil {
		s.pins[p.Name] = p
	}
	s.mu.Unlock()
	if err != nil {
		s.loosen(p.Files)
		return err
	}
	s.loosen(old.Files)
	return nil
}

// pinAll pins all contents of a pin, or none of them.
func (s *store) pinAll(p pin) error {
	for i, f := range p.Files {
		if !s.blobs.PinIfThere(digestOf(f.SHA256)) {
			s.loosen(p.Files[:i])
			return lost("pin", s.dir)
		}
	}
	return nil
}

// unpin removes a pin; one that is not there is no error.
func (s *store) unpin(name string) {
	s.mu.Lock()
	p, ok := s.pins[name]
	if ok {
		delete(s.pins, name)
		s.records.discard(prefixPin + hashOf(name))
	}
	s.mu.Unlock()
	s.loosen(p.Files)
}

// loosen gives up the pins of files.
func (s *store) loosen(files []File) {
	for _, f := range files {
		s.release(f.SHA256)
	}
}

// pinned is a copy of a pin, and whether all of it is there.
func (s *store) pinned(name string) (p pin, whole, ok bool) {
	s.mu.Lock()
	p, ok = s.pins[name]
	s.mu.Unlock()
	whole = true
	for _, f := range p.Files {
		whole = whole && s.blobs.Has(digestOf(f.SHA256))
	}
	return p, whole, ok
}
