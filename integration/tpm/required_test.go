package tpm

import (
	"bytes"
	"context"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"rackboot/netboot/attest"
	"rackboot/netboot/attest/enrol"
	"rackboot/netboot/httpboot"
	"rackboot/protocol"
	"rackboot/protocol/decide"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// requiring is an agent whose server's discovery has to be attested: what its report comes to is decided as ever.
type requiring struct {
	*attesting
	record decide.Record
}

// discovery begins the boot anew: its files were sent, and its image runs.
func (q *requiring) discovery() {
	q.record = decide.Record{Attempt: &decide.Attempt{
		ID: "a1", Number: 1, Token: "segment-token", Private: bootToken,
		Order: decide.Order{Target: protocol.TargetPxe, OwnerUID: "d1", Generation: 1, Purpose: resource.PurposeDiscovery},
		Stage: decide.Stage{State: resource.AttemptFetched},
	}}
}

func (q *requiring) Report(_ context.Context, _ netip.Addr, token string, p protocol.ProbeReport) error {
	q.reports++
	e := decide.Event{Kind: protocol.EvidenceDiscovered, Token: token, At: time.Now(), Message: p.Message}
	attested, why := q.room.Proved("n1", token)
	e.Attested, e.Unattested = attested, string(why)
	owner := resource.Owner{Kind: resource.PurposeDiscovery, Name: "discovery", UID: "d1"}
	q.record = decide.Step(time.Now(), decide.Snapshot{
		Server: "n1", Synced: true, Passive: true, Record: q.record, Events: []decide.Event{e},
		Intent: &message.ServerIntent{
			Server: "n1", UID: "uid", Owner: owner, Power: resource.WantOn,
			Boot: &message.BootIntent{Owner: owner, GrantedBoot: resource.GrantedBoot{Generation: 1}, RequireEvidence: resource.EvidenceAttested},
		},
	}).Record
	return nil
}

// Where attested is required, a server whose TPM proves its boot is discovered, and one whose quote is missing, forged or of
// another machine is not: the attempt says why by its code. The program and the TPMs are real.
func TestAttestedIsRequired(t *testing.T) {
	own, other := manufacture(t), manufacture(t)
	raw, log, expect := recordedBoot(t)
	q := &requiring{attesting: &attesting{expect: expect}}
	q.served = serve(t, enrol.Authorities{}, func(_ *served, c *httpboot.Config) { c.Attestation, c.Files = q, q })
	own.boot(log)
	other.boot(log)
	good := filepath.Join(t.TempDir(), "log")
	if err := os.WriteFile(good, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	forged := func(ev attest.Evidence) attest.Evidence {
		ev.Signature = bytes.Clone(ev.Signature)
		ev.Signature[len(ev.Signature)-1] ^= 1
		return ev
	}
	probe := builtProbe(t)
	for _, row := range []struct {
		name  string
		by    *chip
		log   string
		forge func(attest.Evidence) attest.Evidence
		state resource.AttemptState
		code  attest.Code
	}{
		{"no quote", own, good + "-none", nil, resource.AttemptFetched, "no-quote"}, // first: all have one token, and what was proved by it stays
		{"its own TPM", own, good, nil, resource.AttemptSucceeded, ""},
		{"a forged signature", own, good, forged, resource.AttemptFetched, attest.BadSignature},
		{"another TPM", other, good, nil, resource.AttemptFetched, attest.WrongKey},
		{"its own TPM again", own, good, nil, resource.AttemptSucceeded, ""},
	} {
		q.discovery()
		q.forge = row.forge
		ctx, cancel := context.WithTimeout(t.Context(), 2*waitAtMost)
		var said bytes.Buffer
		cmd := exec.CommandContext(ctx, probe, "discover", "--lldp", "0s", "--url", q.base, "--tpm", row.by.offered(), "--event-log", row.log)
		cmd.Stderr = &said
		before := q.reports
		err := cmd.Run()
		cancel()
		if err != nil || q.reports != before+1 {
			t.Fatalf("%s: %v, %d reports\n%s", row.name, err, q.reports-before, said.String())
		}
		s := q.record.Attempt.Stage
		if s.State != row.state || s.Unattested != string(row.code) || (s.Class == resource.EvidenceAttested) != (row.code == "") {
			t.Errorf("%s: %s, %q, %q, want %s, %q\n%s", row.name, s.State, s.Class, s.Unattested, row.state, row.code, said.String())
		}
	}
}
