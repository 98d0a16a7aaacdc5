package firmware

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rackboot/protocol/resource"
)

// move takes rack-a and its installed server to another hub: the agent stops, the rack is
// exported, imported and joined by an agent with an empty folder. All that this agent knows of
// the server's system is what the file has. A reboot that is asked for at the other hub boots the disk.
func (s *site) move(ctx context.Context, t *testing.T, before string) {
	t.Helper()
	was, record := s.claimed(ctx, t)
	if was.Status.EvidenceClass != resource.EvidenceReported || record.Status.Provisioned == nil || len(record.Status.SignedProvisioned) == 0 {
		t.Fatalf("at the first hub the claim says %+v, its configuration %+v", was.Status, record.Status)
	}
	s.stop(t, "agent-a")
	asked := *asks(t, s.path(s.rackA.Name+".pcap"))[macA]
	s.rackctl(ctx, t, "export", s.path("rack-a.json"), "--rack", "rack-a")
	s.logf(t, "rack-a exported")

	s.startHubAt(ctx, t, "hub-2", "8444", "8884")
	s.rackctl(ctx, t, "import", s.path("rack-a.json"), "--reason", "move", "--accept-agent-key", "all")
	s.logf(t, "rack-a imported at the other hub")
	s.startAgent(ctx, t, s.racks()[0], "agent-a2", "hub-2", "8444")
	s.rackctl(ctx, t, "wait", "claim/claim-a", "--for", "provisioned", "--timeout", "2m")
	s.logf(t, "provisioned at the other hub")
	s.rackctl(ctx, t, "reboot", "server-a", "--wait", "--timeout", "4m")
	s.logf(t, "rebooted by the other hub")
	s.diskBoot(ctx, t, 1, before)

	now, proved := s.claimed(ctx, t)
	if now.Metadata.UID != was.Metadata.UID || now.Status.EvidenceClass != was.Status.EvidenceClass || len(now.Status.Conditions) != 0 {
		t.Errorf("the claim was %s with %+v, it is %s with %+v", was.Metadata.UID, was.Status, now.Metadata.UID, now.Status)
	}
	if diff := cmp.Diff(record.Status.Provisioned, proved.Status.Provisioned); diff != "" || !slices.Equal(proved.Status.SignedProvisioned, record.Status.SignedProvisioned) {
		t.Errorf("the record has changed: %s", diff)
	}
	if got := *asks(t, s.path(s.rackA.Name+".pcap"))[macA]; got != asked {
		t.Errorf("server-a asked the network for %+v, and now for %+v", asked, got)
	}
	if out := s.rackctl(ctx, t, "events", "-o", "json"); strings.Contains(out, string(resource.EventGrantUsed)) || strings.Contains(out, string(resource.EventInstalled)) {
		t.Errorf("at the other hub it was installed again:\n%s", out)
	}
}

// claimed are the claim of server-a, as rackctl shows it, and its boot configuration.
func (s *site) claimed(ctx context.Context, t *testing.T) (c resource.Claim, b resource.BootConfiguration) {
	t.Helper()
	for what, to := range map[string]any{"claim": &c, "bootconfiguration": &b} {
		if err := json.Unmarshal([]byte(s.rackctl(ctx, t, "get", what, "claim-a", "-o", "json")), to); err != nil {
			t.Fatal(err)
		}
	}
	return c, b
}
