package fsview

import (
	"errors"
	"io/fs"

	"rackboot/protocol"
)

// place is where something of a name may be: a name in a layer, or a layer that is
// further inside, so that there is a directory.
type place struct {
	*layer
	name   string // in the layer's file system; "" for a directory on the way
	inside string // the path of what is further inside, from the directory on
}

func (p place) synthetic() bool { return p.name == "" }

// places are where a clean name may be, the topmost first. Links are replaced by the
// places of what they lead to. checkLinks says that there is an end.
func (v *View) places(name string) []place { return v.gather(nil, name) }

func (v *View) gather(all []place, name string) []place {
	for i := len(v.layers) - 1; i >= 0; i-- {
		l := &v.layers[i]
		rest, ok := below(l.at, name)
		switch {
		case ok && l.isLink():
			all = v.gather(all, join(l.target, rest))
		case ok:
			all = append(all, place{layer: l, name: rest})
		default:
			if inside, ok := below(name, l.at); ok {
				all = append(all, place{layer: l, inside: inside})
			}
		}
	}
	return all
}

// gone says that a mount has no such name, so that the one under it is asked.
func gone(err error) bool {
	if err == nil {
		return false
	}
	return errors.Is(err, fs.ErrNotExist) || protocol.CodeOf(err) == protocol.CodeNotFound
}
