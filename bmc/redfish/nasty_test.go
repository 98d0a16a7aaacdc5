package redfish_test

import (
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"rackboot/bmc"
	"rackboot/bmc/redfish"
	"rackboot/bmc/sim"
	"rackboot/protocol"
)

// Each row is a BMC whose answers are of no use: an error that says so, an
// observation that proves nothing, and no memory kept.
func TestNastyAnswers(t *testing.T) {
	endless := func(w io.Writer, mib int) {
		block := strings.Repeat(" ", 1<<16)
		for range mib << 4 {
			if _, err := io.WriteString(w, block); err != nil {
				return
			}
		}
	}
	tests := []struct {
		name  string
		serve http.HandlerFunc
		want  protocol.Code
	}{
		{"100 MiB", func(w http.ResponseWriter, _ *http.Request) { endless(w, 100) }, protocol.CodeUnavailable},
		{"100 MiB of an error", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500); endless(w, 100) }, protocol.CodeUnavailable},
		{"5 MiB, compressed to little", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			z := gzip.NewWriter(w)
			endless(z, 5)
			_ = z.Close()
		}, protocol.CodeUnavailable},
		{"malformed", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"PowerState":"Off"`) }, protocol.CodeUnavailable},
		{"not JSON", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `<html>`) }, protocol.CodeUnavailable},
		{"empty", func(http.ResponseWriter, *http.Request) {}, protocol.CodeUnavailable},
		{"an array", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `[{"PowerState":"Off"}]`) }, protocol.CodeUnavailable},
		{"304 without being asked", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotModified) }, protocol.CodeUnavailable},
		{"204", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }, protocol.CodeUnavailable},
		{"hung up", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, protocol.CodeUnavailable},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := open(t, redfish.Config{}, serve(t, tt.serve))
			var before, after runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&before)
			o, err := d.Observe(deadline(t))
			runtime.GC()
			runtime.ReadMemStats(&after)
			wantCode(t, err, tt.want)
			if o.Power != protocol.PowerUnknown && o.Power != protocol.PowerUnreachable || o.Error == "" || protocol.HintOf(err) == "" {
				t.Errorf("observation %+v", o)
			}
			if len(err.Error()) > 1000 {
				t.Errorf("an error of %d bytes", len(err.Error()))
			}
			if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 8<<20 {
				t.Errorf("%d bytes are kept", grown)
			}
		})
	}
}

// A power read is never asked for conditionally, so that no 304 can stand for
// one.
func TestReadsAreUnconditional(t *testing.T) {
	var conditional atomic.Int32
	d := open(t, redfish.Config{}, serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("If-None-Match") != "" {
			conditional.Add(1)
		}
		w.Header().Set("ETag", `"7"`)
		fmt.Fprint(w, offSystem)
	}))
	for range 3 {
		observe(t, d)
	}
	if conditional.Load() != 0 {
		t.Error("a read was conditional")
	}
}

// HPE Gen10+: 406 for identity; the answer that comes instead is compressed.
func TestNotAcceptable(t *testing.T) {
	d := open(t, redfish.Config{}, serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Accept-Encoding") == "identity" {
			w.WriteHeader(http.StatusNotAcceptable)
			return
		}
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		fmt.Fprint(z, offSystem)
		_ = z.Close()
	}))
	observe(t, d)
}

// After three exchanges without an answer nothing is sent for a while, but
// ForceOff is.
func TestDeadBMCIsLeftAlone(t *testing.T) {
	bubbleRig(t, sim.Down(), redfish.Config{}, func(t *testing.T, r *rig) {
		var tripped *bmc.Tripped
		for n := range 4 {
			_, err := r.driver.Observe(t.Context())
			wantCode(t, err, protocol.CodeUnavailable)
			if errors.As(err, &tripped) != (n == 3) {
				t.Fatalf("read %d: %v", n, err)
			}
		}
		err := r.driver.Reset(t.Context(), bmc.ResetForceOff)
		if wantCode(t, err, protocol.CodeUnavailable); errors.As(err, &tripped) && strings.Contains(err.Error(), "not asked") {
			t.Errorf("ForceOff was not sent: %v", err)
		}
	})
}

// An inventory that hangs delays neither polls nor power.
func TestInventoryIsOffThePowerPath(t *testing.T) {
	hangs, stop := make(chan struct{}), make(chan struct{})
	goOn := sync.OnceFunc(func() { close(stop) })
	target := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/nics":
			close(hangs)
			<-stop
			fmt.Fprint(w, `{"Members":[]}`)
		case r.Method == http.MethodPost:
			w.WriteHeader(http.StatusNoContent)
		default:
			fmt.Fprint(w, strings.TrimSuffix(offSystem, "}")+`,"EthernetInterfaces":{"@odata.id":"/nics"}}`)
		}
	})
	d := open(t, redfish.Config{}, target)
	t.Cleanup(goOn)
	done := make(chan error, 1)
	ctx := deadline(t)
	go func() {
		_, err := d.(bmc.Inventorier).Inventory(ctx)
		done <- err
	}()
	<-hangs
	observe(t, d)
	if err := d.Reset(deadline(t), bmc.ResetForceOff); err != nil {
		t.Error(err)
	}
	select {
	case err := <-done:
		t.Fatalf("they waited until the inventory had ended: %v", err)
	default:
	}
	goOn()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// Parts that fail are named, and the others are there.
func TestInventoryPartsFailAlone(t *testing.T) {
	d := open(t, redfish.Config{}, serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/redfish/v1/Systems/1":
			fmt.Fprint(w, `{"PowerState":"Off","SerialNumber":"S1","Boot":{"BootOptions":{"@odata.id":"/options"},"BootOrder":["Boot0001"]},
				"EthernetInterfaces":{"@odata.id":"/loop"},"Bios":{"@odata.id":"/bios"},"SecureBoot":{"@odata.id":"//elsewhere/x"}}`)
		case "/options":
			fmt.Fprint(w, `{"Members":[{"@odata.id":"/options/1"},{"@odata.id":"/options/2"}]}`)
		case "/options/1":
			fmt.Fprint(w, `{"BootOptionReference":"Boot0001","DisplayName":"UEFI Shell"}`)
		case "/loop":
			fmt.Fprint(w, `{"Members":[],"Members@odata.nextLink":"/loop"}`)
		case "/bios":
			fmt.Fprint(w, `{"Attributes":`)
		default:
			w.WriteHeader(http.StatusNotFound)
		}
	}))
	inv, err := d.(bmc.Inventorier).Inventory(deadline(t))
	if err != nil {
		t.Fatal(err)
	}
	if inv.Serial != "S1" || len(inv.BootOptions) != 1 || inv.BootOptions[0].Kind != protocol.OptionShell {
		t.Errorf("inventory %+v", inv)
	}
	if inv.SafeStop.Class != protocol.SafeStopUnknown { // Secure Boot may be on
		t.Errorf("safe stop %+v", inv.SafeStop)
	}
	parts := map[string]bool{}
	for _, p := range inv.Problems {
		parts[p.Part] = true
	}
	for _, part := range []string{"BootOptions", "EthernetInterfaces", "Bios", "SecureBoot"} {
		if !parts[part] {
			t.Errorf("no problem with %s: %+v", part, inv.Problems)
		}
	}
}

// A system that cannot be read is forced off all the same, and only that.
func TestForceOffWithoutARead(t *testing.T) {
	var broken atomic.Bool
	var resets atomic.Int32
	d := open(t, redfish.Config{}, serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Method == http.MethodPost:
			resets.Add(1)
			w.WriteHeader(http.StatusNoContent)
		case broken.Load():
			w.WriteHeader(http.StatusInternalServerError)
		default:
			fmt.Fprint(w, offSystem)
		}
	}))
	observe(t, d)
	broken.Store(true)
	wantCode(t, d.Reset(deadline(t), bmc.ResetOn), protocol.CodeUnavailable)
	wantCode(t, d.Reset(deadline(t), bmc.ResetForceOff), "")
	if resets.Load() != 1 {
		t.Errorf("%d resets", resets.Load())
	}
}
