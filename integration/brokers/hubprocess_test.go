package brokers

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	hubdaemon "rackboot/hub/daemon"
	"rackboot/protocol/api"
)

// asHub is the file with the configuration of the hub that the test program is, in place of tests.
var asHub = flag.String("hub", "", "be a hub of the configuration in this file, in JSON")

// beHub runs the hub of a file until it is ended.
func beHub(path string) int {
	raw, err := os.ReadFile(path)
	var c hubdaemon.Config
	if err == nil {
		err = json.Unmarshal(raw, &c)
	}
	if err == nil {
		ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
		defer stop()
		err = hubdaemon.Run(ctx, c, hubdaemon.Options{Version: "test", Logger: slog.New(slog.NewTextHandler(os.Stderr, nil)), MaxBackoff: linkPause, Ready: func() {}})
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// apart makes the site's hub a process of its own, that can be killed.
func (s *site) apart(name string) *server {
	s.t.Helper()
	raw, err := json.Marshal(s.hub)
	if err != nil {
		s.t.Fatal(err)
	}
	path := filepath.Join(s.t.TempDir(), "hub.json")
	if err := os.WriteFile(path, raw, 0o600); err != nil {
		s.t.Fatal(err)
	}
	program, err := os.Executable()
	if err != nil {
		s.t.Fatal(err)
	}
	sv := &server{t: s.t, name: name, dir: filepath.Dir(path), program: program, args: []string{"-hub", path}}
	s.t.Cleanup(func() {
		if s.t.Failed() {
			log, _ := os.ReadFile(sv.log())
			s.t.Logf("hub %s said:\n%s", name, log)
		}
	})
	return sv
}

// comes starts a hub that is a process, and waits for it.
func (s *site) comes(sv *server) {
	s.t.Helper()
	s.awaitFree(s.hub.API)
	sv.start()
	s.t.Cleanup(sv.kill)
	token := filepath.Join(s.hub.DataDir, "pki", "admin.token")
	s.until("the hub's token", func() bool { return exists(token) }, func() any { return "" })
	raw, err := os.ReadFile(token)
	if err != nil {
		s.t.Fatal(err)
	}
	if s.client, err = api.NewClient(api.Config{BaseURL: "https://" + s.hub.API, CA: s.keys.CAPEM(), Token: strings.TrimSpace(string(raw))}); err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(s.client.CloseIdle)
	var last error
	s.until("the hub", func() bool { last = s.client.Ready(s.t.Context()); return last == nil }, func() any { return last })
}
