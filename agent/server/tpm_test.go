package server

import (
	"log/slog"
	"strings"
	"testing"
	"time"

	"rackboot/agent/store"
	"rackboot/protocol/decide"
	"rackboot/protocol/resource"
)

// The report has the TPM that counts for the server, says where it does not, and that another one was offered.
func TestReportTPM(t *testing.T) {
	cfg := config(t)
	in := document(t, cfg.Store)
	at := time.Date(2026, 11, 28, 8, 0, 0, 0, time.UTC)
	said := &teller{cfg: &cfg, log: slog.New(slog.DiscardHandler), server: "n1"}
	known := decide.Record{Identity: &decide.Known{Trusted: decide.Identity{Serial: "S1"}}}
	if got := said.tpm(known, &in); got != nil {
		t.Fatalf("without one: %+v", got)
	}
	is := store.TPM{Server: "n1", ServerUID: in.UID, Serial: "S1", Endorsement: []byte("ek"), Origin: string(resource.TPMNoAuthority), At: at}
	if err := cfg.Store.TPMs.Put(is); err != nil {
		t.Fatal(err)
	}
	got := said.tpm(known, &in)
	if got == nil || got.Void || got.Enrolment != is.Enrolment() || got.Endorsement != store.EndorsementDigest([]byte("ek")) || got.Origin != resource.TPMNoAuthority || !got.At.Equal(at) || got.ServerUID != in.UID {
		t.Fatalf("%+v", got)
	}
	if c := withTPM(nil, got); len(c) != 0 {
		t.Errorf("%+v", c)
	}
	if err := cfg.Store.TPMs.Offered("n1", []byte("other"), at.Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	got = said.tpm(known, &in)
	c := withTPM(nil, got)
	if len(c) != 1 || c[0].Code != resource.CondIdentityChanged || !strings.HasPrefix(c[0].Message, resource.CodeOtherTPM+": ") || !c[0].Since.Equal(at.Add(time.Hour)) {
		t.Errorf("%+v", c)
	}
	board := []resource.ConditionState{{Code: resource.CondIdentityChanged, Message: "serial number"}}
	if c := withTPM(board, got); len(c) != 1 || c[0].Message != "serial number" {
		t.Errorf("the board's: %+v", c)
	}
	changed := decide.Record{Identity: &decide.Known{Trusted: decide.Identity{Serial: "S1"}, Other: &decide.Identity{Serial: "S2"}}}
	accepted := decide.Record{Identity: &decide.Known{Trusted: decide.Identity{Serial: "S2"}}}
	for name, rec := range map[string]decide.Record{"a changed board": changed, "an accepted one": accepted, "none was read": {}} {
		if got := said.tpm(rec, &in); got == nil || !got.Void || len(withTPM(nil, got)) != 0 {
			t.Errorf("%s: %+v", name, got)
		}
	}
	other := in
	other.UID = "applied again"
	if got := said.tpm(known, &other); got != nil {
		t.Errorf("of another Server: %+v", got)
	}
	if got := said.tpm(known, nil); got != nil {
		t.Errorf("of no Server: %+v", got)
	}
}
