package site

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	agentdaemon "rackboot/agent/daemon"
	hubdaemon "rackboot/hub/daemon"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

var required = flag.String("require", "", "comma separated resources whose absence is a failure instead of a skip: prometheus")

// prometheus is Debian's, unpacked by integration/packages: a folder with prometheus and promtool.
func prometheusPrograms(t *testing.T) string {
	t.Helper()
	if cache, err := os.UserCacheDir(); err == nil {
		dir := filepath.Join(cache, "rackboot", "integration", "prometheus", "usr", "bin")
		if _, err := os.Stat(filepath.Join(dir, "promtool")); err == nil {
			return dir
		}
	}
	const text = "Prometheus is not there; run integration/packages as root, then go test ./integration/site -run Prometheus -require=prometheus"
	if slices.Contains(strings.Split(*required, ","), "prometheus") {
		t.Fatal(text)
	}
	t.Skip(text)
	return ""
}

// TestPrometheusRules: Prometheus takes the rules, and each alert fires when its test says so and not before.
func TestPrometheusRules(t *testing.T) {
	t.Parallel()
	promtool := filepath.Join(prometheusPrograms(t), "promtool")
	for _, args := range [][]string{
		{"check", "rules", "rules.yaml"},
		{"test", "rules", "rules_test.yaml"},
		{"check", "config", "--syntax-only", "scrape.yaml"},
		{"check", "config", "--syntax-only", "--agent", "remote-write.yaml"},
	} {
		cmd := exec.CommandContext(t.Context(), promtool, args...)
		cmd.Dir = "../../configs/prometheus"
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("promtool %v: %v\n%s", args, err, out)
		}
	}
}

// scraped is a Prometheus that scrapes a site.
type scraped struct {
	s   *site
	url string
}

// prometheus starts one, with the shipped rules; it ends with the test.
func (s *site) prometheus(hub string) *scraped {
	s.t.Helper()
	dir, listen := s.t.TempDir(), freePorts(s.t, 1)[0]
	rules, err := filepath.Abs("../../configs/prometheus/rules.yaml")
	if err != nil {
		s.t.Fatal(err)
	}
	config := fmt.Sprintf(`global: {scrape_interval: 1s, evaluation_interval: 1s}
rule_files: [%q]
scrape_configs:
  - {job_name: rackboot-hub, static_configs: [{targets: [%q]}]}
  - {job_name: rackboot-agent, http_sd_configs: [{url: "http://%s/sd/agents", refresh_interval: 1s}]}
`, rules, hub, hub)
	file := filepath.Join(dir, "prometheus.yaml")
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		s.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, filepath.Join(prometheusPrograms(s.t.(*testing.T)), "prometheus"),
		"--config.file="+file, "--storage.tsdb.path="+filepath.Join(dir, "data"), "--web.listen-address="+listen)
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		s.t.Fatal(err)
	}
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() {
		cancel()
		_ = cmd.Wait() // killed
		if said, err := os.ReadFile(log.Name()); err == nil && s.t.Failed() {
			s.t.Logf("prometheus:\n%s", said)
		}
		_ = log.Close()
	})
	return &scraped{s, "http://" + listen}
}

// query is how many series an expression has now; -1 where Prometheus does not answer.
func (p *scraped) query(expr string) int {
	p.s.t.Helper()
	r, err := http.NewRequestWithContext(p.s.t.Context(), http.MethodGet, p.url+"/api/v1/query?query="+url.QueryEscape(expr), nil)
	if err != nil {
		p.s.t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return -1 // it starts
	}
	defer answer.Body.Close()
	var got struct {
		Status, Error string
		Data          struct{ Result []json.RawMessage }
	}
	if err := json.NewDecoder(answer.Body).Decode(&got); err != nil {
		return -1
	}
	if answer.StatusCode == http.StatusBadRequest {
		p.s.t.Fatalf("%s: %s", expr, got.Error)
	}
	return len(got.Data.Result)
}

// answers waits until an expression has a series: a scrape that a busy machine does not answer within its second leaves
// none until the next.
func (p *scraped) answers(what, expr string) {
	p.s.t.Helper()
	p.s.until(what, func() bool { return p.query(expr) > 0 }, func() any { return fmt.Sprintf("%d series of %s", p.query(expr), expr) })
}

// panelQueries are the expressions of a dashboard's panels by title, for the site's rack and first server.
func panelQueries(t *testing.T, file string) map[string]string {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var d struct {
		Panels []struct {
			Title   string
			Targets []struct{ RefID, Expr string }
		}
	}
	if err := json.Unmarshal(raw, &d); err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, p := range d.Panels {
		for _, q := range p.Targets {
			out[filepath.Base(file)+": "+p.Title+" "+q.RefID] = strings.NewReplacer("$__rate_interval", "1m", "$rack", "r1", "$server", "n1").Replace(q.Expr)
		}
	}
	return out
}

