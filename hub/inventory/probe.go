package inventory

import (
	"context"

	"rackboot/hub/link"
	"rackboot/hub/store"
	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// Probe has the agent find out what a BMC can do, by reads alone; system is a path,
// or empty for every host behind the BMC. It waits for the answer until ctx ends, at
// most 3 minutes. The codes are not_found, conflict, unsupported, unavailable,
// timeout, and those of the agent's answer.
func (c *Room) Probe(ctx context.Context, name, system string) ([]protocol.Probe, error) {
	body, err := askBMC(ctx, c, "probe", name, message.Ask{Kind: message.AskProbe, SystemURI: system})
	if err != nil {
		return nil, err
	}
	return probes(body)
}

// askBMC asks the agent of a BMC about it, and returns the body of the answer. It waits as Probe does, with
// the same codes.
func askBMC(ctx context.Context, c *Room, op, name string, m message.Ask) ([]byte, error) {
	b, err := store.Get[*resource.BMC](c.cfg.Store.Objects, name)
	if err != nil {
		return nil, err
	}
	agent := ""
	if r, err := store.Get[*resource.Rack](c.cfg.Store.Objects, b.Spec.RackRef.Name); err == nil {
		agent = r.Status.Agent
	}
	intent, usable := c.bmcIntent(b, agent)
	fail := func(code protocol.Code, format string, args ...any) *protocol.Error {
		return protocol.Errorf(code, op, format, args...)
	}
	switch {
	case b.Pending():
		return nil, fail(protocol.CodeConflict, "BMC %q waits to be accepted: no credentials are tried before", name).
			WithHint("rackctl bmc accept %s --credentials secret:NAME", name)
	case !usable:
		return nil, fail(protocol.CodeUnavailable, "the address of BMC %q is not known yet", name).
			WithHint("%s must ask for a lease on a bmc segment of rack %s", b.Spec.MACAddress, b.Spec.RackRef.Name)
	case agent == "":
		return nil, fail(protocol.CodeUnavailable, "rack %s has no agent", b.Spec.RackRef.Name).
			WithHint("rackctl rack join-token %s, or rackctl bmc probe --direct on a host of the rack", b.Spec.RackRef.Name)
	case resource.SecretOf(b.Spec.CredentialsRef) != "" && intent.Sealed == nil:
		return nil, fail(protocol.CodeUnavailable, "the credentials of BMC %q are not sealed for agent %s yet", name, agent).
			WithHint("rackctl describe bmc %s says why", name)
	case c.cfg.Link.CannotAsk(agent):
		return nil, fail(protocol.CodeUnsupported, "agent %s is of a version that answers no questions", agent).
			WithHint("upgrade it, or use rackctl bmc probe --direct on a host of the rack")
	case !c.cfg.Link.Hears(agent):
		return nil, fail(protocol.CodeUnavailable, "agent %s has not greeted the hub", agent).
			WithHint("rackctl describe agent %s says since when it is silent", agent)
	}
	m.BMC = intent
	answered := make(chan message.Answer, 1)
	q, err := c.cfg.Link.Ask(agent, m, func(a message.Answer) { answered <- a })
	if err != nil {
		return nil, err
	}
	select {
	case a := <-answered:
		if err := link.AnswerError(op, a); err != nil {
			return nil, err
		}
		return a.Body, nil
	case <-ctx.Done():
		c.cfg.Link.DropAsk(q, agent)
		return nil, fail(protocol.CodeTimeout, "agent %s had not answered when the caller stopped waiting", agent).
			WithHint("nothing was changed at the BMC; try again")
	}
}
