package redfish_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"rackboot/bmc"
	"rackboot/bmc/redfish"
	"rackboot/integration/memnet"
	"rackboot/protocol"
)

// unsteady is a BMC whose systems change: a number is a status, anything else the body.
type unsteady struct {
	mu      sync.Mutex
	list    []string
	systems map[string]string
}

func (u *unsteady) set(uri, answer string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.systems[uri] = answer
}

func (u *unsteady) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	u.mu.Lock()
	defer u.mu.Unlock()
	var links []string
	for _, uri := range u.list {
		links = append(links, `{"@odata.id":"`+uri+`"}`)
	}
	collection := `{"Members":[` + strings.Join(links, ",") + `]}`
	answer := u.systems[strings.TrimSuffix(r.URL.Path, "/")]
	if status := 0; len(answer) == 3 {
		_, _ = fmt.Sscan(answer, &status)
		w.WriteHeader(status)
		return
	}
	systemsOf(collection, u.systems)(w, r)
}

// machineOf is a host that is off.
func machineOf(serial, kind string) string {
	return fmt.Sprintf(`{"PowerState":"Off","SerialNumber":%q,"SystemType":%q,"Boot":{"BootSourceOverrideTarget":"None"},"Actions":{"#ComputerSystem.Reset":{"target":"/reset"}}}`, serial, kind)
}

// unsteadily runs a test of a BMC whose systems nobody names, and whose drivers come and go.
func unsteadily(t *testing.T, u *unsteady, test func(t *testing.T, open func() bmc.Driver)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		l := memnet.Listen("bmc")
		target := served(t, &httptest.Server{Listener: l, Config: &http.Server{Handler: u}})
		target.SystemURI = ""
		dialer, err := redfish.New(redfish.Config{RequestTimeout: patience, DialContext: dials(l)})
		if err != nil {
			t.Fatal(err)
		}
		test(t, func() bmc.Driver {
			d, err := dialer.Open(target)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = d.Close() })
			return d
		})
	})
}

// A system that cannot be read hides no other, and is never taken for one: which system is the
// host is decided while it may be it only after a time, and once.
func TestUnreadSystems(t *testing.T) {
	host, other := machineOf("A", "Physical"), machineOf("B", "Physical")
	tests := []struct {
		name   string
		list   []string
		a, b   string
		expect string // serial number that is known
		want   string // of the serial number at once: A, B or empty for none
		later  string // and after the doubt
	}{
		{"503", nil, "503", other, "", "", "B"},
		{"503, and the other is the one that is known", nil, "503", other, "B", "B", "B"},
		{"503, and the other is known to be another", nil, "503", other, "A", "", ""},
		{"500", nil, "500", other, "", "", "B"},
		{"404 is nothing to wait for", nil, "404", other, "", "B", "B"},
		{"a host that is 503, and its DPU", nil, "503", machineOf("B", "DPU"), "", "", ""},
		{"a host and its DPU", nil, host, machineOf("B", "DPU"), "", "A", "A"},
		{"a DPU alone (BlueField)", nil, machineOf("A", "DPU"), "404", "", "A", "A"},
		{"the same twice", []string{"/a", "/a/"}, host, "", "", "A", "A"},
		{"all", nil, "503", "503", "", "", ""},
		{"both are there", nil, host, other, "", "", ""},
		{"both are there, and one is known", nil, host, other, "B", "B", "B"},
		{"a board was changed", nil, host, "404", "C", "A", "A"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			u := &unsteady{list: tt.list, systems: map[string]string{"/a": tt.a, "/b": tt.b}}
			if u.list == nil {
				u.list = []string{"/a", "/b"}
			}
			unsteadily(t, u, func(t *testing.T, open func() bmc.Driver) {
				d := open()
				d.(bmc.Finder).Expect(bmc.SystemID{Serial: tt.expect})
				look := func(want string) {
					t.Helper()
					inv, err := d.(bmc.Inventorier).Inventory(deadline(t))
					switch {
					case inv.Serial != want || (err == nil) != (want != ""):
						t.Errorf("%q, %v; want %q", inv.Serial, err, want)
					case err != nil && strings.HasPrefix(tt.a, "50") && (protocol.CodeOf(err) != protocol.CodeUnavailable || !strings.Contains(err.Error(), "/a cannot be read")):
						t.Errorf("%v", err)
					case err != nil && protocol.HintOf(err) == "":
						t.Errorf("%v has no hint", err)
					}
				}
				look(tt.want)
				time.Sleep(3 * time.Minute)
				look(tt.later)
			})
		})
	}
}

// The system that was chosen is kept, also by drivers that are opened later, whatever the others
// and it answer; until the BMC lists it no more.
func TestChosenSystemIsKept(t *testing.T) {
	host, other := machineOf("A", ""), machineOf("B", "")
	for _, gone := range []string{"503", "404"} {
		t.Run(gone, func(t *testing.T) {
			u := &unsteady{list: []string{"/a", "/b"}, systems: map[string]string{"/a": host, "/b": "404"}}
			unsteadily(t, u, func(t *testing.T, open func() bmc.Driver) {
				first := open()
				if _, err := first.Observe(deadline(t)); err != nil {
					t.Fatal(err)
				}
				u.set("/a", gone)
				u.set("/b", other)
				for range 5 {
					for _, d := range []bmc.Driver{first, open()} {
						if inv, err := d.(bmc.Inventorier).Inventory(deadline(t)); err == nil {
							t.Fatalf("another was taken: %+v", inv)
						}
						if err := d.Reset(deadline(t), bmc.ResetOn); err == nil {
							t.Fatal("another was switched on")
						}
					}
					time.Sleep(time.Minute)
				}
				u.set("/a", host)
				if inv, err := open().(bmc.Inventorier).Inventory(deadline(t)); err != nil || inv.Serial != "A" {
					t.Errorf("%q, %v", inv.Serial, err)
				}
			})
		})
	}
	t.Run("not listed any more", func(t *testing.T) {
		u := &unsteady{list: []string{"/a"}, systems: map[string]string{"/a": host}}
		unsteadily(t, u, func(t *testing.T, open func() bmc.Driver) {
			d := open()
			if _, err := d.Observe(deadline(t)); err != nil {
				t.Fatal(err)
			}
			u.mu.Lock()
			u.list, u.systems = []string{"/c"}, map[string]string{"/c": host}
			u.mu.Unlock()
			_, err := d.Observe(deadline(t))
			if bmc.FaultOf(err).Kind != protocol.FaultGone {
				t.Errorf("%v", err)
			}
			if inv, err := d.(bmc.Inventorier).Inventory(deadline(t)); err != nil || inv.SystemURI != "/c" {
				t.Errorf("%q, %v", inv.SystemURI, err)
			}
		})
	})
}
