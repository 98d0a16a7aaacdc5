package sim

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
)

// outage is a rack on its own: it boots from disk, holds and lets go, over a restart of its
// agent, and the hub learns all of it when it is back.
func outage(d *Demo) []demoStep {
	steps := append(d.begin(), d.installed()...)
	return append(steps, []demoStep{
		{"hub is stopped", func(context.Context) (string, error) { return "", d.hub.Stop() }},
		{"somebody presses the power button", d.button},
		{"the agent boots nothing by guess", d.staysOff},
		{"resumed at the agent: boots from its disk", d.resumed},
		{"held at the agent: off and proved", d.heldHere},
		{"the agent is stopped and started", d.restartAgent},
		{"held without the hub, by the disk's word", d.stillHeld},
		{"hub is back", d.startHub},
		{"the hub takes the hold over", d.event(resource.EventHoldAdopted)},
		{"receipt at the hub", d.receiptOf(localKey)},
		{"released, with a reason that is recorded", d.breakGlass},
		{"boots from its disk again", d.disks(3)},
		{"one network boot, three disk boots", d.count(1, 3)},
		{"nothing warns", d.quiet},
	}...)
}

// localKey is the key of the hold that is placed at the agent.
const localKey = "smoke"

func (d *Demo) button(ctx context.Context) (string, error) {
	s := d.withSystem()
	s.BMC.PressPowerButton()
	err := until(ctx, func() (bool, error) { return s.BMC.PowerState() == protocol.PowerOff, nil })
	return s.Name + " is Off", err
}

// agentctl runs rackboot-agent's commands at the running agent.
func (d *Demo) agentctl(ctx context.Context, args ...string) (string, error) {
	return run(ctx, nil, filepath.Join(d.cfg.Bin, "rackboot-agent"), append(args, "--config", d.path("agent.yaml"))...)
}

func (d *Demo) resumed(ctx context.Context) (string, error) {
	s := d.withSystem()
	// The agent may not have seen the button yet.
	var last error
	if err := until(ctx, func() (bool, error) {
		_, last = d.agentctl(ctx, "resume", s.Name, "--reason", "the button was pressed by mistake")
		return last == nil, nil
	}); err != nil {
		return "", errors.Join(err, last)
	}
	if _, err := d.disks(2)(ctx); err != nil {
		return "", err
	}
	return s.Name, d.bootSeen(ctx, s.Name)
}

// bootSeen waits until the agent has read that the server's boot has ended: what ends it before, such as a hold,
// fails it, and that would be told.
func (d *Demo) bootSeen(ctx context.Context, server string) error {
	return until(ctx, func() (bool, error) {
		out, err := d.agentctl(ctx, "explain", server, "-o", "json")
		if err != nil {
			return false, err
		}
		var seen struct {
			Report resource.ServerReport `json:"report"`
		}
		if err := json.Unmarshal([]byte(out), &seen); err != nil {
			return false, err
		}
		a := seen.Report.Attempt
		return a != nil && a.State == resource.AttemptSucceeded, nil
	})
}

// disks waits until the installed server has booted from its disk that often, and runs.
func (d *Demo) disks(times int) func(context.Context) (string, error) {
	return func(ctx context.Context) (string, error) {
		s := d.withSystem()
		err := until(ctx, func() (bool, error) {
			_, disk, _, _ := s.Boots.Counts()
			return disk == times && s.BMC.PowerState() == protocol.PowerOn, nil
		})
		return s.Name, err
	}
}

// heldHere places a hold at the agent and waits for its proof.
func (d *Demo) heldHere(ctx context.Context) (string, error) {
	s := d.withSystem()
	if _, err := d.agentctl(ctx, "hold", s.Name, "--key", localKey, "--mode", "hard", "--reason", "smoke in row 7"); err != nil {
		return "", err
	}
	var last string
	err := until(ctx, func() (bool, error) {
		out, err := d.agentctl(ctx, "holds", "-o", "json")
		if err != nil {
			return false, err
		}
		var holds struct {
			Items []struct {
				Word resource.HoldWord `json:"word"`
			} `json:"items"`
		}
		if err := json.Unmarshal([]byte(out), &holds); err != nil {
			return false, err
		}
		last = out
		return len(holds.Items) == 1 && holds.Items[0].Word == resource.HoldFenced, nil
	})
	if err != nil {
		err = fmt.Errorf("%w: %s", err, last)
	}
	return s.Name, err
}

func (d *Demo) restartAgent(ctx context.Context) (string, error) {
	if err := d.agent.Stop(); err != nil {
		return "", err
	}
	if err := d.startAgent(); err != nil {
		return "", err
	}
	err := until(ctx, func() (bool, error) {
		_, err := d.agentctl(ctx, "status")
		return err == nil, nil
	})
	return "from its own disk", err
}

func (d *Demo) breakGlass(ctx context.Context) (string, error) {
	list, err := api.GetAll[*resource.Hold](ctx, d.client)
	if err != nil {
		return "", err
	}
	i := slices.IndexFunc(list, func(h *resource.Hold) bool { return strings.HasSuffix(h.Spec.Key, localKey) })
	if i < 0 {
		return "", fmt.Errorf("the hub has no hold of the agent's, of %d", len(list))
	}
	_, err = d.rackctl(ctx, "release", list[i].Metadata.Name, "--break-glass", "the smoke was steam")
	return "hold " + list[i].Metadata.Name, err
}
