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

// inventoried are the servers whose inventory a report has, and whether all were sent once.
func inventoried(t *testing.T, v *inventories, servers []resource.ServerReport, turns int) (out []string, bytes int, all bool) {
	t.Helper()
	said := append([]resource.ServerReport(nil), servers...)
	all = v.carry(said, turns)
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
	return out, bytes, all
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
		got, bytes, all := inventoried(t, &v, servers, 1)
		if all != (i >= 2) {
			t.Errorf("report %d: all were sent is %t", i, all)
		}
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
	if got, _, _ := inventoried(t, &v, servers, 1); len(got) < 1 || got[0] != "n003" && got[len(got)-1] != "n003" {
		t.Errorf("after a change: %v", got)
	}
	turns := map[string]bool{}
	for range 20 {
		got, _, _ := inventoried(t, &v, servers, 1)
		turns[fmt.Sprint(got)] = true
	}
	if len(turns) != 20 {
		t.Errorf("repeated: %v", turns)
	}
	if got, bytes, all := inventoried(t, &v, servers, wholeTurns); len(got) != wholeTurns || bytes > inventoryBudget || !all {
		t.Errorf("of a whole shard: %v, %d bytes, %t", got, bytes, all)
	}
}
