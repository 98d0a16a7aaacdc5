package redfish

import (
	"log/slog"
	"strings"

	"rackboot/protocol"
)

const onlyOneHint = "set the server's system URI to one of them"

// findOnly picks the only system that has a reset and a boot object, wherever it
// stands in the collection, and returns it as read.
func findOnly(c *call, logger *slog.Logger) (*system, error) {
	found, err := hosts(c)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, s := range found {
		names = append(names, s.ODataID)
	}
	switch len(found) {
	case 1:
		logger.Info("system found", "uri", names[0])
		return found[0], nil
	default:
		return nil, protocol.Errorf(protocol.CodeInvalid, c.op, "BMC %s has %d systems: %s", c.link.base, len(found), strings.Join(names, ", ")).
			WithHint(onlyOneHint)
	}
}

// hosts reads the systems that have a reset and a boot object; there is at least one.
func hosts(c *call) ([]*system, error) {
	uris, err := systems(c)
	if err != nil {
		return nil, err
	}
	var found []*system
	for _, uri := range uris {
		s, err := get[system](c, uri)
		if err != nil {
			return nil, err
		}
		if s.located(uri); s.bootable() {
			found = append(found, s)
		}
	}
	if len(found) == 0 {
		return nil, protocol.Errorf(protocol.CodeUnsupported, c.op, "BMC %s lists %d systems, none with a reset and boot settings", c.link.base, len(uris)).
			WithHint("set the server's system URI, or update the BMC's firmware")
	}
	return found, nil
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
