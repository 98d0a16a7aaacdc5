package sim

import (
	"errors"

	"rackboot/bmc/sim/hardware"
	"rackboot/integration/powerlog"
)

// life is a machine's log, and what its disk had at the end of the log of before.
type life struct {
	log  *powerlog.Writer
	disk string
}

// life opens the machine's log, if it has one.
func (m *MachineConfig) life() (life, error) {
	if m.Simulated.Log == "" {
		return life{}, nil
	}
	log, before, err := powerlog.Open(m.Simulated.Log)
	if err != nil {
		return life{}, err
	}
	return life{log: log, disk: powerlog.DiskOf(before)}, nil
}

// close reports an entry that could not be written, too: a log with holes proves nothing.
func (l life) close() error {
	if l.log == nil {
		return nil
	}
	return errors.Join(l.log.Err(), l.log.Close())
}

// lived writes a machine's changes of state to its log; nil without one.
func lived(log *powerlog.Writer) func(hardware.State) {
	if log == nil {
		return nil
	}
	on := false
	return func(state hardware.State) {
		switch {
		case state == hardware.Off:
			on = false
			log.Add(powerlog.Off, "")
		case state == hardware.Post && on:
			log.Add(powerlog.Reset, "")
		case state == hardware.Post:
			on = true
			log.Add(powerlog.On, "")
		}
	}
}
