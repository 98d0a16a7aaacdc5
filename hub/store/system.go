package store

import "rackboot/protocol"

// System is one of the systems behind the BMC; an empty path is the only one. It is nil where there is none.
func (v *Inventory) System(uri string) *protocol.Inventory {
	for i := range v.Systems {
		if v.Systems[i].SystemURI == uri || uri == "" && len(v.Systems) == 1 {
			return &v.Systems[i]
		}
	}
	return nil
}
