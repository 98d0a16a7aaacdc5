package api

import (
	"context"
	"net/http"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// FirmwareRequest marks firmware work that must not be interrupted, For how long at
// most; 0 ends the mark.
type FirmwareRequest struct {
	Reason string            `json:"reason,omitempty"`
	For    protocol.Duration `json:"for,omitempty"`
}

// pathFirmware is the route that marks firmware work on a server.
func pathFirmware(server string) string {
	return PathObject(resource.KindServer, server) + "/firmware"
}

// Firmware marks firmware work on a server, or ends the mark. Repeating it is safe.
func (s Servers) Firmware(ctx context.Context, server string, r FirmwareRequest) (*resource.Server, error) {
	var out resource.Server
	return &out, s.hub.call(ctx, http.MethodPost, pathFirmware(server), r, &out)
}
