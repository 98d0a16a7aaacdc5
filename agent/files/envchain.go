package files

import (
	"rackboot/netboot/chain"
	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// chain is what a server would boot its environment through now. Before the environment is
// there none is wanted, and the artefacts say that.
func (e *envs) chain(r chain.Request, in message.ServerIntent) (protocol.BootChain, error) {
	b := e.of(in.Server)
	if b == nil || b.intent.Bundle != in.Boot.Env.Bundle {
		return protocol.BootChain{}, nil
	}
	c, err := chain.ChooseEnv(r, b.boot, b.generation)
	c.Ignition = in.Boot.Ignition != nil
	return c, err
}

// report is what is served of a server's environment.
func (e *envs) report(in message.ServerIntent) *resource.EnvReport {
	if in.Boot == nil || in.Boot.Env == nil {
		return nil
	}
	r := &resource.EnvReport{State: resource.EnvBuilding, Wanted: in.Boot.Env.Bundle}
	b := e.of(in.Server)
	if b != nil {
		r.BootEnv, r.OS, r.Generation, r.Source, r.Message = b.intent.Name, b.os, b.generation, b.source, b.message
	}
	k := e.keyOf(in)
	done, err := e.jobs.State(k)
	switch {
	case k.sealed == "":
		r.Message = "the hub has not sealed it for this agent yet"
	case done && b != nil && b.intent.Bundle == k.bundle:
		r.State = resource.EnvReady
	case err != nil && !isWaiting(err):
		r.State, r.Message, r.Code = resource.EnvRefused, protocol.Advice(err), protocol.CodeOf(err)
	case err != nil:
		r.Message = err.Error()
	}
	return r
}
