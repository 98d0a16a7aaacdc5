package holds

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"

	"rackboot/bmc/sim"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// row is one vector.
type row struct {
	ID     string `yaml:"id"`
	Title  string `yaml:"title"`
	Source string `yaml:"source"`
	// Peer is what the peer does, Ours what we do; Differs why, where that is not the
	// same, or where there is no such thing with us.
	Peer    string `yaml:"peer"`
	Ours    string `yaml:"ours"`
	Differs string `yaml:"differs"`
	Given   given  `yaml:"given"`
	Steps   []step `yaml:"steps"`
	// Expect is how it stands at the end.
	Expect expect `yaml:"expect"`
}

// given is how it stands at the beginning.
type given struct {
	Power protocol.PowerState `yaml:"power"` // On or Off
	Claim resource.Power      `yaml:"claim"` // what a claim wants; empty for no claim
	// FirstBoot begins with the claim's first boot under way; else its system is
	// installed.
	FirstBoot    bool          `yaml:"firstBoot"`
	SoftTimeout  time.Duration `yaml:"softTimeout"` // of the rack; 180 s
	SettleWindow time.Duration `yaml:"settleWindow"`
	// DisablePowerOff is that of the Server.
	DisablePowerOff bool `yaml:"disablePowerOff"`
	// KeepRestore is keepPowerRestorePolicy of the Server.
	KeepRestore bool      `yaml:"keepPowerRestorePolicy"`
	BMC         bmcQuirks `yaml:"bmc"`
}

// bmcQuirks are how the BMC behaves. Everything but the preset can be changed by a step.
type bmcQuirks struct {
	Preset          string         `yaml:"preset"`
	IgnoreGraceful  *bool          `yaml:"ignoreGraceful"`
	HangPoweringOff *bool          `yaml:"hangPoweringOff"`
	Silent          *bool          `yaml:"silent"` // sends no events
	DropOns         *int           `yaml:"dropOns"`
	RefuseOnFor     *time.Duration `yaml:"refuseOnFor"`
	RefuseReset     *string        `yaml:"refuseReset"`
	OnDelay         *time.Duration `yaml:"onDelay"`
	OnLate          *time.Duration `yaml:"onLate"`
	Shown           map[string]any `yaml:"shown"`   // other words for power states
	Restore         string         `yaml:"restore"` // policy when mains power returns
	Reach           sim.Reach      `yaml:"reach"`
	IgnoreForce     *bool          `yaml:"ignoreForce"` // ForceOff is taken, and nothing done
	TaskFails       *bool          `yaml:"taskFails"`   // resets are Tasks that fail
	Absent          *bool          `yaml:"absent"`      // PowerState is left out
	Cut             *bool          `yaml:"cut"`         // reads are half a JSON object
	Short           *bool          `yaml:"short"`       // likewise, with the length of the whole
	Drip            *time.Duration `yaml:"drip"`        // between two bytes of a read
	NoTag           *bool          `yaml:"noTag"`       // every If-Match is refused, and none too
	Keeps           *bool          `yaml:"keeps"`       // no override is taken away
	Clock           *time.Duration `yaml:"clock"`       // of the BMC, ahead of what is so
}

func (q bmcQuirks) noEvents() bool { return q.Silent != nil && *q.Silent }

func (q bmcQuirks) personality() (sim.Personality, error) {
	p := sim.Plain()
	if q.Preset != "" {
		i := slices.IndexFunc(sim.Presets(), func(p sim.Personality) bool { return p.Name == q.Preset })
		if i < 0 {
			return p, fmt.Errorf("no preset %q", q.Preset)
		}
		p = sim.Presets()[i]
	}
	p.PowerOnDelay = onDelay
	if p.PowerOffDelay < offDelay {
		p.PowerOffDelay = offDelay
	}
	q.change(&p)
	return p, nil
}

// change puts what is given into a personality.
func (q bmcQuirks) change(p *sim.Personality) {
	set(&p.IgnoreGraceful, q.IgnoreGraceful)
	set(&p.HangPoweringOff, q.HangPoweringOff)
	set(&p.Event.Silent, q.Silent)
	set(&p.DropOns, q.DropOns)
	set(&p.RefuseOnFor, q.RefuseOnFor)
	set(&p.Power.RefuseReset, q.RefuseReset)
	set(&p.PowerOnDelay, q.OnDelay)
	set(&p.Power.OnLate, q.OnLate)
	set(&p.Power.IgnoreForce, q.IgnoreForce)
	set(&p.Power.TaskFails, q.TaskFails)
	set(&p.Power.Absent, q.Absent)
	set(&p.Wire.Malformed, q.Cut)
	set(&p.Wire.Short, q.Short)
	set(&p.Wire.Drip, q.Drip)
	set(&p.Report.Clock, q.Clock)
	if q.NoTag != nil {
		p.ETag.Match = map[bool]sim.Match{true: sim.MatchNever}[*q.NoTag]
	}
	if q.Keeps != nil {
		p.Boot.RefuseEnabled, p.Boot.RefuseTargets = "Disabled", []string{"None", "Hdd"}
	}
	if q.Shown != nil {
		p.Power.Shown = q.Shown
	}
	if q.Restore != "" {
		p.Restore = sim.RestorePolicy(q.Restore)
	}
}

