package server

import (
	"strings"

	"rackboot/agent/store"
	"rackboot/protocol"
	"rackboot/protocol/decide"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
	"rackboot/protocol/wire"
)

// snapshot turns what is durable into what a decision takes: signatures are
// verified here, because decide does not know keys.
func (s *steps) snapshot(v store.View) decide.Snapshot {
	snap := decide.Snapshot{
		Server: s.server, Synced: v.Synced, Ended: v.Rests(), TakenOver: v.Rack.TakenOver, Aside: v.Aside, Holds: v.Holds, Requests: v.Requests, Record: v.Record, Watch: s.watch,
		Asked: v.Asked, HubTime: s.cfg.Hub.Time(), Uptime: s.cfg.Clock().Sub(s.cfg.Started), Incarnation: v.Incarnation, Run: s.cfg.Run, Settings: settings(v.Rack), NewID: s.cfg.NewID(), NewToken: s.cfg.NewID(), NewMedium: s.cfg.NewID(), NewPrivate: s.cfg.NewID(),
	}
	snap.Place = s.places.of(s.cfg.Clock(), s.server)
	snap.NoAddress = s.cfg.Boot.Short(s.server)
	snap.Bulk, snap.Approved = s.unnoted.bulk(s.cfg.Bulk, v, s.cfg.Clock()), v.Boots(s.cfg.Clock())
	if can := s.can.Load(); can != nil {
		snap.CanGuard = can.guard
	}
	if v.Intent != nil {
		snap.Firmware, snap.Frozen = v.Intent.Firmware, v.Intent.Frozen
	}
	if v.Intent == nil || v.Intent.Missing {
		return snap
	}
	in := v.Intent.ServerIntent
	snap.Intent = &in
	if in.Boot == nil {
		return snap
	}
	if len(in.Boot.Grant) > 0 {
		keys := s.cfg.Hub.Verifier() // another one with each change of what is trusted
		if g, err := s.grant.open(keys, func() *wire.Verifier { return keys }, wire.FactGrant, in.Boot.Grant); err != nil {
			snap.GrantError = err.Error()
		} else {
			snap.Grant = &g
		}
	}
	if len(in.Boot.Provisioned) > 0 {
		// An echo is believed if an agent of this rack signed it, present or earlier.
		if p, err := s.echo.open(saidKeys(v.Rack), func() *wire.Verifier { return rackKeys(v.Rack) }, wire.FactProvisioned, in.Boot.Provisioned); err == nil {
			snap.Echo = &p
		}
	}
	snap.MediaError, snap.Private = s.mediaError(in), s.private(in)
	if a := in.Boot.Adopted; a != nil && snap.Echo == nil {
		// The hub signed the document that it came in. It is believed, never filed: what
		// this agent signs it has seen.
		snap.Echo = &resource.Provisioned{
			OwnerUID: in.Boot.Owner.UID, Generation: in.Boot.Generation, Server: in.Server, ServerUID: in.UID, ImageDigest: a.ImageDigest, At: a.At,
		}
	}
	snap.Artefacts = s.cfg.Files.State(in)
	if c, err := s.cfg.Boot.Chain(in); err != nil {
		snap.ChainError = protocol.Advice(err)
	} else {
		snap.Chain = &c
		if c.First == "" { // an environment that is not there yet, or not any more
			snap.Artefacts.Local = false
		}
	}
	return snap
}

// private is which ways a private token has through the server's BMC, as far as its driver
// says; the BMC itself says when it is asked to.
func (s *steps) private(in message.ServerIntent) (p decide.Private) {
	can := s.can.Load()
	if can == nil {
		can = &abilities{media: true, uri: true} // nothing is sent before it is known
	}
	base, ok := s.cfg.Boot.HostBase(in.Segment)
	p.Sealed = ok && strings.HasPrefix(base, "https://")
	p.URL = p.Sealed && can.uri
	way, err := s.cfg.Boot.MediaWay(in)
	p.Medium = err == nil && can.media && way.Private
	p.Diverted = s.cfg.Boot.Diverted(in.Segment)
	return p
}

// mediaError says why a server cannot be booted by virtual media.
func (s *steps) mediaError(in message.ServerIntent) string {
	if in.Boot.BootPolicy.FirstBoot != resource.FirstBootVirtualMedia {
		return ""
	}
	if can := s.can.Load(); can != nil && !can.media {
		return "the driver of this BMC has no virtual media"
	}
	if _, err := s.cfg.Boot.MediaWay(in); err != nil {
		return protocol.Advice(err)
	}
	return ""
}
