package holds

import (
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"time"

	"rackboot/bmc/sim"
	"rackboot/protocol"
	protoapi "rackboot/protocol/api"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
	"rackboot/protocol/wire"
)

// step is one thing that happens. Exactly one of the fields is given.
type step struct {
	Hold     *holdStep     `yaml:"hold"`
	Release  *releaseStep  `yaml:"release"`
	Confirm  *confirmStep  `yaml:"confirm"`
	Firmware *firmwareStep `yaml:"firmware"`
	Annotate *annotateStep `yaml:"annotate"`
	Reboot   *rebootStep   `yaml:"reboot"`
	Cancel   string        `yaml:"cancel"` // a request, by its name in as
	Claim    *claimStep    `yaml:"claim"`
	// Replay gives the agent a hold document again: 0 is the last, 1 the one before.
	Replay *int `yaml:"replay"`
	// Tamper changes holds on their way to the agent, with the hub's signature: as a hub
	// of another version would have written them.
	Tamper *tamperStep   `yaml:"tamper"`
	Agent  string        `yaml:"agent"`  // stop, start, restart, freeze, thaw, or die at a crash point
	Hub    string        `yaml:"hub"`    // away, back
	Disk   string        `yaml:"disk"`   // the agent's: full, broken (nothing can be read), gone (at its next start), room
	Revoke bool          `yaml:"revoke"` // the agent, at the hub
	BMC    *bmcQuirks    `yaml:"bmc"`
	Fault  *faultStep    `yaml:"fault"`
	Heal   bool          `yaml:"heal"`  // the BMC's faults end
	Move   string        `yaml:"move"`  // the system has this path from now on
	Press  string        `yaml:"press"` // button, or external: another party that powers it on
	Mains  string        `yaml:"mains"` // lost, back
	Clock  time.Duration `yaml:"clock"` // the agent's clock is stepped
	Wait   time.Duration `yaml:"wait"`
	Mark   bool          `yaml:"mark"` // expect.after counts from here
	Until  *untilStep    `yaml:"until"`
	Expect *expect       `yaml:"expect"`
}

func (st step) kinds() (n int) {
	for _, v := range reflect.ValueOf(st).Fields() {
		if !v.IsZero() {
			n++
		}
	}
	return n
}

// holdStep places a hold. By is its owner, where it is not who calls the API.
type holdStep struct {
	Key                 string            `yaml:"key"`
	As                  string            `yaml:"as"` // name in the row, default the key
	By                  string            `yaml:"by"`
	Mode                resource.StopMode `yaml:"mode"`
	SoftTimeout         time.Duration     `yaml:"softTimeout"`
	TTL                 time.Duration     `yaml:"ttl"`
	OnExpiry            resource.OnExpiry `yaml:"onExpiry"`
	Reason              string            `yaml:"reason"`
	Ref                 string            `yaml:"ref"`
	ForceDuringFirmware bool              `yaml:"forceDuringFirmware"`
	Refused             protocol.Code     `yaml:"refused"`
	// Same says that it must be the hold of this name.
	Same string `yaml:"same"`
}

type releaseStep struct {
	Name       string        `yaml:"name"`
	By         string        `yaml:"by"`
	BreakGlass string        `yaml:"breakGlass"`
	Refused    protocol.Code `yaml:"refused"`
}

type confirmStep struct {
	Name    string        `yaml:"name"`
	By      string        `yaml:"by"`
	Reason  string        `yaml:"reason"`
	Refused protocol.Code `yaml:"refused"`
}

type firmwareStep struct {
	For    time.Duration `yaml:"for"` // 0 ends the mark
	Reason string        `yaml:"reason"`
}

type annotateStep struct {
	Annotation string        `yaml:"annotation"`
	Value      string        `yaml:"value"`
	As         string        `yaml:"as"`
	Refused    protocol.Code `yaml:"refused"`
}

type rebootStep struct {
	As       string                 `yaml:"as"`
	Action   resource.RequestAction `yaml:"action"`
	Mode     resource.StopMode      `yaml:"mode"`
	AnyPhase bool                   `yaml:"anyPhase"`
	Ref      string                 `yaml:"ref"`
	Within   time.Duration          `yaml:"within"` // until its notAfter
	Refused  protocol.Code          `yaml:"refused"`
	Same     string                 `yaml:"same"`
}