func set[T any](to, from *T) {
	if from != nil {
		*to = *from
	}
}

// load reads a file of rows, strictly.
func load(name string, rows any) error {
	raw, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		return err
	}
	return decode(raw, rows)
}

func decode(raw []byte, rows any) error {
	d := yaml.NewDecoder(bytes.NewReader(raw), yaml.Strict())
	if err := d.Decode(rows); err != nil {
		return errors.New(yaml.FormatError(err, false, true))
	}
	if err := d.Decode(new(any)); !errors.Is(err, io.EOF) {
		return errors.New("more than one document")
	}
	return nil
}

// check says what is wrong with a row before it is run.
func (r row) check() error {
	var wrong []error
	bad := func(format string, args ...any) {
		wrong = append(wrong, fmt.Errorf("%s: "+format, append([]any{r.ID}, args...)...))
	}
	for name, text := range map[string]string{"title": r.Title, "source": r.Source, "peer": r.Peer, "ours": r.Ours} {
		if strings.TrimSpace(text) == "" {
			bad("%s is empty", name)
		}
	}
	if r.Given.Power != protocol.PowerOn && r.Given.Power != protocol.PowerOff {
		bad("given.power is %q", r.Given.Power)
	}
	if r.Given.FirstBoot && (r.Given.Claim != resource.WantOn || r.Given.Power != protocol.PowerOn) {
		bad("a first boot is under way with a claim that wants On, in a server that is On")
	}
	if len(r.Steps) == 0 {
		bad("nothing happens")
	}
	for i, st := range r.Steps {
		if n := st.kinds(); n != 1 {
			bad("step %d has %d things in it, want one", i+1, n)
		}
	}
	if r.Expect.Orders == nil {
		bad("expect.orders is missing: an empty list says that nothing is sent")
	}
	if len(r.Expect.mutants()) < 2 {
		bad("nothing but the orders is expected at the end")
	}
	return errors.Join(wrong...)
}

// section is a numbered list of the facts.
type section struct {
	prefix string
	last   int
	file   string
}

func sections() []section {
	return []section{{"B", 31, "b.yaml"}, {"P", 23, "p.yaml"}, {"R", 14, "r.yaml"}, {"V", 24, "v.yaml"}, {"W", 6, "w.yaml"}, {"G", 3, "g.yaml"}, {"M", 11, "m.yaml"}}
}

// complete says which ids of a section are missing, twice there or not of it.
func (s section) complete(rows []row) error {
	var wrong []error
	seen := map[string]int{}
	for _, r := range rows {
		seen[r.ID]++
	}
	for i := 1; i <= s.last; i++ {
		id := fmt.Sprintf("%s%d", s.prefix, i)
		if seen[id] != 1 {
			wrong = append(wrong, fmt.Errorf("%s: %s is there %d times", s.file, id, seen[id]))
		}
		delete(seen, id)
	}
	for id, n := range seen {
		// Further rows of a number have a letter after it.
		first := strings.TrimRight(id, "bcdef")
		if number, err := strconv.Atoi(strings.TrimPrefix(first, s.prefix)); err != nil || number > s.last || number < 1 || first == id || n != 1 {
			wrong = append(wrong, fmt.Errorf("%s: %q is not in the list, or there %d times", s.file, id, n))
		}
	}
	return errors.Join(wrong...)
}

// rows are those of a section, checked.
func (s section) rows(t *testing.T) []row {
	t.Helper()
	var rows []row
	if err := load(s.file, &rows); err != nil {
		t.Errorf("%s: %v", s.file, err)
	}
	wrong := []error{s.complete(rows)}
	for _, r := range rows {
		wrong = append(wrong, r.check())
	}
	if err := errors.Join(wrong...); err != nil {
		t.Error(err)
	}
	return rows
}

func TestVectors(t *testing.T) {
	for _, s := range sections() {
		for _, r := range s.rows(t) {
			t.Run(r.ID, func(t *testing.T) {
				t.Parallel()
				for _, problem := range play(t, r) {
					t.Error(problem)
				}
			})
		}
	}
}
