package site

import (
	"testing"
	"time"

	"rackboot/protocol/resource"
)

// What a server shows that was not its own before and is another's keeps it from being accepted among
// others: boards that were exchanged between servers, or a BMC that is another server's.
func TestChangedOf(t *testing.T) {
	const mac1, mac2, mac3, shared = "52:54:00:00:00:01", "52:54:00:00:00:02", "52:54:00:00:00:03", "52:54:00:00:00:99"
	board := func(uuid string, macs ...string) resource.BoardIdentity {
		return resource.BoardIdentity{UUID: uuid, MACs: macs}
	}
	server := func(name, mac string, was, is resource.BoardIdentity) *resource.Server {
		s := &resource.Server{Spec: resource.ServerSpec{BootMAC: mac}}
		s.Metadata.Name = name
		s.Status.Report = &resource.ServerReport{Identity: "sha256:" + name}
		if is.UUID != "" || is.MACs != nil {
			s.Status.Report.IdentityChange = &resource.IdentityChange{Was: was, Is: is, At: time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)}
		}
		return s
	}
	none := resource.BoardIdentity{}
	same := server("n9", mac3, none, none)
	silent := &resource.Server{}
	silent.Metadata.Name = "n8"
	for _, row := range []struct {
		what   string
		of     []*resource.Server
		result map[string]acceptResult
	}{
		{"nothing changed", []*resource.Server{same, silent}, map[string]acceptResult{}},
		{"a new board", []*resource.Server{server("n1", mac1, board("a", mac1), board("b", "52:54:00:00:01:01")), same, silent}, map[string]acceptResult{"n1": acceptWould}},
		{
			"boards exchanged with each other",
			[]*resource.Server{server("n1", mac1, board("a", mac1), board("b", mac2)), server("n2", mac2, board("b", mac2), board("a", mac1))},
			map[string]acceptResult{"n1": acceptLeft, "n2": acceptLeft},
		},
		{"the board of one that has not changed", []*resource.Server{server("n1", mac1, board("a", mac1), board("", mac3)), same}, map[string]acceptResult{"n1": acceptLeft}},
		{
			"the UUID of another, in capitals",
			[]*resource.Server{server("n1", mac1, board("a", mac1), board("B", "52:54:00:00:01:01")), server("n2", mac2, board("b", mac2), board("c", mac2))},
			map[string]acceptResult{"n1": acceptLeft, "n2": acceptWould},
		},
		{
			"an address that both have shown all the time",
			[]*resource.Server{server("n1", mac1, board("a", mac1, shared), board("x", mac1, shared)), server("n2", mac2, board("b", mac2, shared), board("y", mac2, shared))},
			map[string]acceptResult{"n1": acceptWould, "n2": acceptWould},
		},
	} {
		got := changedOf(row.of, row.of)
		if len(got) != len(row.result) {
			t.Errorf("%s: %+v", row.what, got)
		}
		for _, a := range got {
			if a.Result != row.result[a.Server] || (a.Why != "") != (a.Result == acceptLeft) || a.Identity != "sha256:"+a.Server {
				t.Errorf("%s: %+v, want %s", row.what, a, row.result[a.Server])
			}
		}
	}
}
