package rig

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"rackboot/integration/sim"
	"rackboot/protocol/resource"
)

// EndTwin ends the second agent, if there is one.
func (s *Site) EndTwin() error {
	twin := s.twin.Swap(nil)
	if twin == nil {
		return nil
	}
	err := twin.Kill()
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
	twin := newProcess("twin", s.path("twin.log"), s.daemon("rackboot-agent"), []string{s.AgentClock.env()}, "run", "--config", s.path("twin.yaml"))
	s.twin.Store(twin)
	return twin, twin.Start()
}

// KeepAgent is what an operator does where two agents have one disk: once the second one is gone, it says
// that the first goes on, by the run that this one shows on its own host. said is empty while there is
// nothing to say.
func (s *Site) KeepAgent(ctx context.Context) (said string) {
	if s.twin.Load() != nil {
		return ""
	}
	out, _, code := run(ctx, nil, s.program("rackboot-agent"), "status", "--config", s.path("agent.yaml"), "-o", "json")
	var st struct {
		Run        string                    `json:"run"`
		Conditions []resource.ConditionState `json:"conditions"`
	}
	if code != 0 || json.Unmarshal([]byte(out), &st) != nil || !slices.ContainsFunc(st.Conditions, func(c resource.ConditionState) bool { return c.Code == resource.CondAgentCopied }) {
		return ""
	}
	out, errs, code := s.Rackctl(ctx, "rack", "keep-agent", RackName, st.Run, "--reason", "the second one is gone")
	if code != 0 {
		return "" // it is tried again; what waits for it says so
	}
	return strings.TrimSpace(out + errs)
}
