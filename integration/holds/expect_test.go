package holds

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"rackboot/bmc/sim"
	"rackboot/bmc/sim/hardware"
	"rackboot/protocol"
	protoapi "rackboot/protocol/api"
	"rackboot/protocol/resource"
)

// expect is how it stands. What is left out is not looked at.
type expect struct {
	// Orders are all resets that the agent has sent since the row began, whatever the
	// BMC answered. "ForceOff+" is one or more.
	Orders []string `yaml:"orders"`
	// Accepted are those that the BMC took.
	Accepted []string `yaml:"accepted"`
	// After is how long after the mark the first order of a kind was sent: "0s..5s".
	After map[string]string `yaml:"after"`
	// AtMost bounds how many orders of a kind were sent.
	AtMost map[string]int `yaml:"atMost"`
	// Power is what the BMC holds; Machine whether the server runs, whatever it says.
	Power   protocol.PowerState `yaml:"power"`
	Machine hardware.State      `yaml:"machine"`
	// Read is what the agent has read last.
	Read  protocol.PowerState `yaml:"read"`
	Holds map[string]holdIs   `yaml:"holds"`
	Gone  []string            `yaml:"gone"` // holds that the hub has no more
	// Epoch is how often the server came on.
	Epoch      *uint64                         `yaml:"epoch"`
	Events     map[resource.EventCode]int      `yaml:"events"`
	Conditions map[resource.ConditionCode]bool `yaml:"conditions"`
	Requests   map[string]requestIs            `yaml:"requests"`
	Restore    protocol.RestorePolicy          `yaml:"restore"` // that the BMC has
	Armed      *bool                           `yaml:"armed"`   // a boot override
	Phase      resource.Phase                  `yaml:"phase"`
	// Claim is bound, going or gone.
	Claim string `yaml:"claim"`
}

// holdIs is how a hold stands, as the hub prints it.
type holdIs struct {
	Word  resource.HoldWord  `yaml:"word"`
	State resource.HoldState `yaml:"state"`
	// Receipt is whether there is a proof that was made of reads.
	Receipt *bool `yaml:"receipt"`
	// Manual is whether there is an operator's word instead.
	Manual *bool `yaml:"manual"`
	// Waited is how long the receipt says that an On was waited for.
	Waited *time.Duration `yaml:"waited"`
	// Guarded is whether the receipt says that mains power does not start the server.
	Guarded *bool `yaml:"guarded"`
	// Stale is whether the hub says that the read it rests on is old.
	Stale *bool `yaml:"stale"`
	// Message is in why it is not further, or who released it and why.
	Message string            `yaml:"message"`
	Expired *bool             `yaml:"expired"`
	Mode    resource.StopMode `yaml:"mode"`
	Ref     string            `yaml:"ref"`
}

type requestIs struct {
	Outcome resource.Outcome  `yaml:"outcome"`
	Reason  string            `yaml:"reason"` // is in it
	Mode    resource.StopMode `yaml:"mode"`
}

// state is everything that can be expected, at one moment.
type state struct {
	orders, accepted []string
	firsts           map[string]time.Duration
	power, read      protocol.PowerState
	machine          hardware.State
	holds            map[string]*resource.Hold
	epoch            uint64
	events           map[resource.EventCode]int
	conditions       map[resource.ConditionCode]string
	requests         map[string]protoapi.RequestStatus
	restore          protocol.RestorePolicy
	armed            bool
	phase            resource.Phase
	claim            string
}

// look takes the state.
func (s *site) look() (*state, error) {
	st := &state{
		firsts: map[string]time.Duration{}, holds: map[string]*resource.Hold{}, events: map[resource.EventCode]int{},
		conditions: map[resource.ConditionCode]string{}, requests: map[string]protoapi.RequestStatus{},
		power: s.bmc.PowerState(), machine: s.machine.State(), armed: s.bmc.Override().Armed(), claim: "gone",
		restore: protocol.RestorePolicy(s.bmc.Hosts()[0].RestorePolicy()),
	}
	for _, o := range s.agent.orders.since(s.base.orders) {
		st.orders = append(st.orders, o.kind)
		if _, had := st.firsts[o.kind]; !had && !o.at.Before(s.mark) {
			st.firsts[o.kind] = o.at.Sub(s.mark)
		}
	}
	for _, h := range s.bmc.History()[s.base.history:] {
		if h.What == sim.RecordReset {
			st.accepted = append(st.accepted, h.Detail)
		}
	}
	sv := s.server()
	st.phase = sv.Status.Phase
	for _, c := range sv.Status.Conditions {
		st.conditions[c.Code] = c.Message
	}
	if r := sv.Status.Report; r != nil {
		st.read, st.epoch = r.Observation.Power, r.PowerEpoch-s.base.epoch
	}
	for _, e := range s.hub.control.Events.After(s.base.events, 1<<20) {
		st.events[e.Code]++
	}
	for name, id := range s.holds {
		h, err := protoapi.Get[*resource.Hold](s.ctx, s.hub.by(""), id)
		if err != nil && protocol.CodeOf(err) != protocol.CodeNotFound {
			return nil, err
		}
		if err == nil {
			st.holds[name] = h
		}
	}
	for name, id := range s.requests {
		r, err := s.hub.by("").Requests.Get(s.ctx, id)
		if err != nil {
			return nil, err
		}
		st.requests[name] = r
	}
	c, err := protoapi.Get[*resource.Claim](s.ctx, s.hub.by(""), claimName)
	switch {
	case err == nil && c.Metadata.DeletedAt != nil:
		st.claim = "going"
	case err == nil:
		st.claim = "bound"
	case protocol.CodeOf(err) != protocol.CodeNotFound:
		return nil, err
	}
	return st, nil
}

