package sim

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
)

// outage is a rack on its own: it boots from disk, holds and lets go, over a restart of its
// agent, and the hub learns all of it when it is back.
func outage(d *Demo) []demoStep {
	alone, by := demoOutage{d}, demoHolds{d}
	steps := append(d.begin(), d.installed()...)
	return append(steps, []demoStep{
		{"hub is stopped", func(context.Context) (string, error) { return "", d.site.hub.Stop() }},
		{"somebody presses the power button", alone.button},
		{"the agent boots nothing by guess", d.rack.staysOff},
		{"resumed at the agent: boots from its disk", alone.resumed},
		{"held at the agent: off and proved", alone.heldHere},
		{"the agent is stopped and started", d.site.restartAgent},
		{"held without the hub, by the disk's word", d.rack.stillHeld},
		{"hub is back", d.site.startHub},
		{"the hub takes the hold over", d.site.event(resource.EventHoldAdopted)},
		{"receipt at the hub", by.receiptOf(localKey)},
		{"released, with a reason that is recorded", alone.breakGlass},
		{"boots from its disk again", d.rack.disks(3)},
		{"one network boot, three disk boots", d.rack.count(1, 3)},
		{"nothing warns", d.site.quiet},
	}...)
}

// localKey is the key of the hold that is placed at the agent.
const localKey = "smoke"

// demoOutage are steps of a rack without its hub.
type demoOutage struct{ demo *Demo }

func (o demoOutage) button(ctx context.Context) (string, error) {
	s := o.demo.rack.withSystem()
	s.BMC.PressPowerButton()
	err := until(ctx, func() (bool, error) { return s.BMC.PowerState() == protocol.PowerOff, nil })
	return s.Name + " is Off", err
}

func (o demoOutage) resumed(ctx context.Context) (string, error) {
	s := o.demo.rack.withSystem()
	// The agent may not have seen the button yet.
	var last error
	if err := until(ctx, func() (bool, error) {
		_, last = o.demo.site.agentctl(ctx, "resume", s.Name, "--reason", "the button was pressed by mistake")
		return last == nil, nil
	}); err != nil {
		return "", errors.Join(err, last)
	}
	if _, err := o.demo.rack.disks(2)(ctx); err != nil {
		return "", err
	}
	return s.Name, o.bootSeen(ctx, s.Name)
}

// bootSeen waits until the agent has read that the server's boot has ended: what ends it before, such as a hold,
// fails it, and that would be told.
func (o demoOutage) bootSeen(ctx context.Context, server string) error {
	return until(ctx, func() (bool, error) {
		out, err := o.demo.site.agentctl(ctx, "explain", server, "-o", "json")
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

// heldHere places a hold at the agent and waits for its proof.
func (o demoOutage) heldHere(ctx context.Context) (string, error) {
	s := o.demo.rack.withSystem()
	if _, err := o.demo.site.agentctl(ctx, "hold", s.Name, "--key", localKey, "--mode", "hard", "--reason", "smoke in row 7"); err != nil {
		return "", err
	}
	var last string
	err := until(ctx, func() (bool, error) {
		out, err := o.demo.site.agentctl(ctx, "holds", "-o", "json")
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

func (o demoOutage) breakGlass(ctx context.Context) (string, error) {
	list, err := api.GetAll[*resource.Hold](ctx, o.demo.site.client)
	if err != nil {
		return "", err
	}
	i := slices.IndexFunc(list, func(h *resource.Hold) bool { return strings.HasSuffix(h.Spec.Key, localKey) })
	if i < 0 {
		return "", fmt.Errorf("the hub has no hold of the agent's, of %d", len(list))
	}
	_, err = o.demo.site.rackctl(ctx, "release", list[i].Metadata.Name, "--break-glass", "the smoke was steam")
	return "hold " + list[i].Metadata.Name, err
}
