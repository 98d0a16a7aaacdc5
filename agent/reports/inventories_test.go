package reports

import (
	"fmt"
	"testing"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

func imaged(i, bytes int, digest string) resource.ServerReport {
	s := numbered(i)
	s.Image = &protocol.ImageReport{State: protocol.ProbeDiscovered, Digest: digest, Bytes: bytes, Inventory: &protocol.HostInventory{MemoryBytes: 1}}
	return s
}

// carried are the servers whose inventory a report has.
func carried(t *testing.T, v *inventories, servers []resource.ServerReport) (out []string, bytes int) {
	t.Helper()
	said := append([]resource.ServerReport(nil), servers...)
	v.carry(said)
	for i, s := range said {
		if s.Image == nil {
			continue
		}
		if s.Image.Digest != servers[i].Image.Digest {
			t.Errorf("%s: the digest is gone", s.Server)
		}
		if s.Image.Inventory != nil {
			out, bytes = append(out, s.Server), bytes+s.Image.Bytes
		}
		if servers[i].Image.Inventory == nil {
			t.Fatalf("%s: the agent's own was taken away", s.Server)
		}
	}
	return out, bytes
}

func TestInventoriesInReports(t *testing.T) {
	var v inventories
	var servers []resource.ServerReport
	for i := range 20 {
		servers = append(servers, imaged(i, 4<<10, "a"))
	}
	servers = append(servers, numbered(90), imaged(99, protocol.MaxReportedInventory+1, "a"))
	seen := map[string]bool{}
	for i, want := range []int{8, 8, 5, 1, 1} {
		got, bytes := carried(t, &v, servers)
		if len(got) != want || bytes > inventoryBudget {
			t.Errorf("report %d: %v, %d bytes, want %d", i, got, bytes, want)
		}
		for _, s := range got {
			seen[s] = true
		}
	}
	if len(seen) != 20 || seen["n099"] {
		t.Errorf("sent: %v", seen)
	}
	servers[3] = imaged(3, 4<<10, "b")
	if got, _ := carried(t, &v, servers); len(got) < 1 || got[0] != "n003" && got[len(got)-1] != "n003" {
		t.Errorf("after a change: %v", got)
	}
	turns := map[string]bool{}
	for range 20 {
		got, _ := carried(t, &v, servers)
		turns[fmt.Sprint(got)] = true
	}
	if len(turns) != 20 {
		t.Errorf("repeated: %v", turns)
	}
}
