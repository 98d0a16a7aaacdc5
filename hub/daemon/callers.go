package daemon

import (
	"rackboot/hub/api/gate"
	"rackboot/hub/people"
)

// readCallers reads what the file names of its callers: their tokens, and their authorities. own is the hub's
// authority in PEM; prev knew persons before, or is nil.
func (c *Config) readCallers(own []byte, prev *people.People) (out gate.Callers, err error) {
	if out.Clients, err = c.readClients(); err != nil {
		return gate.Callers{}, err
	}
	if out.Authorities, err = c.readClientCA(); err != nil {
		return gate.Callers{}, err
	}
	if err := c.apart(out.Authorities, own); err != nil {
		return gate.Callers{}, err
	}
	if c.OIDC != nil {
		now, err := c.OIDC.open(prev)
		if err != nil {
			return gate.Callers{}, err
		}
		out.People = now
	}
	return out, nil
}
