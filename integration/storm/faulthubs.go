package main

import (
	"context"
	"errors"
	"slices"
	"time"

	"rackboot/integration/storm/rig"
)

// hubFaults are those of several hubs, in the order of the table.
func hubFaults() []fault {
	return slices.Concat(hubKills(), hubCuts(), hubClocks())
}

// smallFaults are the names of those of several hubs that each commit has time for.
func smallFaults() []string {
	return []string{"kill-owner", "kill-leader", "stop-owner", "cut-owner-nodes"}
}

// away is for how long something is away that another one is to take over from: what is dead after five seconds, and
// some seconds in which it is so.
const away = 10 * time.Second

// election is the longest time for which a nats-server waits before it stands for leader: each that is left draws 4 to 9 s
// (server/raft.go), and where they vote for themselves they draw once more. One sample of that is no measure of ours.
const election = 9 * time.Second

// hubKills end, stop and restart processes. The owner is the hub that works; the leader is the stream's.
func hubKills() []fault {
	nothing := func(context.Context, *rig.Site, *rig.Server) error { return nil }
	kill := func(name, damages string, which func(owner, other *rig.Hub) *rig.Hub) fault {
		return fault{
			name: name, damages: damages, last: away,
			inject: func(ctx context.Context, s *rig.Site, _ *rig.Server) error {
				return strikeHub(ctx, s, which, func(h *rig.Hub) error { return h.Process.Kill() })
			},
			heal: startAll,
		}
	}
	node := func(name, damages string, slack time.Duration, which func(leader, other *rig.Node) *rig.Node) fault {
		return fault{
			name: name, damages: damages, last: away, slack: slack,
			inject: func(ctx context.Context, s *rig.Site, _ *rig.Server) error {
				leader, other, err := strikeNode(ctx, s)
				if err != nil {
					return err
				}
				return which(leader, other).Process.Kill()
			},
			heal: startAll,
		}
	}
	return []fault{
		node("kill-leader", "the node that leads the stream: SIGKILL", election, func(leader, _ *rig.Node) *rig.Node { return leader }),
		node("kill-node", "another node: SIGKILL", 0, func(_, other *rig.Node) *rig.Node { return other }),
		kill("kill-owner", "the hub that works: SIGKILL", owns),
		kill("kill-other", "a hub that does not work: SIGKILL", idles),
		{
			name: "stop-owner", damages: "the hub that works: SIGSTOP for 8 to 20 s, and it goes on", last: 13 * time.Second,
			inject: func(ctx context.Context, s *rig.Site, _ *rig.Server) error {
				return strikeHub(ctx, s, owns, func(h *rig.Hub) error { return h.Process.Freeze() })
			},
			heal: func(_ context.Context, s *rig.Site, _ *rig.Server) error { return s.Several.Struck.Process.Thaw() },
		},
		{
			name: "stop-leader", damages: "the node that leads the stream: SIGSTOP, and it goes on", last: away, slack: election,
			inject: func(ctx context.Context, s *rig.Site, _ *rig.Server) (err error) {
				if s.Several.Lead, _, err = strikeNode(ctx, s); err != nil {
					return err
				}
				return s.Several.Lead.Process.Freeze()
			},
			heal: func(_ context.Context, s *rig.Site, _ *rig.Server) error { return s.Several.Lead.Process.Thaw() },
		},
		{
			name: "kill-broker", damages: "the broker: SIGKILL", last: time.Second,
			inject: func(_ context.Context, s *rig.Site, _ *rig.Server) error { return s.Several.Mosquitto.Kill() },
			heal:   startAll,
		},
		{
			name: "roll", damages: "hubs: SIGTERM and start, one after the other, as an upgrade", last: 2 * time.Second,
			inject: func(ctx context.Context, s *rig.Site, _ *rig.Server) error {
				return strikeHub(ctx, s, owns, func(h *rig.Hub) error { return h.Process.Terminate() })
			},
			heal: roll,
		},
		{
			name: "kill-agent", damages: "the agent's process", last: time.Second,
			inject: func(_ context.Context, s *rig.Site, _ *rig.Server) error { return s.Agent.Kill() },
			heal:   func(_ context.Context, s *rig.Site, _ *rig.Server) error { return s.Agent.Start() },
		},
		{
			name: "button", damages: "power: somebody presses the buttons", each: true, last: time.Second,
			inject: func(_ context.Context, _ *rig.Site, v *rig.Server) error { return v.Machine.Press() },
			heal:   nothing,
		},
	}
}

