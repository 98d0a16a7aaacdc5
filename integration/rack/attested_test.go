package rack

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	bmcsim "rackboot/bmc/sim"
	"rackboot/integration/sim"
	"rackboot/netboot/attest"
	"rackboot/netboot/attest/quotetest"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// A discovery that has to be attested is not over by a report alone. Its machine sends no quote, or one that proves nothing:
// the code is named by the condition, the attempt and the end.
func TestAttestedIsRequired(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name   string
		quotes bool
		code   string
	}{
		{"no quote", false, "no-quote"},
		{"a quote of what is no unified kernel image", true, "unfit-image"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			var b *bench
			var refused atomic.Value
			roots := x509.NewCertPool()
			b = newBenchOf(t, t.TempDir(), 1, bmcsim.Plain(), func(c *sim.ServerConfig) {
				c.Roots = roots
				c.Live = func() protocol.ProbeReport {
					if row.quotes {
						refused.Store(b.quotes(t, roots))
					}
					return protocol.ProbeReport{State: protocol.ProbeDiscovered}
				}
			})
			b.sealed(roots)
			a, _ := b.start(nil)
			b.discover(0, 1, "discovery-1")
			b.intents[0].Boot.RequireEvidence = resource.EvidenceAttested
			b.send(a)
			b.until("its report is not enough", 0, func(r resource.ServerReport) bool {
				return r.Attempt != nil && r.Attempt.Unattested == row.code && r.Attempt.Class == ""
			})
			r := b.until("given up, and Off", 0, func(r resource.ServerReport) bool {
				return has(resource.CondDiscoveryFailed)(r) && r.Observation.Power == protocol.PowerOff
			})
			if discovered(r) || r.Attempt.State != resource.AttemptFailed || r.Attempt.Unattested != row.code {
				t.Errorf("%+v", r.Attempt)
			}
			if c := r.Condition(resource.CondDiscoveryFailed); !strings.Contains(c.Message, row.code) {
				t.Errorf("given up with %q", c.Message)
			}
			if got, _ := refused.Load().(string); row.quotes && !strings.Contains(got, row.code) {
				t.Errorf("the quote was answered %q", got)
			}
		})
	}
}

// A server whose TPM would be asked in clear is not powered on for it.
func TestAttestedWaits(t *testing.T) {
	t.Parallel()
	b := discovers(t, 1, reports(protocol.ProbeDiscovered), nil)
	b.trusted = true // so that its token goes through the BMC
	a, _ := b.start(nil)
	b.discover(0, 1, "discovery-1")
	b.intents[0].Boot.RequireEvidence = resource.EvidenceAttested
	b.send(a)
	r := b.until("what it lacks", 0, has(resource.CondEvidenceWaits))
	if c := r.Condition(resource.CondEvidenceWaits); r.Attempt != nil || !strings.Contains(c.Message, "https") || b.servers[0].BMC.PowerState() != protocol.PowerOff {
		t.Errorf("%+v, %+v", r.Attempt, c)
	}
	b.intents[0].Boot.RequireEvidence = resource.EvidenceObserved
	b.send(a)
	if r := b.until("the inventory", 0, discovered); r.Attempt.Class != resource.EvidenceObserved {
		t.Errorf("%+v", r.Attempt)
	}
}

// sealed has the segment boot by https, and its servers trust the agent.
func (b *bench) sealed(roots *x509.CertPool) {
	b.t.Helper()
	free, err := sim.FreeAddresses(b.ip, 1)
	if err != nil {
		b.t.Fatal(err)
	}
	b.https = free[0]
	certs, own := certificateFor(b.t, net.IP(b.https.Addr().AsSlice()))
	b.certs = certs
	*roots = *own
	b.change = func(s *resource.SegmentIntent) { s.BaseURL = "https://" + b.https.String() }
}

// quotes answers the agent's challenge with a key that is of no TPM; it returns what the agent says.
func (b *bench) quotes(t *testing.T, roots *x509.CertPool) string {
	base, _ := b.servers[0].Boots.Installing()
	client := &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}}}
	defer client.CloseIdleConnections()
	post := func(step, body string) string {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, base+step, strings.NewReader(body))
		if err != nil {
			return err.Error()
		}
		resp, err := client.Do(req)
		if err != nil {
			return err.Error()
		}
		defer resp.Body.Close()
		said, err := io.ReadAll(resp.Body)
		if err != nil {
			return err.Error()
		}
		return string(said)
	}
	var ask attest.Ask
	if said := post("attest/ask", "{}"); json.Unmarshal([]byte(said), &ask) != nil || len(ask.Nonce) == 0 {
		return said
	}
	pcrs := map[int][]byte{}
	for _, pcr := range ask.PCRs {
		pcrs[pcr] = make([]byte, 32)
	}
	quote, signature := quotetest.ECDSA(t).Quote(t, ask.Nonce, ask.Bank, pcrs)
	ev, err := json.Marshal(attest.Evidence{Quote: quote, Signature: signature, PCRs: pcrs, Log: []byte("no log")})
	if err != nil {
		return err.Error()
	}
	return post("attest/prove", string(ev))
}
