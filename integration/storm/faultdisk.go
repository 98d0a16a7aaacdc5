package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"rackboot/integration/storm/judge"
	"rackboot/integration/storm/rig"
)

// disks fill the file systems of the stores to the last byte, and free them again. What
// ended meanwhile is started again, as a service manager does.
func disks() []fault {
	full := func(name, damages string, disk func(*rig.Site) *rig.Disk, p func(*rig.Site) *rig.Process, press bool) fault {
		return fault{
			name: name, damages: damages, root: true, last: 3 * time.Second,
			inject: func(_ context.Context, s *rig.Site, _ *rig.Server) error {
				d := disk(s)
				if !d.Limited() {
					return errNoRoot
				}
				if err := d.Fill(); err != nil {
					return err
				}
				if room, err := d.Room(); err != nil || room > 64<<10 {
					return errors.Join(err, fmt.Errorf("%s: %d bytes are left", d.Dir, room))
				}
				if press {
					return pressHeld(s)
				}
				return nil
			},
			heal: func(_ context.Context, s *rig.Site, _ *rig.Server) error {
				if err := disk(s).Free(); err != nil {
					return err
				}
				return p(s).Start()
			},
		}
	}
	hub := func(s *rig.Site) *rig.Disk { return s.HubDisk }
	agent := func(s *rig.Site) *rig.Disk { return s.AgentDisk }
	onDisk := full("disk-agent", "the agent's disk, and somebody presses the button of a held server", agent, func(s *rig.Site) *rig.Process { return s.Agent }, true)
	onDisk.last = judge.Notice + time.Second
	anew := full("start-disk-agent", "the agent's disk, and the agent is killed, and started on it while a held server is switched on", agent, func(s *rig.Site) *rig.Process { return s.Agent }, false)
	anew.last = judge.Notice + 2*time.Second
	fill := anew.inject
	anew.inject = func(ctx context.Context, s *rig.Site, v *rig.Server) error {
		if err := errors.Join(fill(ctx, s, v), s.Agent.Kill(), pressHeld(s)); err != nil {
			return err
		}
		return s.Agent.Start()
	}
	return []fault{
		full("disk-hub", "the hub's disk", hub, func(s *rig.Site) *rig.Process { return s.Hub }, false),
		onDisk,
		anew,
	}
}

// pressHeld presses the button of a server that is held all the time: the last.
func pressHeld(s *rig.Site) error { return s.Servers[len(s.Servers)-1].Machine.Press() }
