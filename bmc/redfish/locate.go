package redfish

import (
	"cmp"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"rackboot/bmc"
	"rackboot/protocol"
)

// locateEvery is how often a system is looked for that is not at its path.
const locateEvery = 30 * time.Second

// locator reads the system that a driver is for, and finds it: the only one of its BMC, or
// the same machine where the BMC gave it another path.
type locator struct {
	given   string // path that somebody gave; empty if it is found
	learned *learned
	logger  *slog.Logger

	mu       sync.Mutex
	uri      string       // found once if not given
	expected bmc.SystemID // see expect
	followed bool         // uri is where the machine was found again
	looked   time.Time    // when the system was last looked for
	lost     error        // what came of that; nil if it was found, or none fits
}

func newLocator(given string, learned *learned, logger *slog.Logger) *locator {
	return &locator{given: given, uri: given, learned: learned, logger: logger}
}

// expect says which machine the system is.
func (l *locator) expect(id bmc.SystemID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.expected = bmc.SystemID{UUID: strings.ToLower(id.UUID), Serial: id.Serial}
}

// read gets the system now.
func (l *locator) read(c *call) (*system, error) {
	return l.readBy(c, func(uri string) (*system, error) {
		s, err := get[system](c, uri)
		if err != nil {
			return nil, err
		}
		return s.located(uri), nil
	})
}

// glance is read for who looks at power, progress and the override only.
func (l *locator) glance(c *call, g *glance) (*system, error) {
	return l.readBy(c, func(uri string) (*system, error) { return g.systemAt(c, uri) })
}

func (l *locator) readBy(c *call, get func(uri string) (*system, error)) (*system, error) {
	l.mu.Lock()
	uri, id := l.uri, l.expected
	if uri == "" {
		uri = c.link.host.chosen()
		l.uri = uri
	}
	l.mu.Unlock()
	if uri == "" {
		s, err := findOnly(c, id, l.logger)
		if err != nil {
			return nil, err
		}
		l.mu.Lock()
		l.uri = s.ODataID
		l.mu.Unlock()
		c.link.host.choose(s.ODataID)
		l.learned.read(s, c.link.token())
		return s, nil
	}
	s, err := get(uri)
	if status, _, refused := refusal(err); refused && status == http.StatusNotFound {
		err = refault(err, protocol.FaultGone, "the system is no more at its path, and no other at the BMC is known to be the same machine; correct its system URI")
		s, err = l.locate(c, uri, err)
	} else if err == nil {
		err = l.stranger(c, s)
	}
	if err != nil {
		l.learned.forgetReset()
		return nil, err
	}
	l.learned.read(s, c.link.token())
	s.settings = cmp.Or(s.settings, l.learned.settings(s.ODataID))
	return s, nil
}

// locate looks for a system that is 404 at its path, by what it is known by. It returns the
// error of the read where there is nothing to know it by, or none that fits.
func (l *locator) locate(c *call, uri string, gone error) (*system, error) {
	now := time.Now()
	l.mu.Lock()
	id := l.expected
	early := now.Sub(l.looked) < locateEvery
	if !early {
		l.looked, l.lost = now, nil
	}
	lost := l.lost
	l.mu.Unlock()
	switch {
	case id == (bmc.SystemID{}) && l.given == "" && !early:
		l.leave(c, uri)
		return nil, gone
	case id == (bmc.SystemID{}) || early && lost == nil:
		return nil, gone
	case early:
		return nil, lost
	}
	uris, err := systems(c)
	if err != nil {
		return nil, gone
	}
	var found []*system
	var names []string
	for _, at := range uris {
		if sameURI(at, uri) {
			continue
		}
		s, err := get[system](c, at)
		if err != nil {
			continue // it may be the other one's turn to start
		}
		if s.located(at); s.bootable() && fits(id, s) {
			found, names = append(found, s), append(names, at)
		}
	}
	switch len(found) {
	case 0:
		return nil, gone
	case 1:
		l.logger.Warn("the system has another path now", "from", uri, "to", names[0])
		l.mu.Lock()
		l.uri, l.followed = names[0], true
		l.looked = time.Time{}
		l.mu.Unlock()
		if l.given == "" {
			c.link.host.choose(names[0])
		}
		l.learned.read(found[0], c.link.token())
		return found[0], nil
	}
	e := protocol.Errorf(protocol.CodeConflict, c.op, "the system is no more at %s of BMC %s, and %d others fit: %s", uri, c.link.base, len(found), strings.Join(names, ", ")).
		WithHint(onlyOneHint)
	e.Err = &answer{status: http.StatusNotFound, fault: protocol.BMCFault{Kind: protocol.FaultAmbiguous, Text: printable(strings.Join(names, ", "))}}
	l.mu.Lock()
	l.lost = e
	l.mu.Unlock()
	return nil, e
}

// leave gives up a path that was chosen as the only one once the BMC does not list it any more: it
// is chosen anew then. One that is listed and 404 for now is kept, or another would be taken for it.
func (l *locator) leave(c *call, uri string) {
	uris, err := systems(c)
	if err != nil || slices.ContainsFunc(uris, func(at string) bool { return sameURI(at, uri) }) {
		return
	}
	l.mu.Lock()
	l.uri, l.looked = "", time.Time{}
	l.mu.Unlock()
	c.link.host.choose("")
}

// stranger is the error of a path to which the system was followed, and where another
// machine is now; nil if it is the same one. The path that was given counts again then.
func (l *locator) stranger(c *call, s *system) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.followed || fits(l.expected, s) {
		return nil
	}
	if l.uri, l.followed = l.given, false; l.given == "" {
		c.link.host.choose("")
	}
	l.learned.another()
	e := protocol.Errorf(protocol.CodeConflict, c.op, "%s of BMC %s is another machine's by now", s.ODataID, c.link.base).
		WithHint("the system is looked for again; set its system URI if it stays so")
	e.Err = &answer{fault: protocol.BMCFault{Kind: protocol.FaultStranger, Text: printable(s.ODataID + " is another machine's")}}
	return e
}
