package rig

import (
	"errors"
	"os"
	"path/filepath"
	"strings"

	"rackboot/integration/sim"
)

// EndTwin ends the second agent, if there is one.
func (s *Site) EndTwin() error {
	if s.twin == nil {
		return nil
	}
	err := s.twin.Kill()
	s.twin = nil
	return errors.Join(err, os.RemoveAll(filepath.Join(s.AgentDisk.Dir, "twin")))
}

// Twin makes a second agent on a copy of the first one's data folder, which must not be in
// use. It has listeners of its own, so that nothing but what both say and do is in their way.
func (s *Site) Twin() (*Process, error) {
	data := filepath.Join(s.AgentDisk.Dir, "twin")
	if err := os.RemoveAll(data); err != nil {
		return nil, err
	}
	if err := copyTree(s.AgentData(), data); err != nil {
		return nil, err
	}
	raw, err := os.ReadFile(s.path("agent.yaml"))
	if err != nil {
		return nil, err
	}
	text := strings.ReplaceAll(string(raw), "dataDir: "+s.AgentData(), "dataDir: "+data)
	text = strings.ReplaceAll(text, s.path("agent.sock"), s.path("twin.sock"))
	ports, err := sim.FreeAddresses("127.0.0.1", 2*len(s.Servers))
	if err != nil {
		return nil, err
	}
	for i, v := range s.Servers {
		text = strings.ReplaceAll(text, v.dhcp, ports[2*i].String())
		text = strings.ReplaceAll(text, v.http, ports[2*i+1].String())
	}
	if err := os.WriteFile(s.path("twin.yaml"), []byte(text), 0o600); err != nil {
		return nil, err
	}
	s.twin = newProcess("twin", s.path("twin.log"), s.daemon("rackboot-agent"), []string{s.AgentClock.env()}, "run", "--config", s.path("twin.yaml"))
	return s.twin, s.twin.Start()
}