// TestPrometheus: a Prometheus that scrapes hub and agent has data for every panel of every dashboard after one boot
// and one hold, no alert fires but those of the hold, and the commands of the runbooks run.
func TestPrometheus(t *testing.T) {
	t.Parallel()
	prometheusPrograms(t)
	s := newSite(t, 1)
	pages := freePorts(t, 2)
	s.hub.Metrics = pages[0]
	s.run("hub", func(ctx context.Context, ready func()) error {
		return hubdaemon.Run(ctx, s.hub, hubdaemon.Options{Version: "test", Logger: s.log, Ready: ready})
	})
	s.dial()
	s.untilReady()
	s.apply(s.manifests()...)
	c := s.firstAgent()
	c.Metrics, c.MetricsAdvertise = pages[1], protocol.MetricsAddress(pages[1])
	s.join(c)
	s.run("agent", func(ctx context.Context, ready func()) error {
		return agentdaemon.Run(ctx, c, agentdaemon.Options{Version: "test", Logger: s.log, Ready: ready})
	})
	p := s.prometheus(pages[0])
	s.until("both are scraped", func() bool { return p.query("up == 1") == 2 }, func() any { return p.query("up") })
	p.answers("the agent that the hub told of", fmt.Sprintf(`up{job="rackboot-agent",instance=%q,rack="r1",role="active",agent!=""} == 1`, pages[1]))
	s.provision()
	s.place("n1", "k", resource.HoldFenced)
	s.until("the hold is scraped", func() bool {
		return p.query(`rackboot_server_hold_timestamp_seconds{server="n1",state="Fenced"}`) == 1
	}, func() any { return p.query("rackboot_server_hold_timestamp_seconds") })
	files, err := filepath.Glob("../../configs/grafana/*.json")
	if err != nil || len(files) < 5 {
		t.Fatalf("%v, %v", files, err)
	}
	for _, f := range files {
		for panel, expr := range panelQueries(t, f) {
			p.answers("data for "+panel, expr)
		}
	}
	for _, expr := range []string{
		`increase(rackboot_hub_boots_total{outcome="Succeeded"}[5m]) > 0`,
		`rackboot_hub_boot_seconds_count > 0`,
		`rackboot_hub_hold_fenced_seconds_count == 1`,
		`rackboot_server_boot_info{claim="c-n1",digest!="",booted!="",evidence!=""}`,
	} {
		p.answers("a count", expr)
	}
	if n := p.query(`ALERTS{alertstate="firing"}`); n != 0 {
		t.Errorf("%d alerts fire on a site that is well", n)
	}
	s.runbooks()
	s.questions(p)
}

// questions asks each of the guide's table, of rackctl and of Prometheus, which has something to say to each.
func (s *site) questions(p *scraped) {
	s.t.Helper()
	page, err := os.ReadFile("../../docs/guide/questions.md")
	if err != nil {
		s.t.Fatal(err)
	}
	waits := s.claim("none")
	waits.Spec.ServerRef, waits.Spec.ServerSelector = nil, &resource.Selector{MatchLabels: map[string]string{"size": "huge"}}
	s.apply(waits)
	s.until("the claim that waits is scraped", func() bool { return p.query("rackboot_claim_unbound_timestamp_seconds") == 1 }, func() any { return nil })
	run, asked := s.rackctl(), 0
	for _, m := range regexp.MustCompile("(?m)^\\| .*\\? \\| `rackctl ([^`]+)`[^|]*\\| `([^`]+)` \\|$").FindAllStringSubmatch(string(page), -1) {
		asked++
		if out := run(strings.Fields(m[1])...); strings.TrimSpace(out) == "" {
			s.t.Errorf("rackctl %s says nothing", m[1])
		}
		p.answers("an answer for rackctl "+m[1], m[2])
	}
	if asked != 10 {
		s.t.Errorf("%d questions were asked", asked)
	}
	if out := run("status"); !strings.HasPrefix(out, "1 racks, 0 dark; 1 servers: 1 Reserved; 1 Off; 1 Held") || !strings.Contains(out, "1 claims without a server") {
		s.t.Errorf("the fleet in one line: %s", out)
	}
}

// reads are commands that change nothing.
var reads = regexp.MustCompile(`^(get|describe|events|trace|explain|doctor|audit verify|backup status|secret list)\b`)

// runbooks runs each command of the alerts' page that changes nothing, and wants the others to be there with their
// flags.
func (s *site) runbooks() {
	s.t.Helper()
	page, err := os.ReadFile("../../docs/reference/alerts.md")
	if err != nil {
		s.t.Fatal(err)
	}
	run, done := s.rackctl(), map[string]bool{}
	names := strings.NewReplacer("SERVER", "n1", "AGENT", "r1-1", "RACK", "r1", "CODE", "NoDHCP", "BMC", "b-n1", "CLAIM", "c-n1", " --against FILE", "", "hub.pub", filepath.Join(s.hub.DataDir, "hub.pub"))
	for _, m := range regexp.MustCompile("`rackctl ([^`]+)`").FindAllStringSubmatch(string(page), -1) {
		command := m[1]
		if done[command] {
			continue
		}
		done[command] = true
		if reads.MatchString(command) && !strings.Contains(command, "GROUP") {
			run(strings.Fields(names.Replace(command))...)
			continue
		}
		var verb, flags []string
		for word := range strings.FieldsSeq(command) {
			switch {
			case strings.HasPrefix(word, "--"):
				flags = append(flags, word)
			case strings.ToLower(word) == word:
				verb = append(verb, word)
			}
		}
		if verb[0] == "describe" || verb[0] == "get" {
			verb = verb[:1] // a kind follows
		}
		help := run(append(verb, "--help")...)
		for _, f := range flags {
			if !strings.Contains(help, f) {
				s.t.Errorf("rackctl %s: no flag %s", command, f)
			}
		}
		if !strings.Contains(help, "rackctl "+strings.Join(verb, " ")) {
			s.t.Errorf("rackctl %s: there is no such command: %s", command, help)
		}
	}
	if len(done) < 20 {
		s.t.Errorf("%d commands", len(done))
	}
}
