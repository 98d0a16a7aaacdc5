package capture_test

import (
	"bytes"
	"context"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	"rackboot/bmc"
	"rackboot/bmc/capture"
	"rackboot/bmc/redfish"
	"rackboot/bmc/sim"
	"rackboot/bmc/sim/hardware"
	"rackboot/bmc/sim/tree"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

const (
	user     = "jane.doe-77"
	password = "correct horse battery"
)

// probed starts a simulated BMC and probes it.
func probed(t *testing.T, p sim.Personality, config redfish.Config) (protocol.Probe, error) {
	t.Helper()
	b, err := sim.New(sim.Config{Personality: p, Machine: hardware.NewSimulated(hardware.SimulatedConfig{}), Username: user, Password: password})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close() //nolint:errcheck // it is the end of the test
	dialer, err := redfish.New(config)
	if err != nil {
		t.Fatal(err)
	}
	d, err := dialer.Open(bmc.Target{Server: "s1", Address: b.Address(), Fingerprint: b.Fingerprint(), Credentials: bmc.Credentials{Username: user, Password: password}})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close() //nolint:errcheck // it is the end of the test
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	got, err := d.(bmc.Prober).Probe(ctx, "")
	if h := b.History(); len(h) != 0 {
		t.Errorf("a probe did %v", h)
	}
	return got, err
}

// Each preset that can be probed is recorded, nothing that names the machine is in the capture, and the
// simulator plays it so that the driver comes to the same verdict.
func TestPresetsRecorded(t *testing.T) {
	var recorded atomic.Int32
	t.Run("all", func(t *testing.T) {
		for _, p := range sim.Presets() {
			p.Latency, p.AnswerDelay = sim.Latency{}, 0 // how long it takes is not recorded
			if p.Name == "SlowDrip" {
				continue // it ends no answer, and half a minute passes until that is seen
			}
			t.Run(p.Name, func(t *testing.T) {
				t.Parallel()
				if replayed(t, p) {
					recorded.Add(1)
				}
			})
		}
	})
	if n := int(recorded.Load()); n < len(sim.Presets())*3/4 {
		t.Errorf("only %d of %d presets were recorded", n, len(sim.Presets()))
	}
}

// replayed is false for a BMC that cannot be read, of which there is no capture.
func replayed(t *testing.T, p sim.Personality) bool {
	t.Helper()
	raw := map[string][]byte{}
	r := capture.New(user, "127.0.0.1")
	var mu sync.Mutex
	got, err := probed(t, p, redfish.Config{RequestTimeout: time.Second, Seen: func(uri string, body []byte) {
		mu.Lock()
		defer mu.Unlock()
		raw[uri] = bytes.Clone(body)
		r.See(uri, body)
	}})
	if err != nil {
		return false
	}
	files, err := r.Files()
	if err != nil {
		t.Fatal(err)
	}
	clean(t, append(names(raw), user, password), files)
	folder := fstest.MapFS{}
	for name, text := range files {
		folder[name] = &fstest.MapFile{Data: text}
	}
	loaded, err := tree.Load(folder)
	if err != nil {
		t.Fatal(err)
	}
	p.Tree, p.Manufacturer, p.Model = loaded, "", ""
	replay, err := probed(t, p, redfish.Config{})
	if err != nil {
		t.Fatalf("the replay: %v", err)
	}
	if was, is := shape(got), shape(replay); !reflect.DeepEqual(was, is) {
		t.Errorf("\n was %+v\n  is %+v", was, is)
	}
	return true
}

// shape is what a capture must keep of a probe.
func shape(p protocol.Probe) map[string]string {
	out := map[string]string{"verdict": resource.VerdictOf(p).Words(), "profile": p.Profile, "UUID": p.Inventory.UUIDProblem, "vendor": p.Inventory.Vendor, "model": p.Inventory.Model, "detection": string(p.Inventory.Detection.Class)}
	position := map[string]int{}
	for i, n := range p.Inventory.Interfaces {
		position[n.MAC] = i + 1
		out[fmt.Sprintf("interface %d", i)] = fmt.Sprint(n.Sources, n.Internal)
	}
	for _, o := range p.Inventory.BootOptions {
		out["option "+o.Reference] = fmt.Sprint(o.Kind, position[o.MAC], o.IP, o.Disabled)
	}
	return out
}

// names are what names the machine in answers: found in another way than the recorder finds it.
func names(raw map[string][]byte) (out []string) {
	mac := regexp.MustCompile(`(?i)"(?:Permanent)?MACAddress": *"([0-9a-f:-]{17})"`)
	named := regexp.MustCompile(`"(?:UUID|SerialNumber|AssetTag|SKU|HostName|FQDN|UserName)": *"([^"]{6,})"`)
	for _, text := range raw {
		for _, m := range mac.FindAllSubmatch(text, -1) {
			if found := strings.ToLower(string(m[1])); !strings.HasPrefix(found, "00:1a:ca:ff:ff") && strings.Trim(found, "0:") != "" && strings.Trim(found, "f:") != "" {
				out = append(out, found, strings.ReplaceAll(found, ":", ""), strings.ReplaceAll(found, ":", "-"))
			}
		}
		for _, m := range named.FindAllSubmatch(text, -1) {
			if found := string(m[1]); strings.Trim(found, "0-") != "" && strings.Trim(strings.ToLower(found), "f-") != "" && !slices.Contains([]string{"Not Available", "Unknown", "username", "To Be Filled By O.E.M."}, found) {
				out = append(out, found)
			}
		}
	}
	return out
}

// clean looks for whatever of the machine is in what was written.
func clean(t *testing.T, names []string, files map[string][]byte) {
	t.Helper()
	for name, text := range files {
		all := strings.ToLower(name + "\n" + string(text))
		for _, n := range names {
			if at := strings.Index(all, strings.ToLower(n)); at >= 0 {
				t.Errorf("%s has %s: %s", name, n, all[max(0, at-80):min(len(all), at+80)])
			}
		}
	}
}
