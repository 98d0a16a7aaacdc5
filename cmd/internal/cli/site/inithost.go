package site

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"time"

	"rackboot/bmc"
	"rackboot/bmc/redfish"
	"rackboot/cmd/internal/cli/printer"
	"rackboot/cmd/internal/firstrack"
	"rackboot/cmd/internal/terminal"
	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
)

// parseHost reads [NAME=]https://host[:port]; n is its place among the others of the rack.
func parseHost(text, rack string, n int) (firstrack.Host, error) {
	h := firstrack.Host{Name: fmt.Sprintf("%s-server-%d", rack, n), Address: text}
	if name, rest, ok := strings.Cut(text, "="); ok {
		h.Name, h.Address = name, rest
	}
	if !strings.Contains(h.Address, "://") {
		h.Address = "https://" + h.Address
	}
	if !protocol.ValidName(h.Name) || !protocol.ValidName(h.Name+"-bmc") {
		return h, fmt.Errorf("%q is not a name: a-z, 0-9 and -, at most 59", h.Name)
	}
	u, err := url.Parse(h.Address)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" || strings.Trim(u.Path, "/") != "" {
		return h, fmt.Errorf("%q is not https://host[:port]", h.Address)
	}
	h.Address = u.Scheme + "://" + u.Host
	return h, nil
}

// hosts reads the BMCs, one after the other.
func (i *interview) hosts(ctx context.Context, q *initAnswers, s *firstrack.Site) error {
	const op = "init"
	if len(q.macs) > len(q.bmcs) {
		return protocol.Errorf(protocol.CodeInvalid, op, "%d of --mac for %d of --bmc", len(q.macs), len(q.bmcs)).
			WithHint("give at most one for each, in the same order")
	}
	if q.pin.fingerprint != "" && len(q.bmcs) > 1 {
		return protocol.Errorf(protocol.CodeInvalid, op, "one --fingerprint for %d BMCs", len(q.bmcs)).
			WithHint("give --ca FILE, --trust-shown, or one BMC, and add the others by hand")
	}
	names := map[string]bool{}
	for n, text := range q.bmcs {
		h, err := parseHost(text, s.Rack, n+1)
		if err != nil {
			return protocol.Errorf(protocol.CodeInvalid, op, "--bmc: %w", err)
		}
		if names[h.Name] {
			return protocol.Errorf(protocol.CodeInvalid, op, "--bmc: two servers have the name %s", h.Name)
		}
		if names[h.Name] = true; h.Name == "rack" {
			return protocol.Errorf(protocol.CodeInvalid, op, "--bmc: a server may not be named rack here: rack.yaml is the rack's file")
		}
		if n < len(q.macs) {
			h.BootMAC = q.macs[n]
		}
		if q.offline || h.BootMAC != "" {
			if err := i.ask(&h.BootMAC, "mac", "MAC address that "+h.Name+" boots from", "", true, func(v string) error {
				if protocol.InterfaceMAC(v) == "" {
					return fmt.Errorf("%q is not the MAC address of an interface", v)
				}
				return nil
			}); err != nil {
				return err
			}
			h.BootMAC = protocol.InterfaceMAC(h.BootMAC)
		}
		if err := i.missing(); err != nil {
			return err
		}
		if err := i.host(ctx, q, s, &h); err != nil {
			return err
		}
		s.Hosts = append(s.Hosts, h)
	}
	return nil
}

// host trusts the BMC and reads it.
func (i *interview) host(ctx context.Context, q *initAnswers, s *firstrack.Site, h *firstrack.Host) error {
	if strings.HasPrefix(h.Address, "https://") {
		var err error
		if h.TLS, err = i.trust(ctx, q, h.Address); err != nil {
			return err
		}
	}
	if q.offline {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, api.ProbeWait)
	defer cancel()
	p, err := probeAt(ctx, bmc.Target{
		Server: h.Name, Address: h.Address, Fingerprint: h.TLS.Fingerprint, CA: []byte(h.TLS.CA),
		Credentials: bmc.Credentials{Username: s.Account.Username, Password: s.Account.Password},
	}, redfish.Config{})
	if err != nil {
		return err
	}
	h.System = p.Inventory
	if h.BootMAC == "" && p.Inventory.BootMAC() == "" {
		return protocol.Errorf(protocol.CodeInvalid, "init", "%s shows no network interface of its host", h.Address).
			WithHint("some do only after the host was on once; or give --mac")
	}
	i.pr.Progress("%s is %s %s, serial number %s", h.Address, printer.Dash(p.Inventory.Vendor), printer.Dash(p.Inventory.Model), printer.Dash(p.Inventory.Serial))
	return nil
}

// trust is by what the BMC is known: by the flags, or by what somebody compares now.
func (i *interview) trust(ctx context.Context, q *initAnswers, address string) (resource.BMCTLS, error) {
	p := q.pin
	if p == (pin{}) && i.person != nil && !i.yes {
		shown, err := shownSoon(ctx, address)
		if err != nil {
			return resource.BMCTLS{}, err
		}
		i.pr.Progress("%s shows a certificate with the fingerprint\n  %s\nCompare it at the BMC.", address, shown)
		yes, err := terminal.Ask(i.pr.Err, i.person, "Trust it (yes/no)? ", false)
		if err != nil || yes != "yes" {
			return resource.BMCTLS{}, protocol.Errorf(protocol.CodeDenied, "trust bmc", "the certificate is not trusted; nothing was written").
				WithHint("answer yes, in full, once you have compared it")
		}
		p.fingerprint = shown
	}
	return resolve(i.src, i.pr, p, address, func() (string, error) { return shownSoon(ctx, address) })
}

// startTime is how long a BMC that cannot be reached yet is waited for.
const startTime = 10 * time.Second

// shownSoon is shownBy of a BMC that may be starting.
func shownSoon(ctx context.Context, address string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	for {
		shown, err := shownBy(ctx, address)
		if err == nil || protocol.CodeOf(err) != protocol.CodeUnavailable {
			return shown, err
		}
		select {
		case <-ctx.Done():
			return "", protocol.Errorf(protocol.CodeUnavailable, "look at certificate", "%w", err).
				WithHint("check the address; where only the agent's host reaches it, give --offline with --mac, and --fingerprint or --ca")
		case <-time.After(startTime / 40):
		}
	}
}
