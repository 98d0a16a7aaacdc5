package server

import (
	"context"
	"time"

	"rackboot/bmc"
	"rackboot/protocol"
	"rackboot/protocol/decide"
)

const (
	// firmwareTimeout bounds reading and writing firmware settings: a registry of attributes alone takes
	// a slow BMC a minute.
	firmwareTimeout = 3 * time.Minute
	// firmwareWatch is how often it is looked whether it may go on meanwhile. A hold ends it: then the server's
	// power is read, and stopped, which waits for nothing else.
	firmwareWatch = 500 * time.Millisecond
)

// firmware reads or writes settings.
func (h *hand) firmware(ctx context.Context, a decide.Action, r *decide.Result) error {
	r.Firmware = &decide.FirmwareAnswer{}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		h.watch(ctx, a.Kind, cancel)
	}()
	err := h.settings(ctx, a, r.Firmware)
	cancel()
	<-watched
	return err
}

// unsaid takes what the BMC said of settings out of a result: it may have values, and goes into the report of the
// settings only, not into logs and traces.
func unsaid(r *decide.Result, err error) error {
	if err == nil || r.Firmware == nil {
		return err
	}
	r.Firmware.Text, r.Fault = r.Message, protocol.BMCFault{}
	err = protocol.Errorf(r.Code, string(r.Action), "the BMC's words are in the report of the firmware settings")
	r.Message = err.Error()
	return err
}

// watch cancels what is under way once it may not go on.
func (h *hand) watch(ctx context.Context, k decide.ActionKind, cancel context.CancelFunc) {
	tick := time.NewTicker(firmwareWatch)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if h.permitted(k) != nil {
				cancel()
				return
			}
		}
	}
}

func (h *hand) settings(ctx context.Context, a decide.Action, out *decide.FirmwareAnswer) error {
	if a.Kind == decide.ActReadFirmware {
		d, ok := h.bmc.driver.(bmc.FirmwareReader)
		if !ok {
			return protocol.Errorf(protocol.CodeUnsupported, string(a.Kind), "the driver reads no settings of firmware")
		}
		shown, err := d.Firmware(ctx, a.Firmware.Names)
		out.Shown = shown
		return err
	}
	d, ok := h.bmc.driver.(bmc.FirmwareWriter)
	if !ok {
		return protocol.Errorf(protocol.CodeUnsupported, string(a.Kind), "the driver writes no settings of firmware")
	}
	took, err := d.WriteFirmware(ctx, a.Firmware.Changes)
	out.Took = map[string]decide.FirmwareTook{}
	for _, t := range took {
		out.Took[t.Setting] = tookOf[t.Outcome]
	}
	return err
}

// tookOf are the driver's words as decisions have them.
var tookOf = map[bmc.FirmwareOutcome]decide.FirmwareTook{
	bmc.FirmwareInForce: decide.FirmwareTookNow, bmc.FirmwareWaits: decide.FirmwareTookNext,
	bmc.FirmwareUnseen: decide.FirmwareTookDark, bmc.FirmwareLater: decide.FirmwareTookNot,
}
