package daemon

import (
	"fmt"
	"slices"

	"rackboot/hub/access"
	"rackboot/hub/api/gate"
	"rackboot/protocol"
)

// Client is a caller of the API besides the admin. Its name owns the holds that it
// places.
type Client struct {
	Name string `yaml:"name"`
	// TokenFile has the client's bearer token, one word of 32 bytes or more, and may
	// be read by the hub's user only (mode 0600). It is read when the hub reads its file.
	TokenFile string `yaml:"tokenFile"`
	// Certificate is how the client is known besides, or instead.
	Certificate Certificate `yaml:"certificate"`
	// Roles are what it may do: viewer, operator, fencer, admin. None is all but admin.
	Roles []access.Role `yaml:"roles"`
	// Scope is where: servers and racks whose labels match. None is everywhere.
	Scope *Scope `yaml:"scope"`
	// BreakGlass lets it release what others hold, with a reason.
	BreakGlass bool `yaml:"breakGlass"`
}

// Certificate names the certificate of a client. The hub's own authority signs it, see
// rackboot-hub client-certificate, or an authority of Config.ClientCA.
type Certificate struct {
	CommonName string `yaml:"commonName"`
}

func (c *Config) checkClients() error {
	names, files, certificates := map[string]bool{}, map[string]string{}, map[string]string{}
	for i, cl := range c.Clients {
		at := fmt.Sprintf("clients[%d]", i)
		if err := gate.CheckClientName(cl.Name); err != nil {
			return fmt.Errorf("%s.name: %w", at, err)
		}
		for _, r := range cl.Roles {
			if !slices.Contains(access.Roles(), r) {
				return fmt.Errorf("%s.roles: %q is not one of viewer, operator, fencer, admin", at, r)
			}
		}
		if cl.Scope != nil && len(cl.Scope.MatchLabels) == 0 {
			return fmt.Errorf("%s.scope has no labels; leave it out if the client may do it everywhere", at)
		}
		cn := cl.Certificate.CommonName
		switch {
		case names[cl.Name]:
			return fmt.Errorf("%s.name: there is another client %q", at, cl.Name)
		case cl.TokenFile == "" && cn == "":
			return fmt.Errorf("%s.tokenFile or certificate is needed: openssl rand -hex 32 makes a token", at)
		case cl.TokenFile != "" && files[cl.TokenFile] != "":
			return fmt.Errorf("%s.tokenFile: client %q has the same file; nobody could say who calls", at, files[cl.TokenFile])
		case cn != "" && certificates[cn] != "":
			return fmt.Errorf("%s.certificate.commonName: client %q has the same; nobody could say who calls", at, certificates[cn])
		}
		names[cl.Name], files[cl.TokenFile], certificates[cn] = true, cl.Name, cl.Name
	}
	return nil
}

// readClients reads the clients' token files. No error tells a token.
func (c *Config) readClients() (out []gate.Client, err error) {
	for _, cl := range c.Clients {
		token := ""
		if cl.TokenFile != "" {
			if token, err = readToken(cl.TokenFile); err != nil {
				return nil, protocol.Errorf(protocol.CodeOf(err), "read the clients' tokens", "client %q: %w", cl.Name, err).WithHint("%s", protocol.HintOf(err))
			}
		}
		who := access.Caller{Name: cl.Name, Roles: cl.Roles, BreakGlass: cl.BreakGlass}
		if cl.Scope != nil {
			who.Scope.MatchLabels = cl.Scope.MatchLabels
		}
		out = append(out, gate.Client{Caller: who, Token: token, CommonName: cl.Certificate.CommonName})
	}
	return out, nil
}

func readToken(path string) (string, error) { return readWord(path, gate.MinClientToken) }
