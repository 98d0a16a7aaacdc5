package exporter

import (
	"rackboot/protocol/resource"
)

// eachServer has the series of single servers.
type eachServer struct{ state, read, condition, boot, stage, awaits, until, hold *metric }

func newEachServer() *eachServer {
	return &eachServer{
		state:     desc("server_state", "Always 1: the present state of each server.", "rack", "server", "phase", "power", "attempt", "intended", "observed"),
		read:      desc("server_read_timestamp_seconds", "When the last recorded read of each server was begun; 0 where none is known.", "rack", "server"),
		condition: desc("server_condition", "Always 1: a condition of a server that is so.", "rack", "server", "code"),
		boot:      desc("server_boot_info", "Always 1: what each claimed server boots, and what was proved to run.", "rack", "server", "claim", "bootenv", "digest", "booted", "evidence"),
		stage:     desc("server_attempt_stage_timestamp_seconds", "Since when the open attempt of a server is in its stage.", "rack", "server", "stage"),
		awaits:    desc("server_awaits_timestamp_seconds", "Since when a server waits for something.", "rack", "server", "for"),
		until:     desc("server_awaits_until_timestamp_seconds", "When that is given up, or the server goes on without it.", "rack", "server", "for"),
		hold:      desc("server_hold_timestamp_seconds", "When the oldest hold of a state was accepted that lies on a server.", "rack", "server", "mode", "state"),
	}
}

func (g *eachServer) descs() []*metric {
	return []*metric{g.state, g.read, g.condition, g.boot, g.stage, g.awaits, g.until, g.hold}
}

func (g *eachServer) collect(s *scrape) {
	for _, one := range s.rows {
		g.one(s, one)
	}
	g.holds(s)
}

func (g *eachServer) one(s *scrape, one seen) {
	a := one.attempt
	s.gauge(g.state, 1, one.rack, one.server, string(one.phase), string(one.power()), string(a.state), string(a.intended), string(a.observed))
	s.at(g.read, one.read.At, one.rack, one.server)
	for _, code := range one.now() {
		s.gauge(g.condition, 1, one.rack, one.server, string(code))
	}
	if b := one.boot; b != nil {
		booted := ""
		if p := b.Status.Provisioned; p != nil {
			booted = p.ImageDigest
		}
		s.gauge(g.boot, 1, one.rack, one.server, one.claim, one.env, b.Spec.Image.Digest, booted, string(one.class))
	}
	if a.state != "" && !ended(a.state) && !a.since.IsZero() {
		s.at(g.stage, a.since, one.rack, one.server, string(a.state))
	}
	if w := one.awaits; w != nil && !one.dark && !one.stale {
		s.at(g.awaits, w.Since, one.rack, one.server, string(w.For))
		if w.Until != nil {
			s.at(g.until, *w.Until, one.rack, one.server, string(w.For))
		}
	}
}

// ended reports whether an attempt in a state is over.
func ended(s resource.AttemptState) bool {
	return s == resource.AttemptSucceeded || s == resource.AttemptFailed
}

func (g *eachServer) holds(s *scrape) {
	type key struct{ server, mode, state string }
	oldest := map[key]*resource.Hold{}
	for _, h := range s.holds {
		if h.Metadata.CreatedAt == nil {
			continue
		}
		k := key{h.Spec.Server, string(h.Spec.Mode), string(h.Status.State)}
		if was := oldest[k]; was == nil || h.Metadata.CreatedAt.Before(*was.Metadata.CreatedAt) {
			oldest[k] = h
		}
	}
	racks := s.rackOf(s.held())
	for k, h := range oldest {
		rack, there := racks[k.server]
		if !there {
			rack = h.Status.Rack // its server is not at the hub any more
		}
		s.at(g.hold, *h.Metadata.CreatedAt, rack, k.server, k.mode, k.state)
	}
}
