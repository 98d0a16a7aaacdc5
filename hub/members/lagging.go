package members

import (
	"encoding/json"
	"slices"

	"rackboot/hub/store"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// Lagging are the agents that serve a rack, or stand by, and have not said that they trust what the
// digest names, by name.
func Lagging(s *store.Store, trust string) ([]string, error) {
	var out []string
	for _, r := range store.List[*resource.Rack](s.Objects) {
		for _, agent := range []string{r.Status.Agent, r.Status.Standby} {
			if agent == "" {
				continue
			}
			raw, _, err := s.Meta.Get(certificateKey(agent))
			if err != nil && protocol.CodeOf(err) != protocol.CodeNotFound {
				return nil, err
			}
			var k certificate
			if err != nil || json.Unmarshal(raw, &k) != nil || k.Trust != trust {
				out = append(out, agent)
			}
		}
	}
	slices.Sort(out)
	return out, nil
}
