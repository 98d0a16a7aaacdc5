package site

import (
	"testing"
	"time"

	"rackboot/protocol/resource"
)

// TestDiscoveryStage: only a boot or an inventory that was not there before counts.
func TestDiscoveryStage(t *testing.T) {
	now := time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)
	server := func(inventory, boot string, asked *resource.DiscoveryStatus) *resource.Server {
		s := &resource.Server{}
		s.Status.Discovery = asked
		if inventory != "" {
			s.Status.Discovered = &resource.Discovered{UID: inventory}
		}
		if boot != "" {
			s.Status.Report = &resource.ServerReport{Attempt: &resource.AttemptReport{ID: boot}}
		}
		return s
	}
	asked, failed := &resource.DiscoveryStatus{AskedAt: &now}, &resource.DiscoveryStatus{FailedAt: &now, Reason: "no report"}
	for name, row := range map[string]struct {
		was, is *resource.Server
		want    discovering
	}{
		"nothing yet":                 {server("", "", nil), server("", "", asked), discoveryAsked},
		"the boot of before":          {server("d1", "a1", nil), server("d1", "a1", asked), discoveryAsked},
		"another boot":                {server("d1", "a1", nil), server("d1", "a2", asked), discoveryBegun},
		"the first boot":              {server("", "", nil), server("", "a1", asked), discoveryBegun},
		"found, not settled":          {server("d1", "a1", nil), server("d2", "a2", asked), discoveryBegun},
		"found":                       {server("d1", "a1", nil), server("d2", "a2", nil), discoveryDone},
		"found for the first time":    {server("", "", nil), server("d1", "a1", nil), discoveryDone},
		"the inventory of before":     {server("d1", "a1", nil), server("d1", "a1", nil), discoveryAsked},
		"given up":                    {server("d1", "a1", nil), server("d1", "a2", failed), discoveryGivenUp},
		"given up before, asked anew": {server("d1", "a1", failed), server("d1", "a1", asked), discoveryAsked},
	} {
		if got := discoveryStage(row.was, row.is); got != row.want {
			t.Errorf("%s: %s, want %s", name, got, row.want)
		}
	}
}
