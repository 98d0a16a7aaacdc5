package decide

import (
	"strings"
	"testing"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// ukiChain is that of an image with a UKI.
func ukiChain() *protocol.BootChain {
	return &protocol.BootChain{
		Kind: protocol.ChainUKI, First: "boot.efi", Last: "boot.efi",
		Files: []protocol.ChainFile{{Name: "boot.efi", Digest: "sha256:uki"}},
	}
}

func loaderChain(kind protocol.ChainKind) *protocol.BootChain {
	return &protocol.BootChain{Kind: kind, First: "first.efi", Last: "initrd", Files: []protocol.ChainFile{
		{Name: "first.efi", Digest: "sha256:first"}, {Name: "kernel", Digest: "sha256:kernel"}, {Name: "initrd", Digest: "sha256:initrd"},
	}}
}

// Only the last file of a chain is evidence that the operating system may run: a
// loader that was fetched spends no grant.
func TestOnlyTheLastFileCounts(t *testing.T) {
	for _, row := range []struct {
		file string
		want resource.AttemptState
	}{
		{"first.efi", resource.AttemptConsumed},
		{"kernel", resource.AttemptConsumed},
		{"initrd", resource.AttemptFetched},
	} {
		for _, kind := range []protocol.ChainKind{protocol.ChainGRUB, protocol.ChainIPXE} {
			a := &Attempt{Token: "t", Order: Order{Chain: loaderChain(kind), File: "first.efi", Target: protocol.TargetUefiHTTP}, Stage: Stage{State: resource.AttemptConsumed}}
			d := draft{rec: Record{Attempt: a}}
			heard{&d, &Snapshot{}}.evidence(Event{Kind: protocol.EvidenceFetched, Token: "t", File: row.file})
			if a.Stage.State != row.want {
				t.Errorf("%s, %s was fetched: %s, want %s", kind, row.file, a.Stage.State, row.want)
			}
		}
	}
}

// A boot that was ended keeps its grant if no more than a loader had left by then.
func TestLateLoaderSpendsNothing(t *testing.T) {
	for file, want := range map[string]bool{"first.efi": false, "initrd": true} {
		a := &Attempt{Token: "t", Order: Order{Chain: loaderChain(protocol.ChainGRUB), OwnerUID: "c", Generation: 1, Target: protocol.TargetPxe}, Stage: Stage{State: resource.AttemptFailed}}
		d := draft{rec: Record{Attempt: a}}
		heard{&d, &Snapshot{}}.evidence(Event{Kind: protocol.EvidenceFetched, Token: "t", File: file})
		if got := d.rec.Owners.Used["c/1"].Spent; got != want {
			t.Errorf("%s: spent %t, want %t", file, got, want)
		}
	}
}

// A machine that no chain fits is not armed and not powered on.
func TestNoChainNoPowerOn(t *testing.T) {
	w := newWorld(t)
	w.claim(3)
	s := w.snapshot()
	s.Chain, s.ChainError = nil, "grub: a loader of it is not there"
	s.Watch.Last = protocol.Observation{Power: protocol.PowerOff, ReadAt: w.clock()}
	p := Step(w.clock(), s)
	if p.Action.Kind != ActNone || p.Record.Attempt != nil {
		t.Errorf("without a chain: %s, attempt %+v", p.Action.Kind, p.Record.Attempt)
	}
	found := false
	for _, c := range p.Record.Conditions {
		found = found || c.Code == resource.CondNoBootChain && strings.Contains(c.Message, "a loader of it is not there")
	}
	if !found {
		t.Errorf("conditions %+v", p.Record.Conditions)
	}
}

// Who iPXE is, is told by its class; it gets the script, never the loader that would
// start it again. Its ROM says architecture 7 as PXE firmware does (netboot facts on
// iPXE: dhcp.c), also where firmware started it by HTTP.
func TestServeNamesTheClientsFile(t *testing.T) {
	for _, row := range []struct {
		kind   protocol.ChainKind
		method protocol.BootTarget
		class  protocol.ClientClass
		arch   uint16
		want   string // empty is refused
	}{
		{protocol.ChainGRUB, protocol.TargetUefiHTTP, protocol.ClassHTTPClient, 16, "first.efi"},
		{protocol.ChainGRUB, protocol.TargetUefiHTTP, protocol.ClassIPXE, 7, ""},
		{protocol.ChainGRUB, protocol.TargetPxe, protocol.ClassPXEClient, 7, "first.efi"},
		{protocol.ChainGRUB, protocol.TargetPxe, protocol.ClassPXEClient, 9, "first.efi"},
		{protocol.ChainGRUB, protocol.TargetPxe, protocol.ClassIPXE, 7, protocol.IPXEScript},
		{protocol.ChainIPXE, protocol.TargetUefiHTTP, protocol.ClassHTTPClient, 16, "first.efi"},
		{protocol.ChainIPXE, protocol.TargetUefiHTTP, protocol.ClassIPXE, 7, protocol.IPXEScript},
		{protocol.ChainIPXE, protocol.TargetUefiHTTP, protocol.ClassPXEClient, 7, ""},
		{protocol.ChainIPXE, protocol.TargetPxe, protocol.ClassPXEClient, 7, "first.efi"},
		{protocol.ChainIPXE, protocol.TargetPxe, protocol.ClassIPXE, 7, protocol.IPXEScript},
		{protocol.ChainIPXE, protocol.TargetPxe, protocol.ClassPXEClient, 11, ""},
	} {
		a := &Attempt{Token: "t", Order: Order{Chain: loaderChain(row.kind), Target: row.method}, Stage: Stage{State: resource.AttemptPowerRequested}}
		got := Serve(ServeSnapshot{Synced: true, Server: "n1", Architecture: "amd64", Attempt: a}, protocol.BootClient{Class: row.class, Archs: []uint16{row.arch}})
		if got.File != row.want || (got.Action == protocol.AnswerBoot) != (row.want != "") {
			t.Errorf("%s by %s, %s with type %d: %+v, want %q", row.kind, row.method, row.class, row.arch, got, row.want)
		}
	}
}
