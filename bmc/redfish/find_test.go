package redfish_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"rackboot/bmc"
	"rackboot/bmc/redfish"
	"rackboot/protocol"
)

// systemsOf serves a root and the given collection; every system is as named.
func systemsOf(collection string, systems map[string]string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		switch path := strings.TrimSuffix(r.URL.Path, "/"); {
		case path == "/redfish/v1":
			fmt.Fprint(w, `{"Systems":{"@odata.id":"/redfish/v1/Systems"}}`)
		case path == "/redfish/v1/Systems":
			fmt.Fprint(w, collection)
		case systems[path] != "":
			fmt.Fprint(w, systems[path])
		default:
			w.WriteHeader(http.StatusNotFound)
		}
	}
}

func TestFindTheSystem(t *testing.T) {
	const baseboard = `{"PowerState":"On","Boot":{}}`
	const two = `{"Members":[{"@odata.id":"/a"},{"@odata.id":"/b"}]}`
	tests := []struct {
		name       string
		collection string
		systems    map[string]string
		want       protocol.Code
		text       string
	}{
		{"the host is second (GB200)", two, map[string]string{"/a": baseboard, "/b": offSystem}, "", ""},
		{"two hosts", two, map[string]string{"/a": offSystem, "/b": offSystem}, protocol.CodeInvalid, "/a, /b"},
		{"no host", two, map[string]string{"/a": baseboard, "/b": baseboard}, protocol.CodeUnsupported, "none"},
		{"looping nextLink (gofish follows it for ever)", `{"Members":[],"Members@odata.nextLink":"/redfish/v1/Systems"}`, nil, protocol.CodeUnavailable, "does not end"},
		{"member on another host", `{"Members":[{"@odata.id":"//192.0.2.9/a"}]}`, nil, protocol.CodeUnavailable, "not a path"},
		{"not JSON", `<html>`, nil, protocol.CodeUnavailable, "not a usable answer"},
		{"not an object", `[]`, nil, protocol.CodeUnavailable, "not a usable answer"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var requests atomic.Int32
			h := systemsOf(tt.collection, tt.systems)
			target := serve(t, func(w http.ResponseWriter, r *http.Request) { requests.Add(1); h(w, r) })
			target.SystemURI = ""
			d := open(t, redfish.Config{}, target)
			o, err := d.Observe(deadline(t))
			wantCode(t, err, tt.want)
			if err != nil {
				wantText(t, err, tt.text)
				return
			}
			if o.Power != protocol.PowerOff {
				t.Errorf("power is %s", o.Power)
			}
			if all, err := d.(bmc.Lister).Systems(deadline(t)); err != nil || !slices.Equal(all, []string{"/b"}) {
				t.Errorf("systems %v, %v", all, err)
			}
			before := requests.Load()
			if _, err := d.Observe(deadline(t)); err != nil || requests.Load() != before+1 {
				t.Errorf("a second read took %d requests, %v", requests.Load()-before, err)
			}
		})
	}
}

// All hosts behind a BMC are listed, in its order; what is none is not.
func TestSystems(t *testing.T) {
	const three = `{"Members":[{"@odata.id":"/b"},{"@odata.id":"/board"},{"@odata.id":"/a"}]}`
	target := serve(t, systemsOf(three, map[string]string{"/a": offSystem, "/board": `{"PowerState":"On","Boot":{}}`, "/b": offSystem}))
	target.SystemURI = ""
	all, err := open(t, redfish.Config{}, target).(bmc.Lister).Systems(deadline(t))
	if err != nil || !slices.Equal(all, []string{"/b", "/a"}) {
		t.Errorf("%v, %v", all, err)
	}
	none := serve(t, systemsOf(three, map[string]string{"/a": `{}`, "/board": `{}`, "/b": `{}`}))
	none.SystemURI = ""
	_, err = open(t, redfish.Config{}, none).(bmc.Lister).Systems(deadline(t))
	wantCode(t, err, protocol.CodeUnsupported)
}

func TestAnswerLimit(t *testing.T) {
	target := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		chunk := []byte(strings.Repeat(" ", 1<<20))
		for range 6 {
			if _, err := w.Write(chunk); err != nil {
				return
			}
		}
	})
	_, err := open(t, redfish.Config{}, target).Observe(deadline(t))
	wantCode(t, err, protocol.CodeUnavailable)
	wantText(t, err, "larger than")
}
