package exporter

import (
	"math/rand/v2"
	"slices"
	"time"

	"rackboot/hub/inventory"
	"rackboot/hub/plan"
	"rackboot/hub/status"
	"rackboot/hub/store"
	"rackboot/hub/view"
	"rackboot/hub/wake"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// renewEvery is how old rows become of which nothing was written or heard, at most; each rack's get less old by up
// to a half, so that no scrape makes those of all racks. Time alone changes little in them: what
// a read or an agent's silence makes of a server is looked at in each scrape.
const renewEvery = 5 * time.Minute

// inNone is the rack of servers whose BMC is not there.
const inNone = ""

// rackRows are the rows of a rack's servers, and its BMCs by state.
type rackRows struct {
	changes uint64 // of what is stored, before they were made
	silent  bool   // its agent was, when they were made
	made    time.Time
	until   time.Time // when they are too old
	rows    []*row
	names   []string // of the rows' servers
	bmcs    map[resource.BMCState]int
}

// row is what is said of a server, but for what time alone changes.
type row struct {
	server  string
	phase   resource.Phase
	power   protocol.PowerState
	attempt attempt
	claim   string
	bound   bool // by a claim, whoever has it now
	env     string
	boot    *resource.BootConfiguration // of its claim, shared; nil without one
	class   resource.EvidenceClass
	proved  resource.EvidenceClass // of boot
	awaits  *resource.Wait
	codes   []resource.ConditionCode // each once, without those that time alone makes
}

// attempt is what is said of the last one; state is empty without any.
type attempt struct {
	state              resource.AttemptState
	since              time.Time
	intended, observed protocol.BootTarget
}

// rowsOf are the rows of a rack; silent is that its agent is.
func (r *Room) rowsOf(rack string, silent bool, now time.Time) *rackRows {
	told, changes := r.heard(rack), uint64(0) // who is in no rack is looked for each minute: it goes over everything
	if rack != inNone {
		changes = r.cfg.Store.Changes(rack)
	}
	k := r.kept[rack]
	if k != nil && !told && k.changes == changes && k.silent == silent && now.Before(k.until) && !now.Before(k.made) {
		return k
	}
	k = &rackRows{changes: changes, silent: silent, made: now, until: now.Add(renewEvery - rand.N(renewEvery/2)), bmcs: map[resource.BMCState]int{}}
	of := view.Of(wake.RackUnit(rack))
	if rack == inNone {
		of = view.View{Fleet: plan.Fleet{Of: view.Outside}, All: true}
		k.until = now.Add(time.Minute)
	}
	f := r.cfg.View.Look(of).Fleet
	f.Now = now
	for _, s := range f.Servers {
		k.rows, k.names = append(k.rows, r.rowOf(f, s)), append(k.names, s.Metadata.Name)
	}
	if rack != inNone {
		for _, b := range store.Referring[*resource.BMC](r.cfg.Store.Objects, resource.KindRack, rack) {
			k.bmcs[inventory.StateOf(b)]++
		}
	}
	r.kept[rack] = k
	return k
}

// rowOf is the row of a server of a fleet.
func (r *Room) rowOf(f plan.Fleet, stored *resource.Server) *row {
	s := *stored
	r.cfg.Status.DecorateIn(f, &s)
	out := &row{
		server: s.Metadata.Name, phase: s.Status.Phase, power: protocol.PowerUnknown, claim: s.Status.Claim, env: s.Status.BootEnv,
		class: s.Status.EvidenceClass,
	}
	for _, code := range codesOf(s.Status.Conditions) {
		if code != resource.CondStale && code != resource.CondDark {
			out.codes = append(out.codes, code)
		}
	}
	if cl := f.ClaimOf(out.server); cl != nil {
		out.bound, out.boot = true, f.ConfigOf(cl)
		if out.boot != nil {
			out.proved = status.ClassOf(out.boot)
		}
	}
	if report := s.Status.Report; report != nil {
		out.power, out.awaits = report.Observation.Power, report.Awaits
		if a := report.Attempt; a != nil {
			out.attempt = attempt{a.State, a.Since, a.Intended, a.Observed}
		}
	}
	return out
}

// codesOf are the codes of conditions, each once.
func codesOf(conds []resource.ConditionState) (out []resource.ConditionCode) {
	for _, c := range conds {
		if !slices.Contains(out, c.Code) {
			out = append(out, c.Code)
		}
	}
	return out
}
