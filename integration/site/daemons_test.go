package site

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	agentdaemon "rackboot/agent/daemon"
	hubdaemon "rackboot/hub/daemon"
	"rackboot/protocol/api"
)

// run starts a daemon and returns what stops it, once it is ready.
func (s *site) run(what string, daemon func(ctx context.Context, ready func()) error) (stop func()) {
	s.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ready, done := make(chan struct{}), make(chan error, 1)
	go func() { done <- daemon(ctx, sync.OnceFunc(func() { close(ready) })) }()
	select {
	case <-ready:
	case err := <-done:
		cancel()
		s.t.Fatalf("%s did not start: %v", what, err)
	case <-time.After(waitAtMost):
		cancel()
		s.t.Fatalf("%s is not ready", what)
	}
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil && !errors.Is(err, context.Canceled) {
			s.t.Errorf("%s: %v", what, err)
		}
	})
	s.t.Cleanup(stop)
	return stop
}

// startHub returns when the hub is ready to serve.
func (s *site) startHub() {
	s.t.Helper()
	s.runHub()
	s.untilReady()
}

func (s *site) untilReady() {
	s.t.Helper()
	var last error
	s.until("the hub", func() bool { last = s.client.Ready(s.t.Context()); return last == nil }, func() any { return last })
}

// runHub returns when the hub listens: one that steps down is never ready.
func (s *site) runHub() {
	s.t.Helper()
	awaitFree(s.t, s.hub.API, s.hub.MQTT, s.hub.Metrics)
	s.stopHub = s.run("hub", func(ctx context.Context, ready func()) error {
		return hubdaemon.Run(ctx, s.hub, hubdaemon.Options{Version: cmp.Or(s.version, "test"), Logger: s.log, Ready: ready})
	})
	s.dial()
}

// dial makes the client from the files that the hub wrote.
func (s *site) dial() {
	s.t.Helper()
	if s.client == nil {
		ca, err := os.ReadFile(filepath.Join(s.hub.DataDir, "ca.pem"))
		if err != nil {
			s.t.Fatal(err)
		}
		token, err := os.ReadFile(filepath.Join(s.hub.DataDir, "pki", "admin.token"))
		if err != nil {
			s.t.Fatal(err)
		}
		if s.client, err = api.NewClient(api.Config{BaseURL: "https://" + s.hub.API, CA: ca, Token: strings.TrimSpace(string(token))}); err != nil {
			s.t.Fatal(err)
		}
		s.t.Cleanup(s.client.CloseIdle)
	}
}

// agentConfig is that of an agent in folder name. http is where it listens: only
// one agent at a time can have the site's.
func (s *site) agentConfig(name, dhcp, http string) agentdaemon.Config {
	s.t.Helper()
	credentials := filepath.Join(s.dir, "credentials")
	if err := os.MkdirAll(credentials, 0o700); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(credentials, "bmc"), []byte("username: admin\npassword: secret\n"), 0o600); err != nil {
		s.t.Fatal(err)
	}
	return agentdaemon.Config{
		DataDir: filepath.Join(s.dir, name), CredentialsDir: credentials,
		Segments:         []agentdaemon.Segment{{Name: "boot", DHCP: dhcp, HTTP: http}},
		Images:           agentdaemon.Images{QuotaMiB: 64},
		BootCertificates: filepath.Join(s.dir, "boot-cert"),
	}
}

func (s *site) firstAgent() agentdaemon.Config {
	return s.agentConfig("agent", s.dhcp.String(), s.http)
}

// join spends a new token.
func (s *site) join(c agentdaemon.Config) (agent string) {
	s.t.Helper()
	token, err := s.client.Agents.NewToken(s.t.Context(), rackName, api.TokenRequest{})
	if err != nil {
		s.t.Fatal(err)
	}
	if agent, err = agentdaemon.Join(s.t.Context(), c, "https://"+s.hub.API, token.Token, s.ca()); err != nil {
		s.t.Fatal(err)
	}
	return agent
}

func (s *site) ca() []byte {
	s.t.Helper()
	ca, err := os.ReadFile(filepath.Join(s.hub.DataDir, "ca.pem"))
	if err != nil {
		s.t.Fatal(err)
	}
	return ca
}

// linkPause bounds the pause between an agent's connections, to keep tests short.
const linkPause = 500 * time.Millisecond

// lookPause is that between an agent's looks at its certificate, likewise.
const lookPause = 100 * time.Millisecond

func (s *site) startAgent(c agentdaemon.Config) (stop func()) {
	s.t.Helper()
	awaitFree(s.t, c.Metrics)
	for _, g := range c.Segments {
		awaitFree(s.t, g.DHCP, g.HTTP, g.HTTPS, g.TFTP, g.DHCP6, g.HTTP6, g.HTTPS6, g.TFTP6)
	}
	return s.run("agent in "+filepath.Base(c.DataDir), func(ctx context.Context, ready func()) error {
		o := agentdaemon.Options{Version: "test", Logger: s.log, MaxBackoff: linkPause, LookEvery: lookPause, Ready: ready}
		if s.scraped != nil {
			o.Registry = s.scraped
		}
		return agentdaemon.Run(ctx, c, o)
	})
}
