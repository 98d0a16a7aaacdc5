package site

import (
	"fmt"
	"net/netip"
	"strings"

	"rackboot/cmd/internal/firstrack"
	"rackboot/cmd/internal/manifest"
	"rackboot/cmd/internal/terminal"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// defaultRack is the rack's name where nobody says another.
const defaultRack = "rack-1"

// site asks for all but what BMCs say.
func (i *interview) site(q *initAnswers) (*firstrack.Site, error) {
	s := &firstrack.Site{Local: q.local, HTTPPort: q.httpPort}
	name := func(v string) error {
		if !protocol.ValidName(v) || len(v) > firstrack.MaxRack {
			return fmt.Errorf("%q is not a name for a rack here: a-z, 0-9 and -, at most %d", v, firstrack.MaxRack)
		}
		return nil
	}
	if err := i.ask(&q.rack, "rack", "Name of the rack", defaultRack, true, name); err != nil {
		return nil, err
	}
	s.Rack = q.rack
	loopback := ""
	if q.local {
		loopback = "127.0.0.1/8"
	}
	if err := i.ask(&q.address, "address", "The agent's address on the network that servers boot on, as 10.7.0.2/24", loopback, true, func(v string) (err error) {
		if s.Address, err = netip.ParsePrefix(v); err == nil {
			_, _, err = s.Pool()
		}
		return err
	}); err != nil {
		return nil, err
	}
	if !s.Address.IsValid() || !s.Address.Addr().IsLoopback() {
		if err := i.ask(&q.network, "interface", "The agent's interface on that network, as eth1", "", true, func(v string) error {
			if len(v) > 15 || strings.ContainsAny(v, " /\t") {
				return fmt.Errorf("%q is not the name of an interface", v)
			}
			return nil
		}); err != nil {
			return nil, err
		}
		if err := i.ask(&q.router, "router", "Router of that network (empty: none)", "", false, func(v string) error {
			a, err := netip.ParseAddr(v)
			if err == nil && (!a.Is4() || !s.Address.Contains(a)) {
				err = fmt.Errorf("%s is not in %s", a, s.Address.Masked())
			}
			s.Router = a
			return err
		}); err != nil {
			return nil, err
		}
	}
	s.Interface = q.network
	if err := i.bmcs(q); err != nil {
		return nil, err
	}
	if err := i.account(q, s); err != nil {
		return nil, err
	}
	if err := i.ask(&q.image, "image", "Image of the claim to try", firstrack.DefaultImage, true, func(string) error { return nil }); err != nil {
		return nil, err
	}
	s.Image = q.image
	return s, i.missing()
}

// bmcs asks for addresses until an empty one.
func (i *interview) bmcs(q *initAnswers) error {
	for n := 1; len(q.bmcs) == 0 || n > 1; n++ {
		one := ""
		question, needed := "Address of a server's BMC, as https://10.6.0.21", true
		if n > 1 {
			question, needed = "Another BMC (empty: no more)", false
		}
		if err := i.ask(&one, "bmc", question, "", needed, func(v string) error {
			if v == "" {
				return nil
			}
			_, err := parseHost(v, q.rack, n)
			return err
		}); err != nil {
			return err
		}
		if one == "" {
			return nil // missed, or no more
		}
		q.bmcs = append(q.bmcs, one)
	}
	return nil
}

// account reads the BMCs' account from its file, or from the terminal.
func (i *interview) account(q *initAnswers, s *firstrack.Site) error {
	const op = "read --account"
	if q.account != "" {
		raw, err := i.src.Small(q.account)
		if err != nil {
			return err
		}
		var v struct {
			Username string `yaml:"username"`
			Password string `yaml:"password"`
		}
		// The parser's error is not passed on: it would quote the file.
		if err := manifest.Unmarshal([]byte(raw), &v); err != nil || v.Username == "" {
			return protocol.Errorf(protocol.CodeInvalid, op, "%s does not have the lines username: and password:", q.account).WithHint("write them, and nothing else; mode 0600")
		}
		s.Account = resource.BMCAccount{Username: v.Username, Password: v.Password}
		return nil
	}
	if err := i.ask(&s.Account.Username, "account", "User name at the BMCs", "", true, func(string) error { return nil }); err != nil || s.Account.Username == "" {
		return err
	}
	password, err := terminal.Ask(i.pr.Err, i.person, "Password: ", true)
	if err != nil {
		return protocol.Errorf(protocol.CodeUnavailable, op, "the password cannot be read from the terminal: %w", err).WithHint("give --account FILE")
	}
	s.Account.Password = password
	return nil
}