func owns(owner, _ *rig.Hub) *rig.Hub  { return owner }
func idles(_, other *rig.Hub) *rig.Hub { return other }

// strikeHub does something to a hub, which is doubted from then on until all agree.
func strikeHub(ctx context.Context, s *rig.Site, which func(owner, other *rig.Hub) *rig.Hub, do func(*rig.Hub) error) error {
	owner, other, err := s.Owner(ctx)
	if err != nil {
		return err
	}
	s.Several.Struck = which(owner, other)
	s.Several.Struck.Doubt()
	s.Note("%s is struck; %s works", s.Several.Struck.Name, owner.Name)
	return do(s.Several.Struck)
}

// strikeNode is the leader, and another node. All hubs are doubted until they agree: each hears of the store through
// some node, and may hear nothing for seconds.
func strikeNode(ctx context.Context, s *rig.Site) (leader, other *rig.Node, err error) {
	leader, other, err = s.Leader(ctx)
	for _, h := range s.Several.Hubs {
		h.Doubt()
	}
	return leader, other, err
}

// startAll starts what does not run.
func startAll(_ context.Context, s *rig.Site, _ *rig.Server) (err error) {
	for _, n := range s.Several.Nodes {
		err = errors.Join(err, n.Process.Start())
	}
	for _, h := range s.Several.Hubs {
		err = errors.Join(err, h.Process.Start())
	}
	return errors.Join(err, s.Several.Mosquitto.Start())
}

// servesWithin bounds the start of a hub in a rolling restart.
const servesWithin = 30 * time.Second

// roll starts the hub that was ended, and then each other one anew, as soon as the one before serves.
func roll(ctx context.Context, s *rig.Site, v *rig.Server) error {
	first := s.Several.Struck
	if err := startAll(ctx, s, v); err != nil {
		return err
	}
	serves := func(h *rig.Hub) error {
		var err error
		until(ctx, servesWithin, func() bool {
			try, cancel := context.WithTimeout(ctx, pollFor)
			defer cancel()
			err = h.Ready(try)
			return err == nil
		})
		return err
	}
	if err := serves(first); err != nil {
		return err
	}
	for _, h := range s.Several.Hubs {
		if h == first {
			continue
		}
		h.Doubt()
		if err := errors.Join(h.Process.Terminate(), h.Process.Start(), serves(h)); err != nil {
			return err
		}
	}
	return nil
}

