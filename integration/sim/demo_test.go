package sim

import (
	"io"
	"strings"
	"testing"

	"rackboot/protocol"
)

// TestDemoAsksForWhatThereIs: what cannot be shown is refused before anything starts.
func TestDemoAsksForWhatThereIs(t *testing.T) {
	for name, row := range map[string]struct {
		cfg   DemoConfig
		wrong string
	}{
		"no such scenario":    {DemoConfig{Scenario: "hold"}, `there is no scenario "hold"`},
		"too many servers":    {DemoConfig{Servers: 51}, "51 servers"},
		"fewer than none":     {DemoConfig{Servers: -1}, "-1 servers"},
		"too few for a group": {DemoConfig{Scenario: "groups", Servers: 2}, "needs 3 servers"},
	} {
		row.cfg.Out = io.Discard
		err := RunDemo(t.Context(), row.cfg)
		if err == nil || !strings.Contains(err.Error(), row.wrong) || protocol.CodeOf(err) != protocol.CodeInvalid || protocol.HintOf(err) == "" {
			t.Errorf("%s: %v, hint %q", name, err, protocol.HintOf(err))
		}
	}
	if names, about := Scenarios(); len(names) != 5 || about["outage"] == "" {
		t.Errorf("the scenarios are %v, %v", names, about)
	}
}
