package sim

import (
	"maps"
	"slices"
	"strings"

	"rackboot/protocol"
)

// scenario is a walk through one job.
type scenario struct {
	about   string
	servers int    // how many it needs
	hub     string // lines of hub.yaml
	steps   func(*Demo) []demoStep
	try     []string // commands for whoever stays
}

// mainScenario is the demo without --scenario.
const mainScenario = ""

func scenarios() map[string]scenario {
	claim := []string{"rackctl describe claim demo-claim", "rackctl hold server-1 --key me --wait fenced", "rackctl events", "rackctl explain HoldViolated"}
	return map[string]scenario{
		mainScenario: {about: "the main job", servers: 2, steps: mainJob, try: claim},
		"holds": {
			about: "two clients hold one server by metal3's reboot annotations", servers: 1, steps: holds, try: claim,
		},
		"groups": {
			about: "a group follows a catalogue of boot images, and a new one reaches it by a roll-out", servers: 3, steps: groups,
			hub: "features: {managedBootImages: true}\n",
			try: []string{"rackctl group history workers -o wide", "rackctl rollout status workers", "rackctl group revert --help"},
		},
		"environments": {
			about: "a server boots an environment of templates, params and an uploaded archive", servers: 1, steps: environments,
			try: []string{"rackctl bootenv render server-1 -o wide", "rackctl iso list", "rackctl describe server server-1"},
		},
		"maintenance": {
			about: "a server is lent to firmware tools and given back, and in the end its disk is discarded", servers: 1, steps: maintenance,
			try: []string{"rackctl describe claim demo-claim", "rackctl events", "rackctl maintenance --help"},
		},
		"outage": {
			about: "a rack boots, holds and recovers while the hub is gone", servers: 1, steps: outage, try: claim,
		},
	}
}

// Scenarios are the names of the demo's scenarios, and what each shows.
func Scenarios() (names []string, about map[string]string) {
	about = map[string]string{}
	for name, s := range scenarios() {
		if name != mainScenario {
			about[name] = s.about
		}
	}
	return slices.Sorted(maps.Keys(about)), about
}

// scenario is what was asked for. It fails with invalid.
func (c DemoConfig) scenario() (scenario, error) {
	const op = "run the demo"
	s, ok := scenarios()[c.Scenario]
	names, _ := Scenarios()
	switch {
	case !ok:
		return s, protocol.Errorf(protocol.CodeInvalid, op, "there is no scenario %q", c.Scenario).WithHint("--scenario is one of %s; without it, the main job is shown", strings.Join(names, ", "))
	case c.Servers < 0 || c.Servers > MaxDemoServers:
		return s, protocol.Errorf(protocol.CodeInvalid, op, "%d servers", c.Servers).WithHint("--servers is 1 to %d; rackboot-sim rack serves more", MaxDemoServers)
	case c.Servers == 0:
	case c.Servers < s.servers && c.Scenario != mainScenario:
		return s, protocol.Errorf(protocol.CodeInvalid, op, "the scenario %s needs %d servers, and there are %d", c.Scenario, s.servers, c.Servers).WithHint("leave --servers out, or give more")
	default:
		s.servers = c.Servers
	}
	return s, nil
}
