//go:debug x509negativeserial=1

package certify_test

import (
	"context"
	"flag"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"rackboot/bmc"
	"rackboot/bmc/certify"
	"rackboot/bmc/redfish"
	"rackboot/bmc/sim"
	"rackboot/bmc/sim/hardware"
	"rackboot/integration/memnet"
	"rackboot/protocol"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const username, password = "operator-account", "correct horse"

// machine is a simulated machine in a bubble, and a driver of it.
type machine struct {
	*hardware.Simulated
	bmc    *sim.BMC
	driver bmc.Driver
}

func with(t *testing.T, p sim.Personality, test func(t *testing.T, m machine)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		l := memnet.Listen("bmc")
		m := machine{Simulated: hardware.NewSimulated(hardware.SimulatedConfig{Post: 20 * time.Second, Shutdown: 5 * time.Second, Order: []protocol.BootTarget{protocol.TargetHdd}})}
		m.Disk().Install("sha256:installed")
		var err error
		m.bmc, err = sim.New(sim.Config{Personality: p, Machine: m.Simulated, Username: username, Password: password, Listen: func() (net.Listener, error) { return l, nil }})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = m.bmc.Close() }()
		dialer, err := redfish.New(redfish.Config{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return l.Dial(ctx) }})
		if err != nil {
			t.Fatal(err)
		}
		m.driver, err = dialer.Open(bmc.Target{
			Server: "s1", Address: m.bmc.Address(), Fingerprint: m.bmc.Fingerprint(), LegacyTLS: p.Wire.OldTLS,
			Credentials: bmc.Credentials{Username: username, Password: password},
		})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = m.driver.Close() }()
		test(t, m)
	})
}

func (m machine) probe(t *testing.T) (protocol.Probe, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	return m.driver.(bmc.Prober).Probe(ctx, "")
}

// short is one cycle, as a test of all presets has room for.
var short = certify.Config{Settle: 10 * time.Second, Patience: time.Minute, Boot: time.Minute, Soft: time.Minute}

const presetsFile = "testdata/presets.txt"

var update = flag.Bool("update", false, "write "+presetsFile)