// hubCuts part each two that speak, both ways and one way: hubs and nodes, hubs and the broker, nodes and nodes, the
// agent and the broker.
func hubCuts() (out []fault) {
	mend := func(_ context.Context, s *rig.Site, _ *rig.Server) error { return rig.Mend(s) }
	hub := func(name, damages string, which func(owner, other *rig.Hub) *rig.Hub, way rig.Way, wires func(h *rig.Hub) []*rig.Wire) fault {
		return fault{
			name: name, damages: damages, last: away,
			inject: func(ctx context.Context, s *rig.Site, _ *rig.Server) error {
				return strikeHub(ctx, s, which, func(h *rig.Hub) error {
					var err error
					for _, w := range wires(h) {
						err = errors.Join(err, w.CutWay(way))
					}
					return err
				})
			},
			heal: mend,
		}
	}
	nodes := func(h *rig.Hub) []*rig.Wire { return h.Nodes }
	broker := func(h *rig.Hub) []*rig.Wire { return []*rig.Wire{h.Broker} }
	all := func(h *rig.Hub) []*rig.Wire { return append(slices.Clone(h.Nodes), h.Broker) }
	for _, w := range []struct {
		suffix, text string
		way          rig.Way
		slack        time.Duration
	}{
		{"", "", rig.Both, 0},
		// Of what goes one way only the nodes (nats-server 2.15.2) know after ten seconds or more: one that is heard leads on until it
		// notices that nobody answers, and one that hears has its routes made anew all the time.
		{"-out", ": what it sends", rig.Out, 10 * time.Second},
		{"-in", ": what it is sent", rig.Back, 10 * time.Second},
	} {
		out = append(out,
			hub("cut-owner-nodes"+w.suffix, "the network between the hub that works and all nodes"+w.text, owns, w.way, nodes),
			hub("cut-owner-broker"+w.suffix, "the network between the hub that works and the broker"+w.text, owns, w.way, broker),
			fault{
				name: "cut-leader" + w.suffix, damages: "the network between the node that leads the stream and the other nodes" + w.text, last: away, slack: w.slack,
				inject: func(ctx context.Context, s *rig.Site, _ *rig.Server) error {
					leader, _, err := strikeNode(ctx, s)
					if err != nil {
						return err
					}
					return s.Several.Part(leader, w.way)
				},
				heal: mend,
			})
	}
	agent := func(name, damages string, last time.Duration, cut func(s *rig.Site) error) fault {
		return fault{
			name: name, damages: damages, last: last, heal: mend,
			inject: func(_ context.Context, s *rig.Site, _ *rig.Server) error { return cut(s) },
		}
	}
	return append(out,
		hub("cut-owner-all", "the network between the hub that works and everything but operators", owns, rig.Both, all),
		hub("cut-other-nodes", "the network between a hub that does not work and all nodes", idles, rig.Both, nodes),
		hub("cut-other-broker", "the network between a hub that does not work and the broker", idles, rig.Both, broker),
		fault{
			name: "cut-owner-leader", damages: "the network between the hub that works and the node that leads the stream, alone", last: away, heal: mend,
			inject: func(ctx context.Context, s *rig.Site, _ *rig.Server) error {
				leader, _, err := s.Leader(ctx)
				if err != nil {
					return err
				}
				return strikeHub(ctx, s, owns, func(h *rig.Hub) error { return h.Nodes[slices.Index(s.Several.Nodes, leader)].CutWay(rig.Both) })
			},
		},
		fault{
			name: "cut-node", damages: "the network between another node and the nodes", last: away, heal: mend,
			inject: func(ctx context.Context, s *rig.Site, _ *rig.Server) error {
				_, other, err := strikeNode(ctx, s)
				if err != nil {
					return err
				}
				return s.Several.Part(other, rig.Both)
			},
		},
		agent("cut-agent", "the network between the agent and the broker", 2500*time.Millisecond, func(s *rig.Site) error { return s.Broker.CutWay(rig.Both) }),
		agent("cut-agent-out", "the network between the agent and the broker: what it sends", away, func(s *rig.Site) error { return s.Broker.CutWay(rig.Out) }),
		agent("cut-agent-in", "the network between the agent and the broker: what it is sent", away, func(s *rig.Site) error { return s.Broker.CutWay(rig.Back) }),
		agent("cut-agent-api", "the network between the agent and the API of all hubs", away, func(s *rig.Site) error { return s.HubAPI.CutWay(rig.Both) }))
}

// hubClocks step a hub's clock by a minute. The hub that works is killed meanwhile, where another one's is wrong: what
// takes over speaks of another time than the one before.
func hubClocks() (out []fault) {
	for _, c := range []struct {
		name, text string
		by         time.Duration
	}{{"fast", "a minute ahead", time.Minute}, {"slow", "a minute behind", -time.Minute}} {
		right := func(ctx context.Context, s *rig.Site, v *rig.Server) (err error) {
			for _, h := range s.Several.Hubs {
				err = errors.Join(err, h.Clock.Step(0))
			}
			return errors.Join(err, startAll(ctx, s, v))
		}
		out = append(out,
			fault{
				name: "clock-owner-" + c.name, damages: "the clock of the hub that works: " + c.text, last: 4 * time.Second,
				inject: func(ctx context.Context, s *rig.Site, _ *rig.Server) error {
					owner, _, err := s.Owner(ctx)
					return errors.Join(err, owner.Clock.Step(c.by))
				},
				heal: right,
			},
			fault{
				name: "kill-owner-" + c.name, damages: "the hub that works: SIGKILL, while the clocks of the others are " + c.text, last: away,
				inject: func(ctx context.Context, s *rig.Site, _ *rig.Server) error {
					return strikeHub(ctx, s, owns, func(struck *rig.Hub) error {
						for _, h := range s.Several.Hubs {
							if h != struck {
								if err := h.Clock.Step(c.by); err != nil {
									return err
								}
							}
						}
						return struck.Process.Kill()
					})
				},
				heal: right,
			})
	}
	return out
}

// isSmall reports whether a fault is one of smallFaults.
func isSmall(f fault) bool {
	return slices.Contains(smallFaults(), f.name)
}
