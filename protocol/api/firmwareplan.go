package api

import (
	"context"
	"net/http"

	"rackboot/protocol/resource"
)

// FirmwarePlan has the server's agent read how its firmware is set, and says what its FirmwareProfile would change.
// It only reads, and waits for [ProbeWait] if ctx has no deadline. Repeating it is safe.
func (s Servers) FirmwarePlan(ctx context.Context, server string) (out resource.FirmwarePlan, err error) {
	ctx, cancel := slowRead(ctx)
	defer cancel()
	err = s.hub.call(ctx, http.MethodPost, pathFirmware(server)+"/plan", nil, &out)
	return out, err
}

// FirmwareStatus is the last writing of a server's firmware settings. The code is not_found where there was none.
func (s Servers) FirmwareStatus(ctx context.Context, server string) (out resource.FirmwareRun, err error) {
	err = s.hub.call(ctx, http.MethodGet, pathFirmware(server)+"/status", nil, &out)
	return out, err
}

// WantedSettings are the firmware settings that a maintenance is to write.
type WantedSettings struct {
	Server string `json:"server"`
	// Digest is that by which an approval names the settings.
	Digest   string                    `json:"digest"`
	Settings []resource.FirmwareWanted `json:"settings"`
}

// FirmwareWanted is what a maintenance is to write; nothing of one that boots.
func (s Servers) FirmwareWanted(ctx context.Context, maintenance string) (out WantedSettings, err error) {
	err = s.hub.call(ctx, http.MethodGet, PathObject(resource.KindMaintenance, maintenance)+"/firmware", nil, &out)
	return out, err
}

// slowRead gives a call that reads a BMC its time.
func slowRead(ctx context.Context) (context.Context, context.CancelFunc) {
	if _, ok := ctx.Deadline(); ok {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, ProbeWait+callTimeout)
}
