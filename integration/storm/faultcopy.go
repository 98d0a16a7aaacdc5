package main

import (
	"context"
	"errors"
	"path/filepath"
	"time"

	"rackboot/integration/storm/rig"
)

// store is a daemon with its data.
type store struct {
	process func(*rig.Site) *rig.Process
	data    func(*rig.Site) string
	kept    string // the folder of what is stored, in data
}

func hubStore() store {
	return store{func(s *rig.Site) *rig.Process { return s.Hub }, (*rig.Site).HubData, "store/jetstream/$G/streams/rackboot/msgs"}
}

func agentStore() store {
	return store{func(s *rig.Site) *rig.Process { return s.Agent }, (*rig.Site).AgentData, "state"}
}

// flips change bytes in a copy of a store, and let the daemon live on the copy. A daemon that
// does not start says why and gets its store back; an agent that starts must go on as if nothing
// was, so that it keeps the copy. A hub starts, and only reads where it has lost something: what it
// says then is judged as ever, and its store is put back. Nobody asks for anything meanwhile.
func flips() []fault {
	flip := func(name, damages string, d store) fault {
		return fault{
			name: name, damages: damages, quiet: true, last: 4 * time.Second,
			inject: func(_ context.Context, s *rig.Site, _ *rig.Server) error {
				if err := d.process(s).Kill(); err != nil {
					return err
				}
				if err := rig.Keep(d.data(s)); err != nil {
					return err
				}
				where, err := rig.Flip(filepath.Join(d.data(s), d.kept), s.Dice, flipped)
				if err != nil {
					return err
				}
				s.Note("flipped %v", where)
				return d.process(s).Start()
			},
			heal: func(ctx context.Context, s *rig.Site, _ *rig.Server) error {
				p := d.process(s)
				if p.Running() {
					if d.kept == hubStore().kept {
						// What the operators see is judged; then the store is put back,
						// so that what is lost is this row's only.
						return errors.Join(p.Kill(), rig.PutBack(d.data(s)), s.Restored(ctx), p.Start())
					}
					if !s.Guards(ctx) {
						return rig.Forget(d.data(s)) // nothing was lost, and it goes on with what it has
					}
					if err := p.Kill(); err != nil {
						return err
					}
				}
				return errors.Join(rig.PutBack(d.data(s)), p.Start())
			},
		}
	}
	return []fault{
		flip("flip-hub", "bytes of the hub's store", hubStore()),
		flip("flip-agent", "bytes of the agent's store", agentStore()),
	}
}

// flipped is how many bytes are changed at once.
const flipped = 8

// copies put older copies of a store in its place, and start a second agent on one.
func copies() []fault {
	agent := agentStore()
	return []fault{
		{
			name: "rollback-agent", damages: "the agent's disk: a copy of seconds ago", last: 4 * time.Second,
			inject: func(_ context.Context, s *rig.Site, _ *rig.Server) error {
				return errors.Join(s.Agent.Kill(), rig.Keep(agent.data(s)), s.Agent.Start())
			},
			heal: func(_ context.Context, s *rig.Site, _ *rig.Server) error {
				return errors.Join(s.Agent.Kill(), rig.PutBack(agent.data(s)), s.Agent.Start())
			},
		},
		{
			name: "copied-agent", damages: "the agent's disk: a second agent runs on a copy", last: 4 * time.Second,
			inject: func(_ context.Context, s *rig.Site, _ *rig.Server) error {
				if err := s.Agent.Kill(); err != nil {
					return err
				}
				_, err := s.Twin()
				return errors.Join(err, s.Agent.Start())
			},
			heal: func(_ context.Context, s *rig.Site, _ *rig.Server) error { return s.EndTwin() },
		},
	}
}
