package resource

import (
	"time"

	"rackboot/protocol"
)

func setDuration(d *protocol.Duration, v time.Duration) {
	if *d == 0 {
		*d = protocol.Duration(v)
	}
}

func (f *fields) between(path string, d protocol.Duration, low, high time.Duration) {
	if d.D() < low || d.D() > high {
		f.Add(path, "%s is not between %s and %s", d, low, high)
	}
}
