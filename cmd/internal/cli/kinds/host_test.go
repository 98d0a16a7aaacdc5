package kinds

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"rackboot/protocol"
)

func TestImageFacts(t *testing.T) {
	at := time.Unix(1_000_000_000, 0).UTC()
	for _, row := range []struct {
		name string
		r    *protocol.ImageReport
		want []string
	}{
		{"none", nil, nil},
		{"a plain one", &protocol.ImageReport{State: protocol.ProbeFailed, At: at, Message: "no disk"}, []string{"Image reported=failed at ", "Image message=no disk"}},
		{"an inventory that is elsewhere", &protocol.ImageReport{State: protocol.ProbeBooted, At: at, Digest: "sha256:0", Bytes: 9000}, []string{"Inventory=9000 bytes, not told"}},
		{"an inventory", &protocol.ImageReport{State: protocol.ProbeDiscovered, At: at, Digest: "sha256:0", Inventory: &protocol.HostInventory{
			Board: protocol.Board{Vendor: "Dell Inc.", Serial: "4C1"}, CPU: protocol.HostCPU{Model: "Xeon", Architecture: "amd64", Sockets: 2, Cores: 64, Threads: 128}, MemoryBytes: 512 << 30,
			Interfaces: []protocol.HostInterface{
				{Name: "eno1", MAC: "02:00:00:00:00:01", Link: true, SpeedMbps: 25000, Neighbours: []protocol.Neighbour{{Chassis: "c", Port: "swp7", System: "leaf-1"}}},
				{Name: "eno2", MAC: "02:00:00:00:00:02"},
				{Name: "eth0", MAC: "02:00:00:00:00:03", Link: true, Neighbours: []protocol.Neighbour{{Chassis: "c", Port: "p"}}},
			},
			Disks: []protocol.HostDisk{{Name: "sda", Bytes: 480e9, Serial: "S1", Transport: "sata"}},
		}}, []string{
			"Board=Dell Inc. 4C1\n", "Processors=2 sockets, 64 cores, 128 threads, amd64 Xeon\n", "Memory=524288 MiB\n",
			"Interface eno1=02:00:00:00:00:01, 25000 Mb/s, leaf-1 swp7\n", "Interface eno2=02:00:00:00:00:02, no link\n", "Interface eth0=02:00:00:00:00:03, link, c p\n", "Disk sda=480 GB sata S1\n",
		}},
	} {
		var text strings.Builder
		for _, f := range imageFacts(row.r) {
			fmt.Fprintf(&text, "%s=%s\n", f[0], f[1])
		}
		if row.want == nil && text.Len() > 0 {
			t.Errorf("%s: %s", row.name, text.String())
		}
		for _, w := range row.want {
			if !strings.Contains(text.String(), w) {
				t.Errorf("%s: no %q in\n%s", row.name, w, text.String())
			}
		}
	}
}
