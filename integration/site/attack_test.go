package site

import (
	"errors"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"rackboot/netboot/firmware"
	"rackboot/protocol/resource"
)

// TestNeighbourOnTheBootSegment is somebody on the segment who has seen a boot: its token
// is of no use afterwards, a guessed one never is, other MAC addresses get silence, and
// that of a server which is not to boot a refusal. No server is touched by it, and the
// agent's metrics show what was asked.
func TestNeighbourOnTheBootSegment(t *testing.T) {
	t.Parallel()
	s := newSite(t, 2)
	s.startHub()
	s.apply(s.manifests()...)
	c := s.firstAgent()
	s.join(c)
	s.scraped = prometheus.NewRegistry()
	s.startAgent(c)
	s.provision()

	seen, err := url.Parse(s.servers[0].Boots.LastURL())
	if err != nil || !strings.HasPrefix(seen.Path, "/b/") {
		t.Fatalf("the server was loaded from %s: %v", seen, err)
	}
	parts := strings.Split(seen.Path, "/") // "", b, token, file
	token := parts[2]
	guess := token[:len(token)-1] + "0"
	if guess == token {
		guess = token[:len(token)-1] + "1"
	}
	misses := func() float64 { return requests(t, s.scraped, "404") }
	before := misses()
	asked := 0
	for name, path := range map[string]string{
		"the token that was used":    seen.Path,
		"a token that is nearly it":  strings.Replace(seen.Path, token, guess, 1),
		"no token":                   "/" + parts[3],
		"another file of the token":  "/b/" + token + "/../" + token + "/ignition",
		"the beginning of the token": strings.Replace(seen.Path, token, token[:8], 1),
	} {
		for _, method := range []string{http.MethodHead, http.MethodGet} {
			asked++
			if got := s.boots(method, path); got != http.StatusNotFound {
				t.Errorf("%s: %s is answered %d", name, method, got)
			}
		}
	}
	for _, tok := range []string{token, guess} {
		asked++
		if got := s.boots(http.MethodPost, "/b/"+tok+"/report/installed"); got != http.StatusNotFound {
			t.Errorf("a report with %s is answered %d", tok, got)
		}
	}
	// A request is counted after its answer.
	s.until("the count of all requests", func() bool { return misses()-before == float64(asked) }, func() any { return misses() - before })

	// Another's MAC address, and that of nobody.
	silent := packets(t, s.scraped, "silence")
	mac, err := net.ParseMAC("52:54:00:0e:0e:0e")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := (&firmware.Client{MAC: mac, Server: s.dhcp, Speed: 20}).HTTPBoot(t.Context()); !errors.Is(err, firmware.ErrNoOffer) {
		t.Errorf("a stranger got %v, want silence", err)
	}
	if packets(t, s.scraped, "silence") == silent {
		t.Error("the stranger is not counted")
	}
	for i := range s.servers { // one runs from its disk, the other has no claim
		s.refused(i)
	}
	s.installedOnce()
	s.untilServer("n1", "the disk boot as before", diskBoot)
	if v, _ := get[*resource.Server](s, "n2"); v.Status.Report.Attempt != nil {
		t.Errorf("the server without a claim has %+v", v.Status.Report.Attempt)
	}
}

// boots asks the agent's HTTP server for a path as it is, and returns the status.
func (s *site) boots(method, path string) int {
	s.t.Helper()
	req, err := http.NewRequestWithContext(s.t.Context(), method, "http://"+s.http, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	req.URL.Opaque = path
	own := new(http.Transport) // a test beside this one may close what the default one has open
	defer own.CloseIdleConnections()
	resp, err := own.RoundTrip(req)
	if err != nil {
		s.t.Fatal(err)
	}
	resp.Body.Close()
	return resp.StatusCode
}

// requests are those that the agent's HTTP server answered with a code.
func requests(t *testing.T, reg *prometheus.Registry, code string) float64 {
	t.Helper()
	return labelled(t, reg, "rackboot_http_boot_requests_total", "code", code)
}

// packets are those of DHCP that ended in a result.
func packets(t *testing.T, reg *prometheus.Registry, result string) float64 {
	t.Helper()
	return labelled(t, reg, "rackboot_dhcp_packets_total", "result", result)
}

func labelled(t *testing.T, reg *prometheus.Registry, name, label, value string) (v float64) {
	t.Helper()
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() != name {
			continue
		}
		for _, m := range f.GetMetric() {
			for _, l := range m.GetLabel() {
				if l.GetName() == label && l.GetValue() == value {
					v += m.GetCounter().GetValue()
				}
			}
		}
	}
	return v
}
