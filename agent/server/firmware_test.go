package server

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"rackboot/bmc"
	"rackboot/protocol"
	"rackboot/protocol/decide"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// slowFirmware is a BMC that shows its settings never, and refuses to have them written.
type slowFirmware struct{ bmc.Driver }

// Firmware implements bmc.FirmwareReader.
func (slowFirmware) Firmware(ctx context.Context, _ []string) (protocol.Firmware, error) {
	<-ctx.Done()
	return protocol.Firmware{}, protocol.Errorf(protocol.CodeTimeout, "read firmware", "%w", ctx.Err())
}

// WriteFirmware implements bmc.FirmwareWriter.
func (slowFirmware) WriteFirmware(context.Context, []protocol.FirmwareChange) ([]bmc.FirmwareWritten, error) {
	return []bmc.FirmwareWritten{{Setting: "Quiet", Outcome: bmc.FirmwareWaits}}, protocol.Errorf(protocol.CodeInvalid, "write firmware", "https://x?token=t is no URL")
}

// A hold that comes while settings are read ends that at once: the server's stop waits for nothing. Without one it has
// its time.
func TestHoldEndsFirmwareRead(t *testing.T) {
	for _, held := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			cfg := config(t)
			in := document(t, cfg.Store)
			l := New(cfg).loop(in.Server)
			l.hand.bmc.driver = slowFirmware{errDriver{}}
			began := time.Now()
			done := make(chan decide.Result)
			go func() {
				done <- l.hand.do(t.Context(), decide.Plan{Action: decide.Action{Kind: decide.ActReadFirmware, Firmware: &decide.FirmwareOrder{}}})
			}()
			time.Sleep(10 * time.Second)
			if held {
				d := message.HoldDoc{Head: protocol.Head{Version: 1}, Agent: "agent-1", Holds: []resource.ActiveHold{{ID: "h1", HoldSpec: resource.HoldSpec{Server: in.Server, Owner: "o", HoldTerms: resource.HoldTerms{Key: "k", Mode: resource.StopHard}}}}}
				if _, _, err := cfg.Store.Documents.ApplyHolds(time.Now(), d, "1"); err != nil {
					t.Fatal(err)
				}
			}
			r := <-done
			took := time.Since(began)
			if held && took > 10*time.Second+2*firmwareWatch || !held && took != firmwareTimeout || r.Code != protocol.CodeTimeout {
				t.Errorf("held %t: after %s, %+v", held, took, r)
			}
		})
	}
}

// What the BMC says of a setting goes into the answer alone: it may have a value.
func TestFirmwareWordsAreVeiled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := config(t)
		in := document(t, cfg.Store)
		l := New(cfg).loop(in.Server)
		l.hand.bmc.driver = slowFirmware{errDriver{}}
		r := l.hand.do(t.Context(), decide.Plan{Action: decide.Action{Kind: decide.ActWriteFirmware, Firmware: &decide.FirmwareOrder{}}})
		if r.Code != protocol.CodeInvalid || strings.Contains(r.Message, "token") || !strings.Contains(r.Firmware.Text, "token=t") || r.Firmware.Took["Quiet"] != decide.FirmwareTookNext {
			t.Errorf("%+v, %+v", r, r.Firmware)
		}
	})
}
