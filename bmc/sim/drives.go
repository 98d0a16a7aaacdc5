package sim

import (
	"net/http"
	"slices"
	"strings"

	"rackboot/bmc/sim/hardware"
	"rackboot/bmc/sim/tree"
)

// take fetches what a BMC fetches of an image that is inserted. s.mu is held.
func (s *slots) take(slot, image string) *refusal {
	if !s.fetches {
		return nil
	}
	m, err := hardware.NewMedium(slot, image, s.from, s.manner.now().Media.Keeps)
	if err != nil {
		s.logger.Debug("image cannot be fetched", "slot", slot)
		return &refusal{status: http.StatusBadRequest, id: "Base.1.13.ResourceAtUriInUnknownFormat", text: "the image cannot be read"}
	}
	s.drives[tree.Fold(slot)] = m
	return nil
}

// inserted are the images in the drives, by slot.
func (s *slots) inserted() (out []*hardware.Medium) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, slot := range s.uris {
		if m := s.drives[tree.Fold(slot)]; m != nil {
			out = append(out, m)
		}
	}
	slices.SortStableFunc(out, func(a, b *hardware.Medium) int { return strings.Compare(a.Slot, b.Slot) })
	return out
}