// TestPresets: what is found out about each preset is what the file says: checks that did not pass. None
// of it goes without words, and each machine is left as it was found.
func TestPresets(t *testing.T) {
	var got strings.Builder
	got.WriteString("# What rackctl bmc certify finds out about each preset of the simulator, besides what passes.\n# go test ./bmc/certify -update writes it; each line is a fact about the driver, or a fault of the BMC that must be named.\n")
	rows := map[string]string{}
	t.Run("all", func(t *testing.T) {
		for _, p := range sim.Presets() {
			t.Run(p.Name, func(t *testing.T) { rows[p.Name] = tried(t, p) })
		}
	})
	for _, p := range sim.Presets() {
		fmt.Fprintf(&got, "%s: %s\n", p.Name, rows[p.Name])
	}
	if *update {
		if err := os.WriteFile(presetsFile, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(presetsFile)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(want), "\n")
	for i, line := range strings.Split(got.String(), "\n") {
		if i >= len(lines) || lines[i] != line {
			t.Errorf("%s, line %d: found %q", presetsFile, i+1, line)
		}
	}
}

func tried(t *testing.T, p sim.Personality) (row string) {
	with(t, p, func(t *testing.T, m machine) {
		probe, err := m.probe(t)
		if err != nil {
			if protocol.HintOf(err) == "" {
				t.Errorf("no hint: %v", err)
			}
			row = "not read: " + string(protocol.CodeOf(err))
			return
		}
		r := certify.Run(t.Context(), m.driver, probe, short)
		for _, s := range r.Steps {
			if s.Words == "" {
				t.Errorf("%s %s is %s, without a word", s.Check, s.What, s.Outcome)
			}
			if s.Outcome.Fault() && s.Check != certify.CheckRead && s.Hint == "" {
				t.Errorf("%s %s is %s, without a hint: %s", s.Check, s.What, s.Outcome, s.Words)
			}
		}
		var not []string
		for _, l := range r.Lines {
			if worst := l.Worst(); worst != certify.Passed {
				not = append(not, strings.TrimSpace(string(l.Check)+" "+l.What)+" "+string(worst))
			}
		}
		row = strings.Join(not, ", ")
		if row == "" {
			row = "all passed"
		}
		time.Sleep(time.Minute) // there are BMCs that say Off before it is so
		if !slices.ContainsFunc(r.Lines, func(l certify.Line) bool { return l.Check == certify.CheckPutBack && l.Worst() != certify.Passed }) {
			if is := m.State(); is != hardware.Off {
				t.Errorf("the machine was Off, and is %s", is)
			}
		}
		if r.Passed() && m.bmc.Override().Armed() {
			t.Errorf("left armed: %+v", m.bmc.Override())
		}
	})
	return row
}

// preset is one of the simulator.
func preset(t *testing.T, name string) sim.Personality {
	t.Helper()
	p, ok := sim.Preset(name)
	if !ok {
		t.Fatalf("there is no preset %s", name)
	}
	return p
}

// TestAnHour: cycles go on for the time that was asked for, and what is kept of them has a bound.
func TestAnHour(t *testing.T) {
	with(t, sim.Plain(), func(t *testing.T, m machine) {
		probe, err := m.probe(t)
		if err != nil {
			t.Fatal(err)
		}
		c := short
		c.For = time.Hour
		r := certify.Run(t.Context(), m.driver, probe, c)
		if took := r.Ended.Sub(r.Began); r.Cycles < 20 || took < time.Hour || took > time.Hour+10*time.Minute || !r.Passed() {
			t.Errorf("%d cycles in %s: %s", r.Cycles, took, r.Markdown())
		}
		for _, l := range r.Lines {
			if l.Check == certify.CheckOn && (l.Count[certify.Passed] != 2*r.Cycles || l.Median <= 0 || l.Longest < l.Median) {
				t.Errorf("%+v", l)
			}
		}
		if len(r.Steps) > 10 || !strings.Contains(r.Markdown(), "Nothing was found") {
			t.Errorf("%d steps: %s", len(r.Steps), r.Markdown())
		}
	})
}

// TestInterrupted: whenever it is interrupted, nothing is left armed, the policy is what it was, and
// the machine is On again, as it was found.
func TestInterrupted(t *testing.T) {
	for after := time.Duration(0); after < 3*time.Minute; after += 7 * time.Second {
		t.Run(after.String(), func(t *testing.T) {
			with(t, preset(t, "RestoresLastState"), func(t *testing.T, m machine) {
				if err := m.driver.Reset(t.Context(), bmc.ResetOn); err != nil {
					t.Fatal(err)
				}
				time.Sleep(time.Minute)
				probe, err := m.probe(t)
				if err != nil {
					t.Fatal(err)
				}
				ctx, cancel := context.WithTimeout(t.Context(), after)
				defer cancel()
				r := certify.Run(ctx, m.driver, probe, short)
				if r.Before != protocol.PowerOn || r.After != protocol.PowerOn && after > 0 {
					t.Errorf("before %s, after %s", r.Before, r.After)
				}
				if m.bmc.Override().Armed() {
					t.Errorf("left armed: %+v", m.bmc.Override())
				}
				if is, err := m.driver.(bmc.RestorePolicer).RestorePolicy(t.Context()); err != nil || is != protocol.RestoreLastState {
					t.Errorf("the policy is %q, %v", is, err)
				}
				if o, err := m.driver.Observe(t.Context()); err != nil || o.Power != protocol.PowerOn {
					t.Errorf("the machine reads %s, %v", o.Power, err)
				}
			})
		})
	}
}

// TestMarkdown: what a BMC says stays in its cell.
func TestMarkdown(t *testing.T) {
	hostile := "a | b\n## c <script> `d`"
	r := certify.Report{
		Vendor: hostile, Model: hostile, System: hostile,
		Lines: []certify.Line{{Check: certify.CheckArm, What: hostile, Count: map[certify.Outcome]int{certify.Refused: 1}}},
		Steps: []certify.Step{{Check: certify.CheckArm, What: hostile, Outcome: certify.Refused, Words: hostile, Hint: hostile}},
	}
	for line := range strings.Lines(r.Markdown()) {
		if strings.Contains(line, "<") || strings.HasPrefix(line, "## c") || strings.HasPrefix(line, "| 00") && strings.Count(line, "|") != 7 {
			t.Errorf("%q", line)
		}
	}
	if r.Passed() {
		t.Error("a report without a cycle has passed")
	}
}
