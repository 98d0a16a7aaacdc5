package iso

import (
	"rackboot/hub/store"
	"rackboot/protocol/agentpackage"
)

// Programs are the contents that packages of agents name.
func Programs(packages *store.AgentPackages) map[string]bool {
	out := map[string]bool{}
	for _, p := range packages.List() {
		m, err := agentpackage.Read(p.Manifest)
		if err != nil {
			continue // it was read when it was taken; what cannot be read is ordered by nobody
		}
		for _, b := range m.Binaries {
			out[b.SHA256] = true
		}
	}
	return out
}
