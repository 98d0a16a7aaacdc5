package fleet

import (
	"net/netip"
	"testing"

	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

func TestConfigRefuses(t *testing.T) {
	for name, change := range map[string]func(*Config){
		"no rack":                          func(c *Config) { c.Racks = 0 },
		"too many racks":                   func(c *Config) { c.Racks = MaxRacks + 1 },
		"too many servers":                 func(c *Config) { c.Servers = message.MaxServersPerShard + 1 },
		"no folder":                        func(c *Config) { c.Dir = "" },
		"news":                             func(c *Config) { c.Load.News = -1 },
		"holds":                            func(c *Config) { c.Load.Holds = maxHolds + 1 },
		"time":                             func(c *Config) { c.Load.For = -1 },
		"pause":                            func(c *Config) { c.ReportEvery = 1 },
		"skipped below none":               func(c *Config) { c.Skip = -1 },
		"skipped too many":                 func(c *Config) { c.Skip = MaxRacks },
		"too few addresses beside another": func(c *Config) { c.Racks, c.Skip, c.From = 2, 5, netip.MustParsePrefix("127.80.0.0/29") },
		"too few addresses":                func(c *Config) { c.Racks, c.From = 10, netip.MustParsePrefix("127.80.0.0/29") },
		"addresses of another":             func(c *Config) { c.From = netip.MustParsePrefix("192.0.2.0/24") },
	} {
		c := Config{Racks: 1, Servers: 1, Dir: "x"}
		change(&c)
		if err := c.check(); protocol.CodeOf(err) != protocol.CodeInvalid {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := (&Config{Racks: 1, Servers: 1, Dir: "x", Load: Load{HubPID: 1 << 30}}).check(); protocol.CodeOf(err) != protocol.CodeNotFound {
		t.Errorf("a process that there is not: %v", err)
	}
	c := Config{Racks: 300, Servers: 1, Dir: "x", From: netip.MustParsePrefix("127.80.0.0/16")}
	if err := c.check(); err != nil {
		t.Fatal(err)
	}
	if at := c.from(); at[0].String() != "127.80.0.1:0" || at[299].String() != "127.80.1.44:0" {
		t.Errorf("addresses %v to %v", at[0], at[299])
	}
	c.Racks, c.Skip = 1, 299
	if at := c.from(); at[0].String() != "127.80.1.44:0" {
		t.Errorf("beside 299 others: %v", at)
	}
}

// No two resources of a fleet have what the hub takes once only.
func TestManifests(t *testing.T) {
	c := Config{Racks: 300, Servers: message.MaxServersPerShard, Image: "registry.example/os:1"}
	seen := map[string]bool{}
	for i := range c.Racks {
		for _, o := range append(c.manifests(i), c.claims(i)...) {
			if f := o.Validate(); len(f) > 0 {
				t.Fatalf("%s %s: %v", o.Head().Kind, o.Head().Metadata.Name, f)
			}
			keys := []string{string(o.Head().Kind) + o.Head().Metadata.Name}
			switch o := o.(type) {
			case *resource.BMC:
				keys = append(keys, o.Spec.Address)
			case *resource.Server:
				keys = append(keys, o.Spec.BootMAC)
			case *resource.Segment:
				keys = append(keys, o.Spec.Prefix)
			}
			for _, k := range keys {
				if seen[k] {
					t.Fatalf("%s twice", k)
				}
				seen[k] = true
			}
		}
	}
}
