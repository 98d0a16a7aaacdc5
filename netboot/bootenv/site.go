package bootenv

import (
	"net/netip"
	"net/url"

	"rackboot/netboot"
	"rackboot/protocol"
)

// Site is what differs from one attempt to the next, and between the address families that
// a server boots by.
type Site struct {
	// Base is scheme and authority of the boot URLs, as netboot.BaseURLFor gives them.
	Base string
	// Token is the attempt's.
	Token string
	// Report is the URL that a booted system reports below; that of the token if empty.
	Report string
	// Address is the server's leased one. A template that asks for it is an error where
	// there is none.
	Address netip.Addr
	// NoUserData says that user data does not go to who asks, so that nothing tells where it
	// would be fetched.
	NoUserData bool
}

// Sample is a site to try a rendering with, before there is an attempt: addresses of
// documentation (RFC 5737), and a token that no attempt has.
func Sample() Site {
	return Site{Base: "http://192.0.2.1:8080", Token: "sample", Address: netip.AddrFrom4([4]byte{192, 0, 2, 10})}
}

// check refuses, as invalid, what no file could be made for.
func (s Site) check() error {
	u, err := url.Parse(s.Base)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.Path != "" {
		return protocol.Errorf(protocol.CodeInvalid, opRender, "the base of the boot URLs is not scheme and authority").
			WithHint("give it as http://ADDRESS:PORT")
	}
	if why := pathProblem(s.Token); why != "" {
		return protocol.Errorf(protocol.CodeInvalid, opRender, "the token %s", why)
	}
	return nil
}

// url is that of a file of the attempt.
func (s Site) url(file string) string { return netboot.BootURL(s.Base, s.Token, file) }

// report is where a booted system reports.
func (s Site) report() string { return first(s.Report, s.url("")) }
