package daemon

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"rackboot/integration/identity"
	"rackboot/protocol"
	"rackboot/protocol/api"
)

// heard is a log that says when it has a line with a word.
type heard struct {
	mu   sync.Mutex
	text bytes.Buffer
	line chan struct{} // one for each write, as far as somebody waits
}

// Write implements io.Writer.
func (h *heard) Write(b []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	select {
	case h.line <- struct{}{}:
	default:
	}
	return h.text.Write(b)
}

// await returns what was logged since it was last asked, once a word is in it.
func (h *heard) await(t *testing.T, word string) string {
	t.Helper()
	limit := time.After(30 * time.Second)
	for {
		h.mu.Lock()
		text := h.text.String()
		if strings.Contains(text, word) {
			h.text.Reset()
			h.mu.Unlock()
			return text
		}
		h.mu.Unlock()
		select {
		case <-h.line:
		case <-limit:
			t.Fatalf("the log has no %q:\n%s", word, text)
		}
	}
}

// reloading is a hub that runs on a file.
type reloading struct {
	t      *testing.T
	dir    string
	config Config // as it was started
	ask    chan os.Signal
	log    *heard
	reg    *prometheus.Registry
	relog  chan Logging
	ca     []byte
}

const reloadBase = "dataDir: %s\napi: %s\nmqtt: 127.0.0.1:0\nnames: [127.0.0.1]\n"

