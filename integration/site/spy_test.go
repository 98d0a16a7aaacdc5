package site

import (
	"crypto/tls"
	"crypto/x509"
	"io"
	"io/fs"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"rackboot/protocol/api"
	"rackboot/protocol/resource"
	"rackboot/state"
	"rackboot/state/badger"
)

// spy reads everything that a site shows: logs at every level, answers, metrics, files.
type spy struct {
	site       *site
	log        lines
	hub, agent string // addresses of the metrics
	known      []known
}

// lines is a log that several write to.
type lines struct {
	mu   sync.Mutex
	text strings.Builder
}

// Write implements io.Writer.
func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// spy has the site log to it and show its metrics.
func (s *site) spy() *spy {
	s.t.Helper()
	ports := freePorts(s.t, 2)
	y := &spy{site: s, hub: ports[0], agent: ports[1]}
	y.knows("a password", []byte(canary))
	s.log = slog.New(slog.NewJSONHandler(&y.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	s.hub.Metrics = y.hub
	return y
}

// look reads every answer of the API, and the metrics of both daemons.
func (y *spy) look() {
	t := y.site.t
	t.Helper()
	paths := []string{api.PathEvents + "?limit=1000", api.PathOpenAPI, api.PathHealth, api.PathReady, api.PathWhoami, api.PathAudit, api.PathAuditExport, api.PathSupport}
	for _, k := range resource.Kinds() {
		objs, err := y.site.client.Objects.List(t.Context(), k)
		if err != nil {
			t.Fatal(err)
		}
		paths = append(paths, api.PathKind(k))
		for _, o := range objs {
			paths = append(paths, api.PathObject(k, o.Head().Metadata.Name))
		}
	}
	for _, path := range paths {
		y.page("https://"+y.site.hub.API+path, "")
	}
	y.page("http://"+y.hub+"/metrics", "rackboot_hub_secrets")
	y.page("http://"+y.agent+"/metrics", "rackboot_agent_secrets_opened_total")
}

// page reads one answer; want is in it.
func (y *spy) page(url, want string) {
	t := y.site.t
	t.Helper()
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(y.site.ca())
	token, err := os.ReadFile(filepath.Join(y.site.hub.DataDir, "pki", "admin.token"))
	if err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+strings.TrimSpace(string(token)))
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS13}}
	defer transport.CloseIdleConnections()
	resp, err := (&http.Client{Transport: transport, Timeout: 10 * time.Second}).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK || !strings.Contains(string(body), want) {
		t.Fatalf("%s: %s, %v, without %q", url, resp.Status, err, want)
	}
	y.read(url, body)
}

// clean looks through the log and all files of hub and agents, but those of the keys.
func (y *spy) clean(but ...string) {
	t := y.site.t
	t.Helper()
	log := y.log.String()
	if !strings.Contains(log, "credentials sealed") || !strings.Contains(log, `"level":"DEBUG"`) {
		t.Error("the log was not taken")
	}
	for line := range strings.Lines(log) {
		y.read("the log: "+line, []byte(line))
	}
	seen, referring := 0, 0
	err := filepath.WalkDir(y.site.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || slices.Contains(but, path) {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		seen++
		if strings.Contains(string(data), "secret:bmc") {
			referring++
		}
		y.read(path, data)
		return nil
	})
	if err != nil || seen < 10 || referring == 0 {
		t.Errorf("%d files, %d of which are of the store (%v)", seen, referring, err)
	}
}

// databaseClean looks through an agent's values as they are read, whatever their files
// do to them; accounts is how many of them are sealed.
func (y *spy) databaseClean(dataDir string, accounts int) {
	s := y.site
	s.t.Helper()
	db, err := badger.Open(badger.Config{Dir: filepath.Join(dataDir, "state")})
	if err != nil {
		s.t.Fatal(err)
	}
	kept := 0
	err = db.View(func(tx state.Txn) error {
		return tx.Scan("", func(key string, value []byte) error {
			if strings.HasPrefix(key, "secret/") {
				kept++
			}
			y.read(filepath.Join(dataDir, "state")+"/"+key, slices.Concat([]byte(key), []byte{0}, value))
			return nil
		})
	})
	if err != nil || kept != accounts {
		s.t.Errorf("%s keeps %d accounts, want %d (%v)", dataDir, kept, accounts, err)
	}
	if err := db.Close(); err != nil {
		s.t.Error(err)
	}
}
