package sim

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/fstest"

	"rackboot/bmc/sim/hardware"
	"rackboot/bmc/sim/tree"
)

func TestBootRefusals(t *testing.T) {
	writable := []string{tree.BootTarget, tree.BootEnabled, tree.BootMode, tree.BootOrder, tree.BootNext}
	targets := []string{"None", "Pxe", "Hdd", "UefiHttp"}
	tests := []struct{ body, id string }{
		{`{"BootSourceOverrideTarget":"UefiHttp","BootSourceOverrideEnabled":"Once","BootSourceOverrideMode":"UEFI"}`, ""},
		{`{"BootOrder":["a","b"],"BootNext":null}`, ""},
		{`{}`, "PropertyValueTypeError"},
		{`[]`, "PropertyValueTypeError"},
		{`{"BootSourceOverrideTarget":"Floppy"}`, "PropertyValueNotInList"},
		{`{"BootSourceOverrideEnabled":"Twice"}`, "PropertyValueNotInList"},
		{`{"BootSourceOverrideMode":"uefi"}`, "PropertyValueNotInList"},
		{`{"BootSourceOverrideTarget":null}`, "PropertyValueTypeError"},
		{`{"BootOrder":"a"}`, "PropertyValueTypeError"},
		{`{"BootOrder":["a",1]}`, "PropertyValueTypeError"},
		{`{"BootNext":1}`, "PropertyValueTypeError"},
		{`{"BootSourceOverrideTarget@Redfish.AllowableValues":["x"]}`, "PropertyUnknown"},
		{`{"HttpBootUri":"http://x"}`, "PropertyUnknown"},
	}
	for _, tt := range tests {
		var v any
		if err := json.Unmarshal([]byte(tt.body), &v); err != nil {
			t.Fatal(err)
		}
		_, r := parseBoot(v, writable, targets)
		id := ""
		if r != nil {
			id = strings.TrimPrefix(r.id, "Base.1.13.")
		}
		if id != tt.id {
			t.Errorf("%s: %q, want %q", tt.body, id, tt.id)
		}
	}
}

func FuzzBodies(f *testing.F) {
	f.Add([]byte(`{"Boot":{"BootSourceOverrideTarget":"UefiHttp","BootSourceOverrideEnabled":"Once"}}`))
	f.Add([]byte(`{"Boot":{"BootSourceOverrideMode":"Legacy"}}`))
	f.Add([]byte(`{"ResetType":"ForceOff"}`))
	f.Add([]byte(`{"ResetType":null,"x":1}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		if o, err := tree.ParseObject(b); err == nil {
			if v, refused := parseBoot(o["Boot"], []string{tree.BootTarget, tree.BootEnabled, tree.BootMode, tree.BootURI, tree.BootOrder}, nil); refused == nil && len(v) == 0 {
				t.Errorf("%q is a change of nothing", b)
			}
		}
		if kind, refused := parseReset(b, knownResets()); refused == nil && kind == "" {
			t.Errorf("%q is a reset of no type", b)
		}
	})
}

// Whatever a folder holds, loading fails or gives a tree that can be surveyed.
func FuzzTree(f *testing.F) {
	f.Add([]byte(`{"Systems":{"@odata.id":"/redfish/v1/Systems"}}`), []byte(`{"Members":[{"@odata.id":"/redfish/v1/Systems"}],"Actions":{"#ComputerSystem.Reset":{"target":"/x"}}}`))
	f.Add([]byte(`{"Managers":[1],"Links":"x"}`), []byte(`{"Members":{"a":1}}`))
	f.Fuzz(func(t *testing.T, root, systems []byte) {
		tree, err := tree.Load(fstest.MapFS{
			"redfish/v1/index.json":         {Data: root},
			"redfish/v1/Systems/index.json": {Data: systems},
		})
		if err != nil {
			return
		}
		machine := hardware.NewSimulated(hardware.SimulatedConfig{})
		b := newBMC(Config{Machine: machine, Personality: Personality{Tree: tree}}, "")
		defer b.later.Stop()
		for _, h := range b.hosts {
			if h.place.Reset == "" {
				t.Error("a host without a reset")
			}
			_ = h.Override()
		}
	})
}

// Every request has an answer with a body that is a JSON object, or none.
func FuzzRequests(f *testing.F) {
	f.Add(3, "PATCH", "/redfish/v1/Systems/1", `{"Boot":{"BootSourceOverrideTarget":"Pxe"}}`, `"0"`)
	f.Add(30, "POST", "/redfish/v1/Systems/Self/Actions/ComputerSystem.Reset", `{"ResetType":"On"}`, "*")
	f.Add(0, "POST", "/redfish/v1/Systems/1/Actions/ComputerSystem.Reset", `{"ResetType":"On"}`, "")
	f.Add(60, "PATCH", "/redfish/v1/Systems/1/Bios/Settings", `{"Attributes":{"BootMode":1}}`, "")
	f.Add(90, "POST", "/redfish/v1/EventService/Subscriptions", `{"Destination":"x"}`, "")
	f.Add(110, "PATCH", "/redfish/v1/Systems/1/VirtualMedia/EXT1", `{"Image":null}`, "W/")
	f.Fuzz(func(t *testing.T, preset int, method, path, body, match string) {
		all := Presets()
		p := all[max(0, preset)%len(all)]
		p.Latency, p.AnswerDelay, p.Wire = Latency{}, 0, WireRules{}
		machine := hardware.NewSimulated(hardware.SimulatedConfig{})
		b := newBMC(Config{Machine: machine, Personality: p, Username: "u", Password: "p", Sender: new(webhook)}, "")
		defer func() {
			b.later.Stop()
			_ = machine.Close()
			b.later.Wait()
		}()
		req, err := http.NewRequestWithContext(t.Context(), method, "https://192.0.2.1/", strings.NewReader(body))
		if err != nil {
			return
		}
		req.URL.Path = path
		req.SetBasicAuth("u", "p")
		req.Header.Set("If-Match", match)
		w := httptest.NewRecorder()
		if a := b.service.serve(readRequest(req), p.Wire); a.stream == nil {
			a.write(w, req)
		}
		if w.Body.Len() > 0 {
			if _, err := tree.ParseObject(w.Body.Bytes()); err != nil {
				t.Errorf("%s %s: %d %q: %v", method, path, w.Code, w.Body, err)
			}
		}
	})
}
