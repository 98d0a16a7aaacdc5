package sim

import (
	"slices"
	"testing"

	"rackboot/bmc/sim/hardware"
	"rackboot/bmc/sim/tree"
	"rackboot/protocol"
)

// Two systems behind one BMC: each has its own power, override and machine.
func TestTwoHosts(t *testing.T) {
	first, second := hardware.NewSimulated(hardware.SimulatedConfig{Disk: installed()}), hardware.NewSimulated(hardware.SimulatedConfig{Disk: installed()})
	b, err := New(Config{Machine: first, More: []hardware.Machine{second}, Personality: Personality{Tree: tree.TwoHosts()}, Username: "u", Password: "p"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.Close() })
	u := userOf(t, b)
	u.machine = second
	hosts := b.Hosts()
	if len(hosts) != 2 || hosts[1].Machine() != second {
		t.Fatalf("%d hosts", len(hosts))
	}
	u.want(u.do("PATCH", hosts[1].URI(), `{"Boot":{"BootSourceOverrideTarget":"Hdd","BootSourceOverrideEnabled":"Once"}}`), 200, "")
	u.want(u.do("POST", hosts[1].URI()+"/Actions/ComputerSystem.Reset", `{"ResetType":"On"}`), 204, "")
	u.awaitMachine(hardware.Running)
	if hosts[0].PowerState() != protocol.PowerOff || first.State() != hardware.Off || hosts[0].Override().Armed() {
		t.Errorf("the first host is %s, %+v", hosts[0].PowerState(), hosts[0].Override())
	}
}

// Without a machine, a system of the tree stands as it is.
func TestHostWithoutAMachine(t *testing.T) {
	u := newUser(t, Personality{Tree: tree.TwoHosts()}, hardware.SimulatedConfig{})
	u.want(u.do("POST", tree.SystemsURI+"/2/Actions/ComputerSystem.Reset", `{"ResetType":"On"}`), 404, "Base.1.13.ResourceMissingAtURI")
	u.want(u.do("GET", tree.SystemsURI+"/2", ""), 200, "")
}

// The order counts without an override, and after one that fails.
func TestBootOrder(t *testing.T) {
	order := []protocol.BootTarget{protocol.TargetPxe, protocol.TargetHdd}
	u := newUser(t, Plain(), hardware.SimulatedConfig{Disk: installed(), Order: order})
	u.reset("On")
	u.awaitMachine(hardware.Running)
	if got := u.details(RecordConsumed); !slices.Equal(got, []string{"None"}) {
		t.Errorf("consumed %q", got)
	}
}