func newReloading(t *testing.T) *reloading {
	t.Helper()
	dir := t.TempDir()
	r := &reloading{t: t, dir: dir, ask: make(chan os.Signal, 1), log: &heard{line: make(chan struct{}, 1)}, reg: prometheus.NewRegistry(), relog: make(chan Logging, 16)}
	r.config = Config{DataDir: filepath.Join(dir, "hub"), API: freeAddress(t)}
	r.write("")
	c, err := LoadConfig(filepath.Join(dir, "hub.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ready, ended := make(chan struct{}), make(chan error, 1)
	go func() {
		ended <- Run(ctx, c, Options{
			Version: "test", Logger: slog.New(slog.NewTextHandler(r.log, nil)), Registry: r.reg, Ready: func() { close(ready) },
			Reload: r.ask, File: filepath.Join(dir, "hub.yaml"), Relog: func(l Logging) { r.relog <- l },
		})
	}()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	select {
	case err := <-ended:
		ended <- err
		t.Fatal(err)
	case <-ready:
	}
	r.log.await(t, "serving")
	if r.ca, err = os.ReadFile(c.path(caCopy)); err != nil {
		t.Fatal(err)
	}
	return r
}

// write writes the hub's file: what it needs, and more.
func (r *reloading) write(more string) {
	r.t.Helper()
	if err := os.WriteFile(filepath.Join(r.dir, "hub.yaml"), fmt.Appendf(nil, reloadBase+"%s", r.config.DataDir, r.config.API, more), 0o600); err != nil {
		r.t.Fatal(err)
	}
}

// reload asks for the file, and returns what the log says of it.
func (r *reloading) reload(more, word string) string {
	r.t.Helper()
	r.write(more)
	r.ask <- os.Interrupt
	return r.log.await(r.t, word)
}

func (r *reloading) token(name, token string) (file string) {
	r.t.Helper()
	file = filepath.Join(r.dir, name)
	if err := os.WriteFile(file, []byte(token+"\n"), 0o600); err != nil {
		r.t.Fatal(err)
	}
	return file
}

func (r *reloading) client(token string) *api.Client {
	r.t.Helper()
	c, err := api.NewClient(api.Config{BaseURL: "https://" + r.config.API, CA: r.ca, Token: token})
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(c.CloseIdle)
	return c
}

func (r *reloading) metric(name string) float64 {
	r.t.Helper()
	families, err := r.reg.Gather()
	if err != nil {
		r.t.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() == name {
			return f.GetMetric()[0].GetGauge().GetValue() + f.GetMetric()[0].GetCounter().GetValue()
		}
	}
	r.t.Fatalf("there is no %s", name)
	return 0
}

// Clients come and go, and may do less, without a restart; what was not followed is said; and all of it is in the
// audit log.
func TestReload(t *testing.T) {
	t.Parallel()
	r := newReloading(t)
	raw, err := os.ReadFile(filepath.Join(r.config.DataDir, "pki/admin.token"))
	if err != nil {
		t.Fatal(err)
	}
	admin := r.client(strings.TrimSpace(string(raw)))
	word := strings.Repeat("0123456789abcdef", 2)
	file := r.token("ops.token", word)
	ops := r.client(word)
	if _, err := ops.Whoami(t.Context()); protocol.CodeOf(err) != protocol.CodeDenied {
		t.Fatalf("before the file names it: %v", err)
	}
	clients := func(roles string) string {
		return "clients:\n- {name: ops, tokenFile: " + file + ", roles: [" + roles + "]}\n"
	}

	if said := r.reload(clients("admin"), "was reloaded"); !strings.Contains(said, "added=[ops]") {
		t.Error(said)
	}
	if me, err := ops.Whoami(t.Context()); err != nil || me.Name != "ops" || !slices.Equal(me.Roles, []string{"admin"}) {
		t.Errorf("%+v, %v", me, err)
	}
	if said := r.reload(clients("viewer"), "was reloaded"); !strings.Contains(said, "changed=[ops]") {
		t.Error(said)
	}
	if me, err := ops.Whoami(t.Context()); err != nil || !slices.Equal(me.Roles, []string{"viewer"}) {
		t.Errorf("lowered: %+v, %v", me, err)
	}
	r.token("ops.token", word+"x")
	r.reload(clients("viewer"), "was reloaded")
	if _, err := ops.Whoami(t.Context()); protocol.CodeOf(err) != protocol.CodeDenied {
		t.Errorf("the token of before: %v", err)
	}
	ops = r.client(word + "x")
	if _, err := ops.Whoami(t.Context()); err != nil {
		t.Errorf("the new token: %v", err)
	}
	// Keys that need a restart are named, until they are as they were.
	said := r.reload(clients("viewer")+"certificateLife: 48h\nmetricsTotalsOnly: true\nlog: {level: debug, format: json}\n", "was reloaded")
	if !strings.Contains(said, `restart_for="metricsTotalsOnly, certificateLife"`) || r.metric("rackboot_hub_config_reload_restart_keys") != 2 {
		t.Error(said)
	}
	for range 3 {
		<-r.relog
	}
	if l := <-r.relog; l != (Logging{Level: "debug", Format: "json"}) {
		t.Errorf("%+v", l)
	}
	if said := r.reload("", "was reloaded"); !strings.Contains(said, "removed=[ops]") || strings.Contains(said, "restart_for") || r.metric("rackboot_hub_config_reload_restart_keys") != 0 {
		t.Error(said)
	}
	if _, err := ops.Whoami(t.Context()); protocol.CodeOf(err) != protocol.CodeDenied {
		t.Errorf("taken away: %v", err)
	}
	log, err := admin.Audit.List(t.Context(), api.AuditQuery{Limit: 100})
	if err != nil {
		t.Fatal(err)
	}
	var entries []string
	for _, e := range log.Items {
		if e.Op == "reload" {
			entries = append(entries, e.Caller+": "+string(e.Outcome)+": "+e.Detail)
		}
	}
	want := []string{
		"hub: accepted: added ops", "hub: accepted: changed ops", "hub: accepted: changed ops",
		"hub: accepted: no client differs; restart for: metricsTotalsOnly, certificateLife", "hub: accepted: removed ops",
	}
	if !slices.Equal(entries, want) {
		t.Errorf("%q", entries)
	}
}

// A file that is wrong in any way changes nothing, and the log says where it is wrong.
func TestReloadOfABrokenFile(t *testing.T) {
	t.Parallel()
	r := newReloading(t)
	word := strings.Repeat("0123456789abcdef", 2)
	good := "clients:\n- {name: ops, tokenFile: " + r.token("ops.token", word) + "}\n"
	r.reload(good, "was reloaded")
	ops := r.client(word)
	loose := r.token("loose.token", word+"y")
	if err := os.Chmod(loose, 0o644); err != nil {
		t.Fatal(err)
	}
	for i, row := range []struct{ name, text, want string }{
		{"no YAML", "clients: [\n", "hub.yaml"},
		{"an unknown key", "client: []\n", "client"},
		{"a role that is none", "clients: [{name: ops, tokenFile: /x, roles: [root]}]\n", "clients[0].roles"},
		{"a token file that is not there", "clients: [{name: ops, tokenFile: /nonexistent}]\n", "/nonexistent"},
		{"a token file that others read", "clients: [{name: ops, tokenFile: " + loose + "}]\n", "chmod 600"},
		{"one token for two", good + "- {name: twin, tokenFile: " + r.token("twin.token", word) + "}\n", "same token"},
		{"authorities that are none", good + "clientCA: " + loose + "\n", "clientCA"},
		{"the hub's own authority", good + "clientCA: " + filepath.Join(r.config.DataDir, caCopy) + "\n", "own authority"},
		{"another level", good + "log: {level: loud}\n", "log.level"},
		{"another format", good + "log: {format: xml}\n", "log.format"},
		{"a provider without TLS", good + "oidc: {issuer: 'http://login.example', clientID: x, groups: [{group: a, roles: [viewer]}]}\n", "oidc.issuer"},
		{"a group without labels of its scope", good + "oidc: {issuer: 'https://login.example', clientID: x, groups: [{group: a, roles: [viewer], scope: {}}]}\n", "oidc.groups[0].scope"},
		{"a page without TLS", good + "oidc: {issuer: 'https://login.example', clientID: x, page: {url: 'http://hub.example'}, groups: [{group: a, roles: [viewer]}]}\n", "oidc.page.url"},
		{"a page that is a path", good + "oidc: {issuer: 'https://login.example', clientID: x, page: {url: 'https://hub.example/page/'}, groups: [{group: a, roles: [viewer]}]}\n", "oidc.page.url"},
		{"a page's secret that is not there", good + "oidc: {issuer: 'https://login.example', clientID: x, page: {url: 'https://hub.example', clientSecretFile: /nonexistent}, groups: [{group: a, roles: [viewer]}]}\n", "oidc.page.clientSecretFile"},
		{"a provider's CA that is not there", good + "oidc: {issuer: 'https://login.example', clientID: x, caFile: /nonexistent, groups: [{group: a, roles: [viewer]}]}\n", "oidc.caFile"},
	} {
		said := r.reload(row.text, "was not reloaded")
		if !strings.Contains(said, row.want) || !strings.Contains(said, "level=ERROR") || strings.Contains(said, word) {
			t.Errorf("%s: %s", row.name, said)
		}
		if me, err := ops.Whoami(t.Context()); err != nil || me.Name != "ops" {
			t.Errorf("%s: %+v, %v", row.name, me, err)
		}
		if ok, failed := r.metric("rackboot_hub_config_reload_ok"), r.metric("rackboot_hub_config_reload_failures_total"); ok != 0 || failed != float64(i+1) {
			t.Errorf("%s: ok %v, failed %v", row.name, ok, failed)
		}
	}
	r.reload(good, "was reloaded")
	if r.metric("rackboot_hub_config_reload_ok") != 1 || r.metric("rackboot_hub_config_reload_timestamp_seconds") == 0 {
		t.Error("the metrics do not say that it is right again")
	}
}

// Each key of the file but those that are reloaded is named when it changes.
func TestDiffer(t *testing.T) {
	a := Config{DataDir: "/a", Names: []string{"a"}, MQTT: "b"}
	b := a
	b.Clients, b.ClientCA, b.Log = []Client{{Name: "x"}}, "/x", Logging{Level: "debug"}
	if got := differ(a, b); got != nil {
		t.Errorf("what is reloaded: %q", got)
	}
	b.DataDir, b.MQTT, b.Names, b.Metrics, b.Events.QuotaMiB = "/b", "c", []string{"a", "b"}, "x", 5
	if got, want := differ(a, b), []string{"dataDir", "mqtt", "names", "metrics", "events"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// A provider that the file names is used without a restart, with its groups of now, also while it is away; one that is
// taken out is believed no longer.
func TestReloadOfAProvider(t *testing.T) {
	t.Parallel()
	r := newReloading(t)
	p := identity.New(t, identity.User{Name: "ada", Email: "ada@example.com", Groups: []string{"ops"}})
	ca := filepath.Join(r.dir, "login.pem")
	if err := os.WriteFile(ca, p.CA, 0o600); err != nil {
		t.Fatal(err)
	}
	provider := func(role string) string {
		return "oidc:\n  issuer: " + p.URL + "\n  clientID: " + identity.ClientID + "\n  caFile: " + ca + "\n  groups: [{group: ops, roles: [" + role + "]}]\n"
	}
	ada := r.client(p.Sign(t, p.Claims("ada")))
	if _, err := ada.Whoami(t.Context()); protocol.CodeOf(err) != protocol.CodeDenied {
		t.Fatalf("%v", err)
	}
	r.reload(provider("admin"), "was reloaded")
	if me, err := ada.Whoami(t.Context()); err != nil || me.Name != "oidc:ada@example.com" || !slices.Equal(me.Roles, []string{"admin"}) {
		t.Errorf("%+v, %v", me, err)
	}
	p.Away(true)
	r.reload(provider("viewer"), "was reloaded")
	if me, err := ada.Whoami(t.Context()); err != nil || !slices.Equal(me.Roles, []string{"viewer"}) {
		t.Errorf("lowered, while the provider is away: %+v, %v", me, err)
	}
	if said := r.reload("", "was reloaded"); strings.Contains(said, "restart_for") {
		t.Error(said)
	}
	if _, err := ada.Whoami(t.Context()); protocol.CodeOf(err) != protocol.CodeDenied {
		t.Errorf("without the provider: %v", err)
	}
}
