package site

import (
	"context"
	"net/http"
	"net/netip"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	agentdaemon "rackboot/agent/daemon"
	hubdaemon "rackboot/hub/daemon"
	"rackboot/integration/sim"
	"rackboot/netboot/bootcert"
)

// recorder is a registry that knows the names of what was registered: a vector
// without values is not gathered.
type recorder struct {
	*prometheus.Registry
	mu    sync.Mutex
	names map[string]string // labels by name, as in docs/METRICS.md
}

func newRecorder() *recorder {
	return &recorder{Registry: prometheus.NewRegistry(), names: map[string]string{}}
}

// description is how client_golang prints a prometheus.Desc.
var description = regexp.MustCompile(`fqName: "([^"]*)".*constLabels: \{([^}]*)\}.*variableLabels: \{([^}]*)\}`)

// labels joins the names of constant labels, name="value", and of others.
func labels(constant, variable string) string {
	var out []string
	for part := range strings.SplitSeq(constant+","+variable, ",") {
		if name, _, _ := strings.Cut(part, "="); name != "" {
			out = append(out, name)
		}
	}
	return strings.Join(out, ", ")
}

func (r *recorder) Register(c prometheus.Collector) error {
	descs := make(chan *prometheus.Desc)
	go func() {
		c.Describe(descs)
		close(descs)
	}()
	r.mu.Lock()
	for d := range descs {
		if m := description.FindStringSubmatch(d.String()); m != nil && strings.HasPrefix(m[1], "rackboot_") {
			r.names[m[1]] = labels(m[2], m[3])
		}
	}
	r.mu.Unlock()
	return r.Registry.Register(c)
}

func (r *recorder) MustRegister(all ...prometheus.Collector) {
	for _, c := range all {
		if err := r.Register(c); err != nil {
			panic(err)
		}
	}
}

// TestMetrics holds docs/METRICS.md against what both daemons register, and lints
// both pages as they are after a first boot.
func TestMetrics(t *testing.T) {
	t.Parallel()
	s := newSite(t, 1)
	hub, agent := newRecorder(), newRecorder()
	pages := freePorts(t, 2)
	s.hub.Metrics = pages[0]
	s.hub.Registry = hubdaemon.Registry{Listen: freePorts(t, 1)[0], QuotaMiB: 64, MinFreeMiB: 1}
	s.run("hub", func(ctx context.Context, ready func()) error {
		return hubdaemon.Run(ctx, s.hub, hubdaemon.Options{Version: "test", Logger: s.log, Registry: hub, Ready: ready})
	})
	s.dial()
	s.untilReady()
	s.apply(s.manifests()...)
	c := s.firstAgent()
	addrs, err := sim.FreeAddresses("127.0.0.1", 2)
	if err != nil {
		t.Fatal(err)
	}
	six, err := sim.FreeAddresses("::1", 1)
	if err != nil {
		t.Fatal(err)
	}
	c.Segments[0].TFTP, c.Segments[0].HTTPS, c.Segments[0].DHCP6 = addrs[0].String(), addrs[1].String(), six[0].String()
	if _, err := bootcert.Folder(c.BootCertificates).Make(bootcert.Names{Addrs: []netip.Addr{addrs[1].Addr()}}, time.Now()); err != nil {
		t.Fatal(err)
	}
	c.Metrics = pages[1]
	c.Repositories.Bases = []agentdaemon.Repository{{URL: "http://" + addrs[0].String() + "/"}} // nobody asks
	c.OTLP.Endpoint = "http://" + addrs[0].String()                                             // nobody answers
	s.join(c)
	s.run("agent", func(ctx context.Context, ready func()) error {
		return agentdaemon.Run(ctx, c, agentdaemon.Options{Version: "test", Logger: s.log, Registry: agent, Ready: ready})
	})
	s.provision()
	for _, page := range pages {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+page+"/readyz", nil)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		if err := answer.Body.Close(); err != nil || answer.StatusCode != http.StatusOK {
			t.Errorf("%s is not ready: %d, %v", page, answer.StatusCode, err)
		}
	}
	for page, reg := range map[string]*recorder{"hub": hub, "agent": agent} {
		if problems, err := testutil.GatherAndLint(reg); err != nil || len(problems) > 0 {
			t.Errorf("%s: %v, %v", page, problems, err)
		}
		var got []string
		for name, labels := range reg.names {
			got = append(got, name+" | "+labels)
		}
		slices.Sort(got)
		if diff := cmp.Diff(documented(t, page), got); diff != "" {
			t.Errorf("docs/METRICS.md (-) and what the %s registers (+): %s", page, diff)
		}
	}
}

// documented reads the table below a heading: name, type, labels, meaning.
func documented(t *testing.T, heading string) (out []string) {
	t.Helper()
	raw, err := os.ReadFile("../../docs/METRICS.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(raw), "\n## The "+heading+"\n")
	if !found {
		t.Fatalf("docs/METRICS.md has no heading %q", heading)
	}
	rest, _, _ = strings.Cut(rest, "\n## ")
	for line := range strings.Lines(rest) {
		cells := strings.Split(line, "|")
		if len(cells) < 6 || !strings.Contains(cells[1], "`rackboot_") {
			continue
		}
		if strings.TrimSpace(cells[2]) == "" || strings.TrimSpace(cells[4]) == "" {
			t.Errorf("%s has no type or meaning", cells[1])
		}
		out = append(out, strings.Trim(cells[1], " `")+" | "+strings.ReplaceAll(strings.TrimSpace(cells[3]), "`", ""))
	}
	slices.Sort(out)
	return out
}
