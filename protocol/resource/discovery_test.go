package resource

import (
	"strings"
	"testing"
	"time"

	"rackboot/internal/doctable"
	"rackboot/protocol"
)

func TestDiscoveryOf(t *testing.T) {
	at := time.Date(2026, 11, 20, 8, 0, 0, 0, time.UTC)
	doctable.Of(t, "discovery.go", "DiscoveryOf").Hold(t, [][]string{doctable.YesNo(), doctable.YesNo(), doctable.YesNo(), doctable.YesNo()}, func(in []string) []string {
		var s ServerStatus
		if in[1] == "yes" || in[2] == "yes" {
			s.Discovery = &DiscoveryStatus{}
		}
		if in[1] == "yes" {
			s.Discovery.FailedAt = &at
		}
		if in[2] == "yes" {
			s.Discovery.AskedAt = &at
		}
		if in[3] == "yes" {
			s.Discovered = &Discovered{At: at}
		}
		if got := DiscoveryOf(in[0] == "yes", &s); got != "" {
			return doctable.Words(got)
		}
		return []string{"none"}
	})
}

func TestRackDiscovery(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*RackDiscovery)
		want   string
	}{
		"as it is by default": {func(*RackDiscovery) {}, ""},
		"no image":            {func(d *RackDiscovery) { d.Image = "" }, "spec.discovery: give exactly one of image, imageFrom and bootEnv"},
		"both":                {func(d *RackDiscovery) { d.BootEnv = &Ref{"probe"} }, "spec.discovery: give exactly one of image, imageFrom and bootEnv"},
		"environment":         {func(d *RackDiscovery) { d.Image, d.BootEnv = "", &Ref{"probe"} }, ""},
		"environment, wrong":  {func(d *RackDiscovery) { d.Image, d.BootEnv = "", &Ref{"Pro be"} }, "spec.discovery.bootEnv.name"},
		"a space":             {func(d *RackDiscovery) { d.Image = "a b" }, "spec.discovery.image"},
		"lines":               {func(d *RackDiscovery) { d.KernelArgs = "a\nb" }, "spec.discovery.kernelArgs"},
		"no attempt":          {func(d *RackDiscovery) { d.MaxAttempts = -1 }, "spec.discovery.maxAttempts: -1 is not between 1 and 20"},
		"too many attempts":   {func(d *RackDiscovery) { d.MaxAttempts = 21 }, "spec.discovery.maxAttempts"},
		"too short":           {func(d *RackDiscovery) { d.Timeout = protocol.Duration(time.Second) }, "spec.discovery.timeout: 1s is not between"},
		"too long":            {func(d *RackDiscovery) { d.Timeout = protocol.Duration(25 * time.Hour) }, "spec.discovery.timeout"},
	} {
		r := &Rack{Spec: RackSpec{Discovery: &RackDiscovery{Image: "registry.example/probe:1"}}}
		r.Metadata.Name = "r1"
		r.Default()
		if d := r.Spec.Discovery; d.MaxAttempts != 3 || d.Timeout.D() != 30*time.Minute || d.AllowPowerCycle {
			t.Errorf("default %+v", d)
		}
		c.change(r.Spec.Discovery)
		wrong := r.Validate()
		if (len(wrong) == 0) != (c.want == "") || !strings.Contains(wrong.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, wrong, c.want)
		}
	}
	var r Rack
	if r.Default(); r.Spec.Discovery != nil {
		t.Error("a rack discovers without being told to")
	}
}