type claimStep struct {
	Power resource.Power `yaml:"power"` // On or Off; empty deletes the claim
	// ReleaseHolds is the reason why the holds go with it.
	ReleaseHolds string        `yaml:"releaseHolds"`
	By           string        `yaml:"by"`
	Refused      protocol.Code `yaml:"refused"`
}

type tamperStep struct {
	Mode     resource.StopMode `yaml:"mode"`
	OnExpiry resource.OnExpiry `yaml:"onExpiry"`
	Drop     bool              `yaml:"drop"` // the holds are missing
}

// faultStep changes answers of the BMC; without a path those to resets.
type faultStep struct {
	Method  string        `yaml:"method"`
	Path    string        `yaml:"path"`
	Status  int           `yaml:"status"`
	ID      string        `yaml:"id"`
	Delay   time.Duration `yaml:"delay"`
	Perform bool          `yaml:"perform"`
	Times   int           `yaml:"times"`
}

type untilStep struct {
	Within time.Duration `yaml:"within"`
	Is     expect        `yaml:"is"`
}

// do does one step. Its error is a problem of the row.
func (s *site) do(st step) error {
	switch {
	case st.Hold != nil:
		return s.hold(*st.Hold)
	case st.Release != nil:
		_, err := s.hub.by(st.Release.By).Holds.Release(s.ctx, s.id(st.Release.Name), protoapi.ReleaseRequest{BreakGlass: st.Release.BreakGlass})
		return refused("release", err, st.Release.Refused)
	case st.Confirm != nil:
		_, err := s.hub.by(st.Confirm.By).Holds.ConfirmDown(s.ctx, s.id(st.Confirm.Name), protoapi.ConfirmRequest{Reason: st.Confirm.Reason})
		return refused("confirm", err, st.Confirm.Refused)
	case st.Firmware != nil:
		_, err := s.hub.by("").Servers.Firmware(s.ctx, serverName, protoapi.FirmwareRequest{Reason: st.Firmware.Reason, For: protocol.Duration(st.Firmware.For)})
		return refused("firmware", err, "")
	case st.Annotate != nil:
		return s.annotate(*st.Annotate)
	case st.Reboot != nil:
		return s.reboot(*st.Reboot)
	case st.Cancel != "":
		_, err := s.hub.by("").Requests.Cancel(s.ctx, s.requests[st.Cancel])
		return err
	case st.Claim != nil:
		return s.changeClaim(*st.Claim)
	case st.Replay != nil:
		return s.net.replay(*st.Replay)
	case st.Tamper != nil:
		s.tamper(*st.Tamper)
	case st.Agent != "":
		s.agentStep(st.Agent)
	case st.Hub == "away":
		s.net.cut()
	case st.Hub == "back":
		s.net.heal()
	case st.Disk == "full", st.Disk == "broken", st.Disk == "gone":
		s.agent.befall(st.Disk)
	case st.Disk == "room":
		s.agent.befall("")
	case st.Revoke:
		_, err := s.hub.control.Members.Revoke(s.ctx, s.agent.name, protoapi.EndRequest{Reason: "it is elsewhere"}, "admin")
		return refused("revoke", err, "")
	case st.BMC != nil, st.Fault != nil, st.Heal, st.Move != "", st.Press != "", st.Mains != "":
		return s.doBMC(st)
	case st.Clock != 0:
		s.clock.step(st.Clock)
	case st.Wait != 0:
		s.wait(st.Wait)
	case st.Mark:
		s.mark = time.Now()
	default:
		return fmt.Errorf("the step %+v does nothing", st)
	}
	return nil
}

func (s *site) doBMC(st step) error {
	switch {
	case st.BMC != nil:
		s.bmc.Adjust(st.BMC.change)
		if st.BMC.Reach != "" {
			return s.bmc.SetReach(st.BMC.Reach)
		}
	case st.Fault != nil:
		f := *st.Fault
		if f.Path == "" {
			f.Method, f.Path = http.MethodPost, "/Actions/ComputerSystem.Reset"
		}
		s.bmc.Inject(sim.Fault{Method: f.Method, Path: f.Path, Status: f.Status, MessageID: f.ID, Delay: f.Delay, Perform: f.Perform, Times: f.Times})
	case st.Heal:
		s.bmc.ClearFaults()
	case st.Move != "":
		s.bmc.MoveSystem(st.Move)
	case st.Press == "button":
		s.bmc.PressPowerButton()
	case st.Press == "external":
		s.bmc.ExternalOn()
	case st.Mains == "lost":
		return s.bmc.PullPower()
	case st.Mains == "back":
		return s.bmc.RestorePower()
	default:
		return fmt.Errorf("press %q, mains %q", st.Press, st.Mains)
	}
	return nil
}

