package daemon

import (
	"github.com/goccy/go-yaml"

	"rackboot/hub/support"
	"rackboot/protocol"
	"rackboot/state/clock"
)

// support is the room of what the hub tells of itself.
func (h *hub) support() *support.Room {
	return support.New(support.Config{Version: h.options.Version, StartedAt: clock.Now(), File: func() ([]byte, error) { return h.file.Load().json() }, Lines: h.lines, Metrics: h.reg})
}

// json is the file as it is in force, with the names that it is written with.
func (c *Config) json() ([]byte, error) {
	const op = "show the hub's file"
	raw, err := yaml.Marshal(c)
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeInternal, op, "%w", err)
	}
	if raw, err = yaml.YAMLToJSON(raw); err != nil {
		return nil, protocol.Errorf(protocol.CodeInternal, op, "%w", err)
	}
	return raw, nil
}
