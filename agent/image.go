package agent

import (
	"time"

	"rackboot/protocol"
	"rackboot/protocol/resource"
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

// inventoryBudget bounds the inventories in one report, in bytes of JSON: a report of
// 50 servers that nothing compresses must stay below what a message may have.
const inventoryBudget = 32 << 10

// inventories says which inventories go with the reports of a shard. Not all do each
// time: they are long, and change when somebody opens the server.
type inventories struct {
	sent map[string]string // digests, by server
	next string            // whose turn it is to be repeated
}

// carry takes the inventories out of the reports that do not go this time. Those that
// the hub has not been sent go first, and one more by turns, because a message may be
// lost and the hub may be another.
func (v *inventories) carry(servers []resource.ServerReport) {
	left := inventoryBudget
	goes := func(s resource.ServerReport) bool {
		i := s.Image
		if i == nil || i.Inventory == nil || i.Bytes > protocol.MaxReportedInventory || i.Bytes > left {
			return false
		}
		left -= i.Bytes
		return true
	}
	going, sent := map[string]bool{}, map[string]string{}
	for _, s := range servers {
		if s.Image == nil {
			continue
		}
		if v.sent[s.Server] == s.Image.Digest {
			sent[s.Server] = s.Image.Digest
		} else if goes(s) {
			going[s.Server], sent[s.Server] = true, s.Image.Digest
		}
	}
	turn := -1
	for i, s := range servers { // by name
		if s.Image == nil || s.Image.Inventory == nil || s.Image.Bytes > protocol.MaxReportedInventory || going[s.Server] {
			continue
		}
		if turn < 0 || s.Server >= v.next && servers[turn].Server < v.next {
			turn = i
		}
	}
	if turn >= 0 && goes(servers[turn]) {
		s := servers[turn]
		v.next, going[s.Server], sent[s.Server] = s.Server+"\x00", true, s.Image.Digest
	}
	v.sent = sent
	for i, s := range servers {
		if s.Image != nil && s.Image.Inventory != nil && !going[s.Server] {
			brief := *s.Image
			brief.Inventory = nil
			servers[i].Image = &brief
		}
	}
}
