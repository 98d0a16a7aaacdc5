package sim

import (
	"context"
	"io"
	"io/fs"
	"os"
)

// StageConfig says what a [Stage] has.
type StageConfig struct {
	Bin       string            // folder of rackboot-hub, rackboot-agent and rackctl
	Dir       string            // empty folder for their files
	Manifests fs.FS             // as those of configs/demo
	Servers   int               // simulated ones, from 1
	Hub       string            // lines of hub.yaml besides the demo's
	Files     map[string]string // files that these lines name, by paths in Dir; only their owner reads them
}

// Stage is what the demo shows, standing still: a hub and an agent as separate programs, and a rack of simulated servers,
// for tests that do with it what people would. It is not safe for concurrent use.
type Stage struct{ d *Demo }

// StartStage returns once the agent has read all servers. Close it, also after an error.
func StartStage(ctx context.Context, c StageConfig) (*Stage, error) {
	s := &Stage{newDemo(DemoConfig{Bin: c.Bin, Manifests: c.Manifests, Out: io.Discard}, scenario{servers: c.Servers, hub: c.Hub}, c.Dir)}
	if err := s.d.prepare(); err != nil {
		return s, err
	}
	for name, text := range c.Files {
		if err := os.WriteFile(s.Path(name), []byte(text), 0o600); err != nil {
			return s, err
		}
	}
	for _, step := range s.d.begin() {
		if err := s.d.report.step(ctx, step); err != nil {
			return s, err
		}
	}
	return s, nil
}

// URL is the hub's.
func (s *Stage) URL() string { return "https://" + s.d.site.ports.api }

// Path is that of one of its files.
func (s *Stage) Path(parts ...string) string { return s.d.site.path(parts...) }

// Claim applies the demo's claim, which wants one of the servers on.
func (s *Stage) Claim(ctx context.Context) error {
	_, err := s.d.site.apply("claim")(ctx)
	return err
}

// StopAgent has the rack go dark.
func (s *Stage) StopAgent() error { return s.d.site.agent.Stop() }

// StartAgent starts it again.
func (s *Stage) StartAgent() error { return s.d.site.startAgent() }

// Close stops everything.
func (s *Stage) Close() error { return s.d.close() }
