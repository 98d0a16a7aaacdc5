package redfish

import (
	"log/slog"
	"slices"
	"strings"
	"time"

	"rackboot/bmc"
	"rackboot/protocol"
)

const onlyOneHint = "set the server's system URI to one of them"

// doubtFor is how long a first choice waits for a system that does not answer and may be the
// host: a BMC is not ready for that long after a start of the host (metal-operator #170).
const doubtFor = 2 * time.Minute

// unread is a system of the collection that could not be read.
type unread struct {
	uri string
	err error
}

// mayBeHost says whether the system behind it may be a host: what the BMC does not have, and what
// is known as a part of a host, is none.
func (u unread) mayBeHost() bool { return !missing(u.err) && !isPart(u.uri, "") }

// isPart reports whether a system is known as a part of a host: by its name, or by its SystemType.
func isPart(uri, kind string) bool {
	uri = strings.TrimRight(uri, "/")
	name := uri[strings.LastIndexByte(uri, '/')+1:]
	return kind == "DPU" || slices.ContainsFunc(partNames, func(p string) bool { return strings.HasPrefix(name, p) })
}

// candidates are the members of the systems collection, as they were read.
type candidates struct {
	hosts []*system
	bad   []unread
	all   int
}

// readHosts reads each system once and keeps those that can be a host: with a reset and boot
// settings, and parts of a host only where there is nothing else (a BlueField's own BMC). One
// that cannot be read hides no other.
func readHosts(c *call) (found candidates, err error) {
	uris, err := systems(c)
	if err != nil {
		return candidates{}, err
	}
	var parts []*system
	var seen []string
	for _, uri := range uris {
		if slices.ContainsFunc(seen, func(s string) bool { return sameURI(s, uri) }) {
			continue
		}
		seen = append(seen, uri)
		s, err := get[system](c, uri)
		switch {
		case err != nil && (protocol.CodeOf(err) == protocol.CodeDenied || checkURI(uri) != nil || c.ctx.Err() != nil):
			return candidates{}, err
		case err != nil:
			found.bad = append(found.bad, unread{uri, err})
		case !s.located(uri).bootable():
		case isPart(uri, textOf(s.f["SystemType"])):
			parts = append(parts, s)
		default:
			found.hosts = append(found.hosts, s)
		}
	}
	found.all = len(seen)
	if len(found.hosts) == 0 && !slices.ContainsFunc(found.bad, unread.mayBeHost) {
		found.hosts = parts
	}
	return found, nil
}

// none is the error where no host was found.
func (f candidates) none(c *call) error {
	if i := slices.IndexFunc(f.bad, unread.mayBeHost); i >= 0 {
		return f.doubt(c, f.bad[i])
	}
	return protocol.Errorf(protocol.CodeUnsupported, c.op, "BMC %s lists %d systems, none with a reset and boot settings", c.link.base, f.all).
		WithHint("set the server's system URI, or update the BMC's firmware")
}

// doubt is the error where the system that does not answer may be the host. Its code, and whatever
// pause the BMC asks for, are those of the read.
func (f candidates) doubt(c *call, bad unread) error {
	e := protocol.Errorf(protocol.CodeOf(bad.err), c.op, "which system of BMC %s is the host is not known yet: %s cannot be read: %w", c.link.base, printable(bad.uri), bad.err)
	return e.WithHint("it is asked again; set the server's system URI, and the other systems are not looked at")
}

// findOnly picks the only system that has a reset and a boot object, wherever it
// stands in the collection, and returns it as read. id is what the system is known by.
func findOnly(c *call, id bmc.SystemID, logger *slog.Logger) (*system, error) {
	found, err := readHosts(c)
	if err != nil {
		return nil, err
	}
	s, err := found.choose(c, id)
	for _, b := range found.bad {
		logger.Warn("a system of the BMC cannot be read", "uri", b.uri, "code", protocol.CodeOf(b.err), "may_be_host", b.mayBeHost(), "chosen", err == nil)
	}
	if err != nil {
		return nil, err
	}
	logger.Info("system found", "uri", s.ODataID)
	return s, nil
}

// choose picks the host, and waits where it may be the system that cannot be read.
func (f candidates) choose(c *call, id bmc.SystemID) (*system, error) {
	var fitting, open, other []*system
	for _, s := range f.hosts {
		switch {
		case fits(id, s):
			fitting = append(fitting, s)
		case contradicts(id, s):
			other = append(other, s)
		default:
			open = append(open, s)
		}
	}
	unreadFor, bad := f.unread(c)
	switch chooseRule(countOfAll(fitting), countOfAll(open), countOfAll(other), unreadFor) {
	case chooseFits:
		return fitting[0], nil
	case chooseOpen:
		return open[0], nil
	case chooseOther:
		return other[0], nil
	case chooseWait:
		return nil, f.doubt(c, bad)
	case chooseNone:
		return nil, f.none(c)
	case chooseAmbiguous:
	}
	var names []string
	for _, s := range f.hosts {
		names = append(names, s.ODataID)
	}
	return nil, protocol.Errorf(protocol.CodeInvalid, c.op, "BMC %s has %d systems: %s", c.link.base, len(names), strings.Join(names, ", ")).
		WithHint(onlyOneHint)
}

// unread is for how long there has been a system that cannot be read and may be a host, and it.
func (f candidates) unread(c *call) (unreadTime, unread) {
	i := slices.IndexFunc(f.bad, unread.mayBeHost)
	since := c.link.host.doubted(i >= 0, time.Now())
	switch {
	case i < 0:
		return unreadNone, unread{}
	case since < doubtFor:
		return unreadShort, f.bad[i]
	}
	return unreadLong, f.bad[i]
}

// hosts reads the systems that have a reset and a boot object; there is at least one. One that
// cannot be read and may be a host fails the list for as long as a choice waits for it: a list
// without it would say that it is the only one.
func hosts(c *call, logger *slog.Logger) ([]*system, error) {
	found, err := readHosts(c)
	if err != nil {
		return nil, err
	}
	unreadFor, bad := found.unread(c)
	for _, b := range found.bad {
		logger.Warn("a system of the BMC cannot be read", "uri", b.uri, "code", protocol.CodeOf(b.err), "may_be_host", b.mayBeHost())
	}
	switch {
	case len(found.hosts) == 0:
		return nil, found.none(c)
	case unreadFor == unreadShort:
		return nil, found.doubt(c, bad)
	}
	return found.hosts, nil
}

// systems lists the members of the systems collection.
func systems(c *call) ([]string, error) {
	root, err := get[resource](c, rootURI)
	if err != nil {
		return nil, err
	}
	if root.systems == "" {
		return nil, nil
	}
	return members(c, root.systems)
}