// refused compares what became of a call with what was expected.
func refused(what string, err error, want protocol.Code) error {
	if got := protocol.CodeOf(err); got != want {
		return fmt.Errorf("%s: the hub answered %q, want %q: %w", what, got, want, err)
	}
	return nil
}

// id is the hold's or request's of a name.
func (s *site) id(name string) string {
	if id, ok := s.holds[name]; ok {
		return id
	}
	return name
}

func (s *site) hold(h holdStep) error {
	hold, err := s.hub.by(h.By).Holds.Create(s.ctx, serverName, protoapi.HoldRequest{
		HoldTerms: resource.HoldTerms{Key: h.Key, Mode: h.Mode, SoftTimeout: protocol.Duration(h.SoftTimeout), Reason: h.Reason, Ref: h.Ref, TTL: protocol.Duration(h.TTL), OnExpiry: h.OnExpiry, ForceDuringFirmware: h.ForceDuringFirmware},
	})
	if problem := refused("hold", err, h.Refused); problem != nil || err != nil {
		return problem
	}
	name := h.As
	if name == "" {
		name = h.Key
	}
	if h.Same != "" && s.holds[h.Same] != hold.Metadata.Name {
		return fmt.Errorf("hold %s is %s, not the same as %s", name, hold.Metadata.Name, s.holds[h.Same])
	}
	s.holds[name] = hold.Metadata.Name
	return nil
}

func (s *site) annotate(a annotateStep) error {
	out, err := s.hub.by("").Objects.Annotate(s.ctx, resource.KindServer, serverName, protoapi.AnnotationRequest{Annotation: a.Annotation, Value: a.Value})
	if problem := refused("annotate", err, a.Refused); problem != nil || err != nil {
		return problem
	}
	switch {
	case out.Hold != nil:
		s.holds[a.As] = out.Hold.Metadata.Name
	case out.Request != nil:
		s.requests[a.As] = out.Request.ID
	default:
		return errors.New("the annotation became nothing")
	}
	return nil
}

func (s *site) reboot(r rebootStep) error {
	q := protoapi.RebootRequest{Action: r.Action, Mode: r.Mode, AnyPhase: r.AnyPhase, Ref: r.Ref}
	if r.Within != 0 {
		at := time.Now().Add(r.Within)
		q.NotAfter = &at
	}
	out, err := s.hub.by("").Requests.Reboot(s.ctx, serverName, q)
	if problem := refused("reboot", err, r.Refused); problem != nil || err != nil {
		return problem
	}
	if r.Same != "" && s.requests[r.Same] != out.ID {
		return fmt.Errorf("request %s is %s, not the same as %s", r.As, out.ID, s.requests[r.Same])
	}
	s.requests[r.As] = out.ID
	return nil
}

func (s *site) changeClaim(c claimStep) error {
	if c.Power != "" {
		s.claim(c.Power)
		return nil
	}
	_, err := s.hub.by(c.By).Objects.DeleteClaim(s.ctx, claimName, c.ReleaseHolds)
	return refused("delete the claim", err, c.Refused)
}

func (s *site) agentStep(what string) {
	switch what {
	case "stop":
		s.agent.stop()
	case "start":
		s.agent.stop()
		s.agent.start()
	case "restart":
		s.agent.stop()
		s.agent.start()
	case "freeze", "thaw":
		s.agent.still.set(what == "freeze")
	default: // a crash point
		s.agent.crash = what
	}
}

// tamper changes every hold document from now on, and signs it again.
func (s *site) tamper(t tamperStep) {
	verifier := wire.NewVerifier(s.hubSigner.Public())
	s.net.mu.Lock()
	defer s.net.mu.Unlock()
	s.net.tamper = func(m packet) (packet, error) {
		var d message.HoldDoc
		if err := wire.Open(verifier, m.topic, m.payload, &d); err != nil {
			return m, err
		}
		for i := range d.Holds {
			if t.Mode != "" {
				d.Holds[i].Mode = t.Mode
			}
			if t.OnExpiry != "" {
				d.Holds[i].TTL, d.Holds[i].OnExpiry = protocol.Duration(5*time.Minute), t.OnExpiry
			}
		}
		if t.Drop {
			d.Holds = nil
		}
		raw, err := wire.Seal(s.hubSigner, m.topic, d)
		return packet{m.topic, raw}, err
	}
}
