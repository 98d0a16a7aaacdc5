package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/pprof"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	hubdaemon "rackboot/hub/daemon"
	"rackboot/integration/sim"
	"rackboot/protocol/api"
)

// hub is a rackboot-hub that runs.
type hub struct {
	program  string // empty is this one, with profiles
	dir      string
	api      string
	mqtt     string
	metrics  string
	profiles string
	registry string
	client   *api.Client
	ca       []byte
	cmd      *exec.Cmd
	ended    chan error // of cmd, closed after its word
	log      *os.File
}

// newHub finds addresses, and starts a hub with an empty folder.
func newHub(ctx context.Context, p plan, dir, registry string) (*hub, error) {
	at, err := sim.FreeAddresses("127.0.0.1", 4)
	if err != nil {
		return nil, err
	}
	h := &hub{dir: dir, api: at[0].String(), mqtt: at[1].String(), metrics: at[2].String(), registry: registry}
	if h.program = p.Hub; p.Profile != "" || p.Hub == "" {
		h.program, h.profiles = "", at[3].String()
	}
	if h.log, err = os.Create(filepath.Join(dir, "hub.log")); err != nil {
		return nil, err
	}
	if err := h.start(false); err != nil {
		return h, err
	}
	ca, token := filepath.Join(dir, "hub", "ca.pem"), filepath.Join(dir, "hub", "pki", "admin.token")
	if err := h.until(ctx, "the hub's files", func() bool { return exists(ca) && exists(token) }); err != nil {
		return h, err
	}
	if h.ca, err = os.ReadFile(ca); err != nil {
		return h, err
	}
	secret, err := os.ReadFile(token)
	if err != nil {
		return h, err
	}
	h.client, err = api.NewClient(api.Config{BaseURL: "https://" + h.api, CA: h.ca, Token: strings.TrimSpace(string(secret))})
	if err != nil {
		return h, err
	}
	config := fmt.Sprintf("current: a\ncontexts:\n- name: a\n  url: https://%s\n  token: %s\n  ca: %q\n", h.api, strings.TrimSpace(string(secret)), string(h.ca))
	if err := os.WriteFile(h.rackctlConfig(), []byte(config), 0o600); err != nil {
		return h, err
	}
	return h, h.ready(ctx)
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func (h *hub) rackctlConfig() string { return filepath.Join(h.dir, "rackctl.yaml") }

// start starts the process. It ends with this one.
func (h *hub) start(totalsOnly bool) error {
	file := filepath.Join(h.dir, "hub.yaml")
	config := fmt.Sprintf("dataDir: %q\napi: %q\nmqtt: %q\nmetrics: %q\nnames: [127.0.0.1]\nmetricsTotalsOnly: %t\nimages: {plainHTTP: [%q]}\n",
		filepath.Join(h.dir, "hub"), h.api, h.mqtt, h.metrics, totalsOnly, h.registry)
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		return err
	}
	program, args := h.program, []string{"run", "--config", file, "--log-level", "warn"}
	if program == "" {
		self, err := os.Executable()
		if err != nil {
			return err
		}
		program, args = self, []string{hubArg, file, h.profiles}
	}
	cmd := exec.Command(program, args...) //nolint:noctx // it is ended by end
	cmd.Stdout, cmd.Stderr = h.log, h.log
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start the hub: %w", err)
	}
	ended := make(chan error, 1)
	h.cmd, h.ended = cmd, ended
	go func() {
		ended <- cmd.Wait()
		close(ended)
	}()
	return nil
}

// kill is kill -9.
func (h *hub) kill() error {
	if err := h.cmd.Process.Kill(); err != nil {
		return err
	}
	<-h.ended // as one that was killed
	h.cmd = nil
	return nil
}

// endWithin is how long the hub may take to end by itself.
const endWithin = 30 * time.Second

// end ends the hub, and returns when it has ended.
func (h *hub) end() error {
	defer h.log.Close()
	if h.client != nil {
		h.client.CloseIdle()
	}
	if h.cmd == nil {
		return nil
	}
	_ = h.cmd.Process.Signal(syscall.SIGTERM) // it has ended, and Wait says how
	late := time.AfterFunc(endWithin, func() { _ = h.cmd.Process.Kill() })
	defer late.Stop()
	return <-h.ended
}

// startWithin bounds the start of a hub: reading 50,000 servers takes its time.
const startWithin = 2 * time.Minute

func (h *hub) ready(ctx context.Context) error {
	return h.until(ctx, "the hub, ready", func() bool { return h.client.Ready(ctx) == nil })
}

// until looks again and again. Where it does not come, the end of the hub's log says more.
func (h *hub) until(ctx context.Context, what string, ok func() bool) error {
	ctx, cancel := context.WithTimeout(ctx, startWithin)
	defer cancel()
	for !ok() {
		select {
		case err := <-h.ended:
			return fmt.Errorf("%s did not come, as the hub has ended: %w; its log ends with:\n%s", what, err, h.tail())
		case <-ctx.Done():
			return fmt.Errorf("%s did not come: %w; its log ends with:\n%s", what, context.Cause(ctx), h.tail())
		case <-time.After(10 * time.Millisecond):
		}
	}
	return nil
}

// tail is the end of the hub's log.
func (h *hub) tail() string {
	const most = 2000
	raw, _ := os.ReadFile(h.log.Name()) // it says nothing then
	return string(bytes.TrimSpace(raw[max(0, len(raw)-most):]))
}

// runHub is the hub as this program has it: as rackboot-hub, with profiles.
func runHub(file, profiles string) error {
	cfg, err := hubdaemon.LoadConfig(file)
	if err != nil {
		return err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/debug/pprof/", pprof.Index)
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	server := &http.Server{Addr: profiles, Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = server.ListenAndServe() }() // whoever asks for a profile finds out
	defer server.Close()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	if err := hubdaemon.Run(ctx, cfg, hubdaemon.Options{Version: "benchfleet", Logger: log, File: file, Ready: func() {}}); !errors.Is(err, context.Canceled) {
		return err
	}
	return nil
}
