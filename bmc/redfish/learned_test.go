package redfish_test

import (
	"fmt"
	"net/http"
	"slices"
	"sync"
	"testing"

	"rackboot/bmc"
	"rackboot/bmc/redfish"
	"rackboot/protocol"
)

// ward is a BMC that notes what it is asked.
type ward struct {
	mu     sync.Mutex
	target string // where it takes resets
	uuid   string
	types  string
	answer int // to a reset at the right place
	asked  []string
}

func (w *ward) ServeHTTP(out http.ResponseWriter, r *http.Request) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.asked = append(w.asked, r.Method+" "+r.URL.Path)
	switch {
	case r.Method == http.MethodGet && r.URL.Path == "/redfish/v1/":
		fmt.Fprint(out, `{}`)
	case r.Method == http.MethodGet && r.URL.Path == "/info":
		fmt.Fprintf(out, `{"Parameters":[{"Name":"ResetType","AllowableValues":[%s]}]}`, w.types)
	case r.Method == http.MethodGet:
		fmt.Fprintf(out, `{"UUID":%q,"PowerState":"On","Actions":{"#ComputerSystem.Reset":{"target":%q,"ResetType@Redfish.AllowableValues":[%s]}}}`,
			w.uuid, w.target, w.types)
	case r.URL.Path == w.target:
		out.WriteHeader(w.answer)
	default:
		out.WriteHeader(http.StatusNotFound)
	}
}

// since returns what was asked since the last call, logins left out.
func (w *ward) since() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	asked := slices.DeleteFunc(w.asked, func(s string) bool { return s == "GET /redfish/v1/" })
	w.asked = nil
	return asked
}

// TestStopIsSentFirst: which requests a reset takes, by what the BMC said before.
func TestStopIsSentFirst(t *testing.T) {
	const system = "GET /redfish/v1/Systems/1"
	all := `"On","ForceOff","GracefulShutdown"`
	for _, row := range []struct {
		name   string
		before func(t *testing.T, d bmc.Driver, w *ward)
		reset  bmc.ResetType
		want   []string
		code   protocol.Code
	}{
		{"nothing was read", nil, bmc.ResetForceOff, []string{system, "POST /reset"}, ""},
		{"force off, after a read", observed, bmc.ResetForceOff, []string{"POST /reset"}, ""},
		{"graceful, after a read", observed, bmc.ResetGracefulShutdown, []string{"POST /reset"}, ""},
		{"on reads first (K21)", observed, bmc.ResetOn, []string{system, "POST /reset"}, ""},
		{"a type that it did not state", observed, "Nmi", []string{system}, protocol.CodeUnsupported},
		{"it states no types", func(t *testing.T, d bmc.Driver, w *ward) {
			w.types = ""
			observed(t, d, w)
		}, bmc.ResetForceOff, []string{system, "POST /reset"}, ""},
		{"409: it may be off already (R4, V8)", answers(http.StatusConflict), bmc.ResetForceOff, []string{"POST /reset", system}, protocol.CodeConflict},
		{"400: it may be off already (R6, V8)", answers(http.StatusBadRequest), bmc.ResetForceOff, []string{"POST /reset", system}, protocol.CodeConflict},
		{"503 is busy, and read by nobody", answers(http.StatusServiceUnavailable), bmc.ResetForceOff, []string{"POST /reset"}, protocol.CodeUnavailable},
		{"403 is not about the address", answers(http.StatusForbidden), bmc.ResetForceOff, []string{"POST /reset"}, protocol.CodeDenied},
		{"404: the action is elsewhere", func(t *testing.T, d bmc.Driver, w *ward) {
			observed(t, d, w)
			w.target = "/elsewhere"
		}, bmc.ResetForceOff, []string{"POST /reset", system, "POST /elsewhere"}, ""},
		{"404 and the type is gone", func(t *testing.T, d bmc.Driver, w *ward) {
			observed(t, d, w)
			w.target, w.types = "/elsewhere", `"On"`
		}, bmc.ResetForceOff, []string{"POST /reset", system}, protocol.CodeUnsupported},
		{"after an error it is read again", func(t *testing.T, d bmc.Driver, w *ward) {
			observed(t, d, w)
			w.answer = http.StatusInternalServerError
			wantCode(t, d.Reset(deadline(t), bmc.ResetForceOff), protocol.CodeUnavailable)
			w.answer = http.StatusNoContent
		}, bmc.ResetForceOff, []string{system, "POST /reset"}, ""},
		{"a second stop needs no read", func(t *testing.T, d bmc.Driver, w *ward) {
			observed(t, d, w)
			wantCode(t, d.Reset(deadline(t), bmc.ResetGracefulShutdown), "")
		}, bmc.ResetForceOff, []string{"POST /reset"}, ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			w := &ward{target: "/reset", uuid: "u", types: all, answer: http.StatusNoContent}
			d := open(t, redfish.Config{}, serve(t, w.ServeHTTP))
			if row.before != nil {
				row.before(t, d, w)
			}
			w.since()
			wantCode(t, d.Reset(deadline(t), row.reset), row.code)
			if got := w.since(); !slices.Equal(got, row.want) {
				t.Errorf("asked %v, want %v", got, row.want)
			}
		})
	}
}

func observed(t *testing.T, d bmc.Driver, _ *ward) {
	t.Helper()
	if _, err := d.Observe(deadline(t)); err != nil {
		t.Fatal(err)
	}
}

func answers(status int) func(*testing.T, bmc.Driver, *ward) {
	return func(t *testing.T, d bmc.Driver, w *ward) {
		t.Helper()
		observed(t, d, w)
		w.answer = status
	}
}
