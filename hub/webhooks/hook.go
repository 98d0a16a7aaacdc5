package webhooks

import (
	"crypto/tls"
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// The bounds and defaults of hooks.
const (
	MaxHooks      = 16               // of one hub
	DefaultWait   = 10 * time.Second // for an answer
	MaxWait       = 15 * time.Second // so that a test by hand is answered within the API's own time
	DefaultGiveUp = 24 * time.Hour
	MinGiveUp     = time.Minute
	maxURL        = 2048
)

// Hook is where events are sent, and which.
type Hook struct {
	Name    string // a name as of a resource; the place in the log is kept under it
	URL     string
	Secrets []Secret // each signs
	TLS     *tls.Config
	Codes   []resource.EventCode // none is all
	Racks   []string             // only events of their servers and agents; none is all
	// Wait is how long an answer may take, GiveUp how long an event is tried from when it was filed, or from
	// the hub's start.
	Wait, GiveUp time.Duration
}

// CheckURL says what is wrong with the URL of a hook. plain allows HTTP beyond the hub's own host.
func CheckURL(text string, plain bool) error {
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Host == "" || len(text) > maxURL: // it may have a token in it, and is not quoted
		return fmt.Errorf("it is not https://host/path")
	case u.User != nil:
		return fmt.Errorf("it has a name or password in it; requests are signed instead")
	case u.Fragment != "":
		return fmt.Errorf("it has a #; leave that out")
	case u.Scheme == "https":
		return nil
	case u.Scheme != "http":
		return fmt.Errorf("its scheme is not https")
	case !plain && !loopback(u.Hostname()):
		return fmt.Errorf("it is not https: whoever is on the way reads the events; plainHTTP: true allows that")
	}
	return nil
}

func loopback(host string) bool {
	a, err := netip.ParseAddr(host)
	return host == "localhost" || (err == nil && a.IsLoopback())
}

// Check says what is wrong with what an operator wrote; a hook's secrets are checked as they are read.
func (h Hook) Check() error {
	if !protocol.ValidName(h.Name) {
		return fmt.Errorf("name: %q is not a name: use 1 to 63 of a-z, 0-9 and -", h.Name)
	}
	for _, c := range h.Codes {
		if !slices.Contains(resource.EventCodes(), c) {
			return fmt.Errorf("codes: %q is not a code of an event; they are %s", c, words(resource.EventCodes()))
		}
	}
	for _, r := range h.Racks {
		if !protocol.ValidName(r) {
			return fmt.Errorf("racks: %q is not a name", r)
		}
	}
	switch {
	case h.Wait < 0 || h.Wait > MaxWait:
		return fmt.Errorf("timeout: %s is not between 0 and %s", h.Wait, MaxWait)
	case h.GiveUp != 0 && h.GiveUp < MinGiveUp:
		return fmt.Errorf("giveUpAfter: %s is less than %s", h.GiveUp, MinGiveUp)
	}
	return nil
}

func words(codes []resource.EventCode) string {
	out := make([]string, len(codes))
	for i, c := range codes {
		out[i] = string(c)
	}
	slices.Sort(out)
	return strings.Join(out, ", ")
}

// host is what of a URL is shown: path and query may have tokens.
func (h Hook) host() string {
	u, err := url.Parse(h.URL)
	if err != nil {
		return ""
	}
	return u.Scheme + "://" + u.Host
}
