package sim

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"rackboot/protocol/api"
)

// demoSite is a hub and an agent as separate programs, and those who ask them.
type demoSite struct {
	bin    string // folder of the programs
	dir    string // folder of their files
	ports  demoPorts
	hub    *Process
	agent  *Process
	client *api.Client
	seen   uint64 // last event that was printed
}

type demoPorts struct{ api, mqtt, hubMetrics, agentMetrics, dhcp, http string }

func (s *demoSite) choosePorts() error {
	ports := []*string{&s.ports.api, &s.ports.mqtt, &s.ports.hubMetrics, &s.ports.agentMetrics, &s.ports.http, &s.ports.dhcp}
	addrs, err := FreeAddresses("127.0.0.1", len(ports))
	for i, a := range addrs {
		*ports[i] = a.String()
	}
	return err
}

// startHub starts the hub and waits until it is ready.
func (s *demoSite) startHub(ctx context.Context) (string, error) {
	p, err := StartProcess(s.path(fmt.Sprintf("hub-%d.log", time.Now().UnixNano())), filepath.Join(s.bin, "rackboot-hub"), "run", "--config", s.path("hub.yaml"))
	if err != nil {
		return "", err
	}
	s.hub = p
	if err := until(ctx, func() (bool, error) {
		select {
		case <-p.Ended():
			return false, fmt.Errorf("the hub ended: %w", p.Stop())
		default:
		}
		if s.client == nil {
			ca, err := os.ReadFile(s.path("hub", "ca.pem"))
			if err != nil {
				return false, nil // not written yet
			}
			token, err := os.ReadFile(s.path("hub", "pki", "admin.token"))
			if err != nil {
				return false, nil // not written yet
			}
			if s.client, err = api.NewClient(api.Config{BaseURL: "https://" + s.ports.api, CA: ca, Token: strings.TrimSpace(string(token))}); err != nil {
				return false, err
			}
		}
		return s.client.Ready(ctx) == nil, nil
	}); err != nil {
		return "", err
	}
	return "https://" + s.ports.api, nil
}

// login makes a rackctl context of the demo's own.
func (s *demoSite) login(ctx context.Context) (string, error) {
	_, err := s.rackctl(ctx, "context", "set", "demo", "--url", "https://"+s.ports.api, "--ca", s.path("hub", "ca.pem"), "--token-file", s.path("hub", "pki", "admin.token"))
	return "", err
}

// joinAgent runs the line that rackctl prints for joining, as it is but for the place of
// the agent's file, and starts the agent.
func (s *demoSite) joinAgent(ctx context.Context) (string, error) {
	printed, err := s.rackctl(ctx, "rack", "join-token", "demo")
	if err != nil {
		return "", err
	}
	comment, line, ok := strings.Cut(strings.TrimSpace(printed), "\n")
	if !ok || !strings.HasPrefix(comment, "# ") {
		return "", fmt.Errorf("rackctl rack join-token printed no command: %q", printed)
	}
	script := fmt.Sprintf("PATH='%s':$PATH\n%s --config '%s'", s.bin, line, s.path("agent.yaml"))
	if _, err := run(ctx, nil, "sh", "-c", script); err != nil {
		return "", err
	}
	return "agent demo-1", s.startAgent()
}

func (s *demoSite) startAgent() (err error) {
	program := filepath.Join(s.bin, "rackboot-agent")
	s.agent, err = StartProcess(s.path(fmt.Sprintf("agent-%d.log", time.Now().UnixNano())), program, "run", "--config", s.path("agent.yaml"))
	return err
}

func (s *demoSite) restartAgent(ctx context.Context) (string, error) {
	if err := s.agent.Stop(); err != nil {
		return "", err
	}
	if err := s.startAgent(); err != nil {
		return "", err
	}
	err := until(ctx, func() (bool, error) {
		_, err := s.agentctl(ctx, "status")
		return err == nil, nil
	})
	return "from its own disk", err
}

// agentctl runs rackboot-agent's commands at the running agent.
func (s *demoSite) agentctl(ctx context.Context, args ...string) (string, error) {
	return run(ctx, nil, filepath.Join(s.bin, "rackboot-agent"), append(args, "--config", s.path("agent.yaml"))...)
}

// stop stops the programs that run.
func (s *demoSite) stop() error {
	var errs []error
	for _, p := range []*Process{s.agent, s.hub} {
		if p != nil {
			errs = append(errs, p.Stop())
		}
	}
	return errors.Join(errs...)
}

// rackctl runs rackctl as a person would.
func (s *demoSite) rackctl(ctx context.Context, args ...string) (string, error) {
	return run(ctx, []string{"RACKCTL_CONFIG=" + s.path("rackctl.yaml")}, filepath.Join(s.bin, "rackctl"), args...)
}

func (s *demoSite) path(parts ...string) string {
	return filepath.Join(append([]string{s.dir}, parts...)...)
}
