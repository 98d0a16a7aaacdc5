package daemon

import (
	"fmt"
	"io"
	"os"
	"strings"

	"rackboot/hub/api"
	"rackboot/protocol"
)

// Client is a caller of the API besides the admin. Its name owns the holds that it
// places.
type Client struct {
	Name string `yaml:"name"`
	// TokenFile has the client's bearer token, one word of 32 bytes or more, and may
	// be read by the hub's user only (mode 0600). It is read when the hub starts.
	TokenFile string `yaml:"tokenFile"`
	// BreakGlass lets it release what others hold, with a reason.
	BreakGlass bool `yaml:"breakGlass"`
}

// maxTokenFile bounds a token file in bytes.
const maxTokenFile = 4096

func (c *Config) checkClients() error {
	names, files := map[string]bool{}, map[string]string{}
	for i, cl := range c.Clients {
		at := fmt.Sprintf("clients[%d]", i)
		if err := api.CheckClientName(cl.Name); err != nil {
			return fmt.Errorf("%s.name: %w", at, err)
		}
		switch {
		case names[cl.Name]:
			return fmt.Errorf("%s.name: there is another client %q", at, cl.Name)
		case cl.TokenFile == "":
			return fmt.Errorf("%s.tokenFile is needed: openssl rand -hex 32 makes a token", at)
		case files[cl.TokenFile] != "":
			return fmt.Errorf("%s.tokenFile: client %q has the same file; nobody could say who calls", at, files[cl.TokenFile])
		}
		names[cl.Name], files[cl.TokenFile] = true, cl.Name
	}
	return nil
}

// readClients reads the clients' token files. No error tells a token.
func (c *Config) readClients() (out []api.Client, err error) {
	for _, cl := range c.Clients {
		token, err := readToken(cl.TokenFile)
		if err != nil {
			return nil, protocol.Errorf(protocol.CodeOf(err), "read the clients' tokens", "client %q: %w", cl.Name, err).WithHint("%s", protocol.HintOf(err))
		}
		out = append(out, api.Client{Caller: api.Caller{Name: cl.Name, BreakGlass: cl.BreakGlass}, Token: token})
	}
	return out, nil
}

func readToken(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", protocol.Errorf(protocol.CodeInvalid, "", "%w", err).WithHint("make it: (umask 077; openssl rand -hex 32 >%s), readable by the hub's user", path)
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return "", protocol.Errorf(protocol.CodeUnavailable, "", "%w", err)
	case !info.Mode().IsRegular():
		return "", protocol.Errorf(protocol.CodeInvalid, "", "%s is not a file", path)
	case info.Mode().Perm()&0o077 != 0:
		return "", protocol.Errorf(protocol.CodeDenied, "", "%s may be read by others (mode %04o)", path, info.Mode().Perm()).
			WithHint("chmod 600 %s; if others had access, make a new token", path)
	}
	raw, err := io.ReadAll(io.LimitReader(f, maxTokenFile+1))
	if err != nil {
		return "", protocol.Errorf(protocol.CodeUnavailable, "", "%w", err)
	}
	token := strings.TrimSpace(string(raw))
	switch {
	case len(raw) > maxTokenFile:
		return "", protocol.Errorf(protocol.CodeInvalid, "", "%s is longer than %d bytes", path, maxTokenFile)
	case strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' }):
		return "", protocol.Errorf(protocol.CodeInvalid, "", "%s is not one word of visible ASCII", path).WithHint("openssl rand -hex 32 makes one")
	case len(token) < api.MinClientToken:
		return "", protocol.Errorf(protocol.CodeInvalid, "", "%s has %d bytes, fewer than %d", path, len(token), api.MinClientToken).
			WithHint("openssl rand -hex 32 makes a longer one")
	}
	return token, nil
}
