package judge

import "rackboot/integration/powerlog"

// stretch is a time in which a machine had power. Button says that a person began it, or
// pressed the button since; To is the end of the log for one that has not ended.
type stretch struct {
	from, to Time
	button   bool
}

// on lists the times in which the machine had power, until end.
func on(log []powerlog.Entry, end Time) []stretch {
	var out []stretch
	var open *stretch
	button := false
	closeAt := func(at Time) {
		if open != nil {
			open.to = at
			out = append(out, *open)
			open = nil
		}
	}
	for _, e := range log {
		switch e.What {
		case powerlog.Start, powerlog.Off:
			closeAt(e.At)
			button = false
		case powerlog.Button:
			button = open == nil
		case powerlog.On:
			closeAt(e.At) // it cannot be: an On of a machine that is on
			open, button = &stretch{from: e.At, button: button}, false
		case powerlog.Reset, powerlog.Network, powerlog.Disk, powerlog.Refused, powerlog.Installed:
		}
	}
	closeAt(end)
	return out
}

// onAt is the time with power that t lies in; nil if the machine was off.
func onAt(all []stretch, t Time) *stretch {
	for i := range all {
		if all[i].from <= t && t < all[i].to {
			return &all[i]
		}
	}
	return nil
}

// began are the entries with which a boot begins.
func began(log []powerlog.Entry) (out []powerlog.Entry) {
	for _, e := range log {
		if e.What == powerlog.On || e.What == powerlog.Reset {
			out = append(out, e)
		}
	}
	return out
}
