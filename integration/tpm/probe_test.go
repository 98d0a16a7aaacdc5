package tpm

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/x509"
	"encoding/json"
	"errors"
	"log/slog"
	"net"
	"net/netip"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"rackboot/agent/store"
	"rackboot/agent/tpm"
	"rackboot/netboot"
	"rackboot/netboot/attest/enrol"
	"rackboot/netboot/httpboot"
	"rackboot/protocol"
	"rackboot/protocol/decide"
	"rackboot/protocol/message"
	"rackboot/state/statetest"
)

// bootToken is that of the boot that the test serves, which is of the server n1.
const bootToken = "boot-token"

// served is an agent's HTTP server with the room of TPMs behind it, and one boot.
type served struct {
	room    *tpm.Room
	tpms    *store.TPMs
	base    string
	reports int
}

func (*served) Open(netip.Addr, string, string) (*netboot.File, error) {
	return nil, protocol.Errorf(protocol.CodeNotFound, "open", "no file")
}

func (s *served) Report(context.Context, netip.Addr, string, protocol.ProbeReport) error {
	s.reports++
	return nil
}

func (*served) Record(netboot.Event) {}

func (s *served) View(name string) (store.View, error) {
	in := store.Intent{ServerIntent: message.ServerIntent{Server: name, UID: "uid"}}
	return store.View{Intent: &in, Record: decide.Record{Identity: &decide.Known{Trusted: decide.Identity{Serial: "S1"}}}}, nil
}

// Enrol takes what the boot says; which token may is judged by agent/boot.
func (s *served) Enrol(token string, step netboot.EnrolStep, body []byte) ([]byte, string, error) {
	if token != bootToken {
		return nil, "", protocol.Errorf(protocol.CodeNotFound, "enrol", "unknown token")
	}
	if step == netboot.EnrolAnswer {
		a, err := enrol.DecodeAnswer(body)
		if err != nil {
			return nil, "", err
		}
		why, err := s.room.Answer("n1", token, a)
		return nil, string(why), err
	}
	o, err := enrol.DecodeOffer(body)
	if err != nil {
		return nil, "", err
	}
	ch, why, err := s.room.Offer("n1", token, o)
	if err != nil || why != tpm.NoRefusal {
		return nil, string(why), err
	}
	answer, err := json.Marshal(ch)
	return answer, "", err
}

// serve serves the boot until the test ends.
func serve(t *testing.T, by enrol.Authorities, change func(*served, *httpboot.Config)) *served {
	t.Helper()
	st, err := store.Open(store.Config{DB: statetest.NewMemory(), NewID: func() string { return "id" }})
	if err != nil {
		t.Fatal(err)
	}
	s := &served{tpms: st.TPMs}
	s.room = tpm.New(tpm.Config{
		TPMs: st.TPMs, Servers: s, Authorities: by, Random: rand.Reader, Clock: time.Now, Logger: slog.New(slog.DiscardHandler), Registerer: prometheus.NewRegistry(),
	})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s.base = "http://" + l.Addr().String() + "/b/" + bootToken + "/"
	cfg := httpboot.Config{Listener: l, Files: s, Evidence: s, Enrolment: s}
	change(s, &cfg)
	h, err := httpboot.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- h.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return s
}

// asItWas is an agent of before boots were attested: it answers 405.
func asItWas(*served, *httpboot.Config) {}

// offered ends the test's own use of the TPM, and returns the socket by which a program may use it.
func (c *chip) offered() string {
	_ = c.conn.Close() // a second time, if it was offered before
	return filepath.Join(c.dir, "socket")
}

// builtProbe is the program that runs on servers.
func builtProbe(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "rackboot-probe")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", path, "rackboot/cmd/rackboot-probe").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return path
}

// The program enrols the TPM of its machine with the agent before it reports. A machine with another TPM
// reports, and is not enrolled, by its code; so does one without a TPM.
func TestProbeEnrols(t *testing.T) {
	own, other := manufacture(t), manufacture(t)
	root, issuer := own.authorities()
	otherRoot, otherIssuer := other.authorities()
	s := serve(t, enrol.Authorities{Roots: []*x509.Certificate{root, otherRoot}, Intermediates: []*x509.Certificate{issuer, otherIssuer}}, asItWas)
	probe := builtProbe(t)
	run := func(c *chip) string {
		t.Helper()
		device := filepath.Join(t.TempDir(), "none")
		if c != nil {
			device = c.offered()
		}
		ctx, cancel := context.WithTimeout(t.Context(), 2*waitAtMost)
		defer cancel()
		var said bytes.Buffer
		cmd := exec.CommandContext(ctx, probe, "discover", "--lldp", "0s", "--url", s.base, "--tpm", device, "--event-log", "probe_test.go")
		cmd.Stderr = &said
		before := s.reports
		if err := errors.Join(cmd.Run(), ctx.Err()); err != nil || s.reports != before+1 {
			t.Fatalf("%v, %d reports\n%s", err, s.reports-before, said.String())
		}
		return said.String()
	}
	enrolled := func() store.TPM {
		t.Helper()
		all, err := s.tpms.All()
		if err != nil || len(all) != 1 {
			t.Fatalf("%v, %v", all, err)
		}
		return all[0]
	}

	if said := run(nil); !strings.Contains(said, "code=not_found") {
		t.Errorf("without a TPM: %s", said)
	}
	if said := run(own); !strings.Contains(said, "the TPM is enrolled") || !strings.Contains(said, "the agent takes nothing of TPMs") {
		t.Fatalf("its own: %s", said)
	}
	first := enrolled()
	if first.Server != "n1" || first.Serial != "S1" || first.Origin != string(enrol.Vouched) {
		t.Errorf("%+v", first)
	}
	if said := run(other); !strings.Contains(said, "other-tpm") {
		t.Errorf("another one: %s", said)
	}
	stop(own.cmd)
	own.start() // the keys are made again
	if said := run(own); !strings.Contains(said, "the TPM is enrolled") {
		t.Errorf("after a restart: %s", said)
	}
	if again := enrolled(); !again.At.Equal(first.At) {
		t.Errorf("it was enrolled again: %+v", again)
	}
}
