package agent

import (
	"time"

	"rackboot/protocol"
)

// kept is what the image of a server reported last, as it is on disk; nil if none did.
type kept struct{ report *protocol.ImageReport }

// A token stays good after its boot, and whoever has it may report what he likes:
// imageBurst reports that say something else are written at once, then one every
// imageEvery.
const (
	imageBurst = 10
	imageEvery = 5 * time.Second
)

// keepImage puts a report of the server's image on disk. The same again is not
// written: an image that repeats itself costs no disk. One that
// says something else too often is told unavailable.
func (s *server) keepImage(r protocol.ProbeReport, now time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.readImage(); err != nil {
		return err
	}
	var last protocol.ImageReport
	if s.image.report != nil {
		last = *s.image.report
	}
	next, err := last.Follow(r, now)
	if err != nil || s.image.report != nil && next.Says(last) {
		return err
	}
	if !s.writes.AllowN(now, 1) {
		return protocol.Errorf(protocol.CodeUnavailable, "keep report", "the image of %s says something else too often", s.name).
			WithHint("it may try again; one report every %s is kept", imageEvery)
	}
	if err := s.agent.store.PutImageReport(s.name, next); err != nil {
		return err
	}
	s.image = &kept{&next}
	s.log.Info("image reported", "state", r.State, "message", r.Message, "inventory", r.Inventory != nil)
	return nil
}

// imageReport is the last one; it needs s.mu. What cannot be read is read again.
func (s *server) imageReport() *protocol.ImageReport {
	if err := s.readImage(); err != nil {
		s.log.Warn("cannot read what the image reported", "err", err)
		return nil
	}
	return s.image.report
}

func (s *server) readImage() error {
	if s.image != nil {
		return nil
	}
	r, err := s.agent.store.ImageReport(s.name)
	if err != nil {
		return err
	}
	s.image = &kept{r}
	return nil
}
