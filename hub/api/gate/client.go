package gate

import (
	"context"
	"crypto/sha256"
	"slices"

	"rackboot/hub/access"
	"rackboot/hub/api/route"
	"rackboot/protocol"
)

const (
	// admin is the name of the caller that every hub has.
	admin = "admin"
	// minToken is the least length of the admin token in bytes.
	minToken = 16
)

// MinClientToken is the least length of a client's token in bytes.
const MinClientToken = 32

// Client is a caller besides the admin. It has a token, a certificate or both.
type Client struct {
	// Caller without roles has those of [access.DefaultRoles].
	access.Caller
	Token string // bearer token, at least 32 bytes
	// CommonName is that of its certificate; see [Config].
	CommonName string
}

// known is a caller and how it is known.
type known struct {
	access.Caller
	byToken    bool
	token      [sha256.Size]byte // digest
	commonName string            // empty: none
}

// People knows persons by the tokens of a provider. It is used concurrently.
type People interface {
	// Caller returns whom a token is of. The code is denied for nobody who may do anything, and unavailable
	// if that cannot be told now.
	Caller(ctx context.Context, token string) (access.Caller, error)
	// Login returns where persons log in, and the id of rackctl there.
	Login() (issuer, clientID string)
}

// callers are those who are known, and how they are known. A value never changes: others take its place.
type callers struct {
	known       []known
	authorities route.Authorities
	people      People // nil is none
}

// newAdmin returns the caller that every hub has; it may break glass.
func newAdmin(token string) (known, error) {
	if len(token) < minToken {
		return known{}, protocol.Errorf(protocol.CodeInvalid, "configure api", "the admin token is shorter than %d bytes", minToken).
			WithHint("openssl rand -hex 32 makes one")
	}
	all := access.Caller{Name: admin, Roles: []access.Role{access.Admin}, BreakGlass: true}
	return known{Caller: all, byToken: true, token: sha256.Sum256([]byte(token))}, nil
}

// newCallers returns the admin and the clients.
func newCallers(first known, next Callers, authorities route.Authorities) (*callers, error) {
	const op = "configure api"
	out := []known{first}
	for _, c := range next.Clients {
		if err := CheckClientName(c.Name); err != nil {
			return nil, protocol.Errorf(protocol.CodeInvalid, op, "client %q: %w", c.Name, err)
		}
		switch {
		case c.Token == "" && c.CommonName == "":
			return nil, protocol.Errorf(protocol.CodeInvalid, op, "client %q has neither token nor certificate", c.Name).
				WithHint("nobody could be it; give it one")
		case c.Token != "" && len(c.Token) < MinClientToken:
			return nil, protocol.Errorf(protocol.CodeInvalid, op, "the token of client %q is shorter than %d bytes", c.Name, MinClientToken).
				WithHint("openssl rand -hex 32 makes one")
		}
		for _, r := range c.Roles {
			if !slices.Contains(access.Roles(), r) {
				return nil, protocol.Errorf(protocol.CodeInvalid, op, "client %q has the role %q, which is none", c.Name, r).
					WithHint("there are viewer, operator, fencer and admin")
			}
		}
		if len(c.Roles) == 0 {
			c.Roles = access.DefaultRoles()
		}
		k := known{Caller: c.Caller, byToken: c.Token != "", token: sha256.Sum256([]byte(c.Token)), commonName: c.CommonName}
		for _, o := range out {
			switch {
			case o.Name == k.Name:
				return nil, protocol.Errorf(protocol.CodeInvalid, op, "there are two clients %q", c.Name)
			case o.byToken && k.byToken && o.token == k.token:
				return nil, protocol.Errorf(protocol.CodeInvalid, op, "clients %q and %q have the same token", o.Name, c.Name).
					WithHint("nobody could say who calls; make each its own: openssl rand -hex 32")
			case k.commonName != "" && o.commonName == k.commonName:
				return nil, protocol.Errorf(protocol.CodeInvalid, op, "clients %q and %q have the same certificate", o.Name, c.Name).
					WithHint("nobody could say who calls; give each its own common name")
			}
		}
		out = append(out, k)
	}
	return &callers{out, authorities, next.People}, nil
}

// CheckClientName says what is wrong with the name of a client. Names that the hub
// and its agents give themselves are not to be had: records would lie.
func CheckClientName(name string) error {
	const op = "name a client"
	switch {
	case name == admin, name == "hub", name == "expiry":
		return protocol.Errorf(protocol.CodeInvalid, op, "%q is a name of Rackboot's own; choose another", name)
	case !protocol.ValidName(name):
		// So are local:USER and what else has a colon.
		return protocol.Errorf(protocol.CodeInvalid, op, "%q is not a name: use a-z, 0-9 and -, at most 63 characters", name)
	}
	return nil
}
