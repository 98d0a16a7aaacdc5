package sim

import (
	"time"

	"rackboot/bmc/sim/tree"
)

// quiet is a BMC of which nothing is reported: the tree of a vendor, and
// transitions that can be seen.
func quiet(t *tree.Tree) Personality {
	return Personality{Tree: t, PowerOnDelay: 20 * time.Millisecond, PowerOffDelay: 20 * time.Millisecond}
}

// quirk is a preset: a quiet BMC and one behaviour.
func quirk(name, source string, t *tree.Tree, change func(*Personality)) Personality {
	p := quiet(t)
	p.Name, p.Source = name, source
	if change != nil {
		change(&p)
	}
	return p
}
