package boot

import (
	"encoding/json"
	"net/netip"
	"testing"

	"rackboot/agent/tpm"
	"rackboot/netboot"
	"rackboot/netboot/attest"
	"rackboot/protocol"
	"rackboot/protocol/decide"
	"rackboot/protocol/resource"
	"rackboot/state/statetest"
)

// Only who may enrol a TPM is asked for a quote; of what firmware was not given as a unified kernel image nothing can be
// proved, which is said by its code.
func TestAttest(t *testing.T) {
	r, _ := tracing(t, statetest.NewMemory())
	heard := &heardTPMs{}
	r.cfg.TPMs = heard
	at := attempts(r, "one")
	at.Private, at.Order.Purpose, at.Stage.State = "private-token", resource.PurposeDiscovery, resource.AttemptFetched
	r.index.byToken[at.Private] = "n1"
	sealed, open := &segment{room: r, leased: newLeased(), sealed: true}, &segment{room: r, leased: newLeased()}
	for _, row := range []struct {
		name    string
		by      *segment
		token   string
		step    netboot.AttestStep
		body    string
		refused string
		code    protocol.Code
	}{
		{"a stranger", sealed, "guessed", netboot.AttestAsk, "{}", "", protocol.CodeNotFound},
		{"a neighbour with the token of the segment", sealed, "secret-token", netboot.AttestAsk, "{}", "segment", ""},
		{"the token in clear", open, "private-token", netboot.AttestAsk, "{}", "openly", ""},
		{"what is no evidence", sealed, "private-token", netboot.AttestProve, "{", "", protocol.CodeInvalid},
		{"without a chain", sealed, "private-token", netboot.AttestProve, "{}", string(tpm.OtherChain), ""},
	} {
		_, refused, err := row.by.Attest(row.token, row.step, []byte(row.body))
		if refused != row.refused || (err == nil) != (row.code == "") || err != nil && protocol.CodeOf(err) != row.code {
			t.Errorf("%s: %q, %v", row.name, refused, err)
		}
	}
	for _, kind := range []protocol.ChainKind{protocol.ChainGRUB, protocol.ChainIPXE, protocol.ChainISO, protocol.ChainBootEnv, protocol.ChainUKI} {
		at.Order.Chain = &protocol.BootChain{Kind: kind, First: "boot.efi"} // of a file that it does not have
		if _, refused, err := sealed.Attest("private-token", netboot.AttestProve, []byte("{}")); err != nil || refused != string(tpm.OtherChain) {
			t.Errorf("%s: %q, %v", kind, refused, err)
		}
	}
	if len(heard.offered) != 0 || len(heard.doubts) != 6 {
		t.Fatalf("heard of %v, %v", heard.offered, heard.doubts)
	}
	answer, refused, err := sealed.Attest("private-token", netboot.AttestAsk, nil)
	var ask attest.Ask
	if err != nil || refused != "" || json.Unmarshal(answer, &ask) != nil || string(ask.Nonce) != "nonce" || len(heard.offered) != 1 || heard.offered[0] != "n1 private-token" {
		t.Errorf("%s, %q, %v, %v", answer, refused, err, heard.offered)
	}
}

// What a machine has proved is of the boot before, once it fetches the image of its discovery again; a claim's is none of it.
func TestFetchedAgain(t *testing.T) {
	for purpose, voided := range map[resource.Purpose]int{resource.PurposeDiscovery: 1, resource.PurposeClaim: 0} {
		b, attempt, at := chainBoots(t)
		heard := &heardTPMs{}
		b.room.cfg.TPMs = heard
		attempt.Order.File, attempt.Order.Blob, attempt.Marks.Served, attempt.Order.Purpose = "boot.efi", contentDigest(kernelText), true, purpose
		attempt.Order.Chain = nil
		f, err := b.Open(at, "t", "boot.efi")
		if err != nil {
			t.Fatal(err)
		}
		_ = f.Close() // it was not read
		if len(heard.voided) != voided {
			t.Errorf("%s: void are %q", purpose, heard.voided)
		}
	}
}

// folding has the loops of servers note what they are told.
type folding struct {
	nobody
	events *[]decide.Event
}

func (folding) Has(string) bool { return true }

func (f folding) Fold(_ string, e decide.Event) error {
	*f.events = append(*f.events, e)
	return nil
}

// The report of a discovery says what came of its quote; that of another image does not.
func TestReportAttested(t *testing.T) {
	for _, row := range []struct {
		proved  attest.Code
		state   protocol.ProbeState
		purpose resource.Purpose
		want    decide.Event
	}{
		{"", protocol.ProbeDiscovered, resource.PurposeDiscovery, decide.Event{Attested: true}},
		{"other-image", protocol.ProbeDiscovered, resource.PurposeDiscovery, decide.Event{Unattested: "other-image"}},
		{"", protocol.ProbeInstalled, resource.PurposeClaim, decide.Event{}},
	} {
		r, _ := tracing(t, statetest.NewMemory())
		var events []decide.Event
		r.cfg.TPMs, r.cfg.Servers = &heardTPMs{proved: row.proved}, folding{events: &events}
		at := attempts(r, "one")
		at.Private, at.Order.Purpose, at.Stage.State = "private-token", row.purpose, resource.AttemptFetched
		r.index.byToken[at.Private] = "n1"
		b := &segment{room: r, leased: newLeased(), sealed: true}
		if err := b.Report(t.Context(), netip.MustParseAddr("10.7.0.50"), "private-token", protocol.ProbeReport{State: row.state}); err != nil {
			t.Fatal(err)
		}
		if len(events) != 1 || events[0].Attested != row.want.Attested || events[0].Unattested != row.want.Unattested {
			t.Errorf("%+v: %+v", row, events)
		}
	}
}
