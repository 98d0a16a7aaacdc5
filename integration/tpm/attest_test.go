package tpm

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"rackboot/netboot"
	"rackboot/netboot/attest"
	"rackboot/netboot/attest/enrol"
	"rackboot/netboot/attest/eventlog"
	"rackboot/netboot/attest/logtest"
	"rackboot/netboot/attest/pehash"
	"rackboot/netboot/httpboot"
)

// attesting is an agent that expects the boot that was recorded. What it is sent can be forged on the way.
type attesting struct {
	*served
	expect attest.Expectation
	forge  func(attest.Evidence) attest.Evidence
	last   attest.Evidence
}

func (a *attesting) Attest(token string, step netboot.AttestStep, body []byte) ([]byte, string, error) {
	if step == netboot.AttestAsk {
		ask, err := a.room.Ask("n1", token)
		if err != nil {
			return nil, "", err
		}
		answer, err := json.Marshal(ask)
		return answer, "", err
	}
	ev, err := attest.DecodeEvidence(body)
	if err != nil {
		return nil, "", err
	}
	sent := ev
	if a.forge != nil {
		sent = a.forge(ev)
	}
	a.last = ev
	why, err := a.room.Prove("n1", token, sent, a.expect)
	return nil, string(why), err
}

// recordedBoot is the log of a boot of a unified kernel image, and what is expected of that.
func recordedBoot(t *testing.T) ([]byte, *eventlog.Log, attest.Expectation) {
	t.Helper()
	raw, _ := logtest.Recorded(t, logtest.Unified)
	log, err := eventlog.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	event := func(n int) []byte { return log.Events[n].Digest(eventlog.SHA256) }
	expect := attest.Expectation{Bank: eventlog.SHA256, Images: []attest.Item{{Name: "image", Digest: event(24)}, {Name: "kernel", Digest: event(33), Optional: true}}}
	for i := 25; i < 33; i += 2 {
		expect.Sections = append(expect.Sections, pehash.Measured{Name: log.Events[i].Text(), NameDigest: event(i), Digest: event(i + 1)})
	}
	return raw, log, expect
}

// The program enrols the TPM of its machine and attests the boot, by the log that was recorded of one. Each forgery is
// refused by its code, and the machine is discovered all the same.
func TestProbeAttests(t *testing.T) {
	own, other := manufacture(t), manufacture(t)
	raw, log, expect := recordedBoot(t)
	event := func(n int) []byte { return log.Events[n].Digest(eventlog.SHA256) }
	a := &attesting{expect: expect}
	a.served = serve(t, enrol.Authorities{}, func(_ *served, c *httpboot.Config) { c.Attestation = a })
	dir := t.TempDir()
	file := func(name string, content []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	probe, good := builtProbe(t), file("log", raw)
	run := func(c *chip, log string) string {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), 2*waitAtMost)
		defer cancel()
		var said bytes.Buffer
		cmd := exec.CommandContext(ctx, probe, "discover", "--lldp", "0s", "--url", a.base, "--tpm", c.offered(), "--event-log", log)
		cmd.Stderr = &said
		before := a.reports
		if err := errors.Join(cmd.Run(), ctx.Err()); err != nil || a.reports != before+1 {
			t.Fatalf("%v, %d reports\n%s", err, a.reports-before, said.String())
		}
		return said.String()
	}
	heard := func(attested bool, want attest.Code) {
		t.Helper()
		if got, why := a.room.Proved("n1", bootToken); got != attested || why != want {
			t.Errorf("the report hears %t, %q, want %t, %q", got, why, attested, want)
		}
	}
	own.boot(log)
	other.boot(log)

	if said := run(own, good); !strings.Contains(said, "the TPM is enrolled") || !strings.Contains(said, "the boot is attested") {
		t.Fatal(said)
	}
	heard(true, "")
	first := a.last
	edited := bytes.Clone(raw)
	edited[bytes.Index(edited, event(24))] ^= 1
	for _, row := range []struct {
		name  string
		by    *chip
		log   string
		forge func(attest.Evidence) attest.Evidence
		want  attest.Code
	}{
		{"another TPM", other, good, nil, attest.WrongKey},
		{"an edited log", own, file("edited", edited), nil, attest.LogDoesNotReplay},
		{"a quote of before", own, good, func(attest.Evidence) attest.Evidence { return first }, attest.WrongNonce},
		{"no log", own, file("empty", nil), nil, attest.UnreadableLog},
	} {
		a.forge = row.forge
		if said := run(row.by, row.log); !strings.Contains(said, string(row.want)) || strings.Contains(said, "the boot is attested") {
			t.Errorf("%s: %s", row.name, said)
		}
		heard(false, row.want)
	}
	a.forge = nil
	if said := run(own, filepath.Join(dir, "none")); !strings.Contains(said, "the boot is not attested") {
		t.Errorf("without a log: %s", said)
	}
	if said := run(own, good); !strings.Contains(said, "the boot is attested") {
		t.Errorf("once more: %s", said)
	}
	heard(true, "")
	stop(own.cmd)
	own.start()
	own.boot(log)
	own.extend(12, bytes.Repeat([]byte{1}, 32)) // which the log does not say
	if said := run(own, good); !strings.Contains(said, string(attest.LogDoesNotReplay)) {
		t.Errorf("extended since: %s", said)
	}
	heard(false, attest.LogDoesNotReplay)
	stop(own.cmd)
	own.start()
	if said := run(own, good); !strings.Contains(said, string(attest.LogDoesNotReplay)) {
		t.Errorf("nothing booted: %s", said)
	}
}
