package plan

import (
	"fmt"
	"testing"
)

// BenchmarkCompile is one pass over a large site: 10,000 servers in 200 racks, half
// of them claimed and every tenth held.
func BenchmarkCompile(b *testing.B) {
	f := makeFleet(200, 10_000)
	for i, s := range f.Servers {
		if i%2 == 0 {
			f.claimOf(fmt.Sprintf("c%05d", i), s.Metadata.Name)
		}
		if i%10 == 0 {
			f.Holds = append(f.Holds, holdOn(fmt.Sprintf("h%05d", i), s.Metadata.Name, "", false))
		}
	}
	f.Peers = map[string]Peer{}
	for _, r := range f.Racks {
		f.Peers[r.Status.Agent] = Peer{"i", few()}
	}
	for _, c := range f.Configs {
		c.Status.GrantFor = "i"
	}
	for b.Loop() {
		if docs := Compile(f); len(docs) != 200 {
			b.Fatalf("documents of %d agents", len(docs))
		}
	}
}