// compare says what is not as expected.
func (e expect) compare(st *state) (wrong []string) {
	bad := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	if e.Orders != nil && !inOrder(e.Orders, st.orders) {
		bad("orders %v, want %v", st.orders, e.Orders)
	}
	if e.Accepted != nil && !inOrder(e.Accepted, st.accepted) {
		bad("resets that the BMC took %v, want %v", st.accepted, e.Accepted)
	}
	for kind, span := range e.After {
		if why := within(st.firsts, kind, span); why != "" {
			bad("%s", why)
		}
	}
	for kind, most := range e.AtMost {
		if n := count(st.orders, kind); n > most {
			bad("%d orders %s, want at most %d", n, kind, most)
		}
	}
	is(bad, "power", st.power, e.Power)
	is(bad, "read power", st.read, e.Read)
	is(bad, "machine", st.machine, e.Machine)
	is(bad, "restore policy", st.restore, e.Restore)
	is(bad, "phase", st.phase, e.Phase)
	is(bad, "claim", st.claim, e.Claim)
	same(bad, "epoch", st.epoch, e.Epoch)
	same(bad, "armed", st.armed, e.Armed)
	for code, want := range e.Events {
		if got := st.events[code]; got != want {
			bad("%d events %s, want %d; there are %v", got, code, want, st.events)
		}
	}
	for code, want := range e.Conditions {
		if text, got := st.conditions[code]; got != want {
			bad("condition %s is %t (%s), want %t; there are %v", code, got, text, want, st.conditions)
		}
	}
	for name, want := range e.Holds {
		want.compare(name, st.holds[name], bad)
	}
	for _, name := range e.Gone {
		if st.holds[name] != nil {
			bad("hold %s is still there", name)
		}
	}
	for name, want := range e.Requests {
		want.compare(name, st.requests[name], bad)
	}
	return wrong
}

func (want holdIs) compare(name string, h *resource.Hold, bad func(string, ...any)) {
	if h == nil {
		bad("hold %s is gone", name)
		return
	}
	got, r := h.Status, h.Status.Receipt
	is(bad, name+": word", got.Word, want.Word)
	is(bad, name+": state", got.State, want.State)
	is(bad, name+": mode", h.Spec.Mode, want.Mode)
	is(bad, name+": ref", h.Spec.Ref, want.Ref)
	same(bad, name+": receipt", r != nil && r.Manual == nil && r.Reads >= 2 && r.ConfirmedAt.After(r.EnforcedAt), want.Receipt)
	same(bad, name+": manual", r != nil && r.Manual != nil && r.Reads == 0, want.Manual)
	waited := time.Duration(0)
	if r != nil {
		waited = r.OnWaited
	}
	same(bad, name+": waited", waited, want.Waited)
	same(bad, name+": guarded", r != nil && r.RestorePolicy == protocol.RestoreAlwaysOff, want.Guarded)
	same(bad, name+": stale", got.Stale, want.Stale)
	same(bad, name+": expired", got.ExpiredAt != nil, want.Expired)
	if text := got.Message + " " + got.ReleasedBy + " " + got.ReleaseReason; !strings.Contains(text, want.Message) {
		bad("%s: message %q, want %q", name, text, want.Message)
	}
}

func (want requestIs) compare(name string, r protoapi.RequestStatus, bad func(string, ...any)) {
	is(bad, name+": outcome", r.Report.Outcome, want.Outcome)
	is(bad, name+": mode", r.Mode, want.Mode)
	if !strings.Contains(r.Report.Reason, want.Reason) {
		bad("%s: reason %q, want %q", name, r.Report.Reason, want.Reason)
	}
}

func count(list []string, want string) (n int) {
	for _, s := range list {
		if s == want {
			n++
		}
	}
	return n
}

// is compares what was asked about.
func is[T ~string](bad func(string, ...any), what string, got, want T) {
	if want != "" && got != want {
		bad("%s is %q, want %q", what, got, want)
	}
}

func same[T comparable](bad func(string, ...any), what string, got T, want *T) {
	if want != nil && got != *want {
		bad("%s is %v, want %v", what, got, *want)
	}
}

// inOrder compares lists; an entry with a plus stands for one or more.
func inOrder(want, got []string) bool {
	for _, w := range want {
		name, many := strings.CutSuffix(w, "+")
		if len(got) == 0 || got[0] != name {
			return false
		}
		got = got[1:]
		for many && len(got) > 0 && got[0] == name {
			got = got[1:]
		}
	}
	return len(got) == 0
}

// within says why an order did not come in its time.
func within(firsts map[string]time.Duration, kind, span string) string {
	from, to, _ := strings.Cut(span, "..")
	least, err1 := time.ParseDuration(from)
	most, err2 := time.ParseDuration(to)
	if err1 != nil || err2 != nil || least > most {
		return fmt.Sprintf("after.%s: %q is no span such as 0s..5s", kind, span)
	}
	at, sent := firsts[kind]
	if !sent || at < least || at > most {
		return fmt.Sprintf("%s sent %t after %s, want within %s", kind, sent, at, span)
	}
	return ""
}

// check compares the state with the expectation, and with everything that it must not
// be: an expectation that holds whatever happens is a problem of the row.
func (s *site) check(e expect) []string {
	s.wait(time.Second) // for the last report
	st, err := s.look()
	if err != nil {
		return []string{err.Error()}
	}
	wrong := e.compare(st)
	if len(wrong) > 0 {
		return append(wrong, s.story())
	}
	for what, m := range e.mutants() {
		if len(m.compare(st)) == 0 {
			wrong = append(wrong, "the expectation cannot fail: "+what)
		}
	}
	slices.Sort(wrong)
	return wrong
}
