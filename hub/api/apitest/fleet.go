package apitest

import (
	"context"
	"sync"
	"time"

	"rackboot/hub/store"
	"rackboot/protocol"
	protoapi "rackboot/protocol/api"
	"rackboot/protocol/resource"
)

// CannedFleet is a hub/api.Fleet that knows what the test told it and nothing
// else. It is safe for concurrent use.
type CannedFleet struct {
	mu        sync.Mutex
	servers   map[string]resource.ServerStatus
	holds     map[string]resource.HoldStatus // by key
	claims    map[string]resource.ClaimStatus
	bmcs      map[string]resource.BMCStatus
	probes    map[string][]protocol.Probe    // by BMC
	failure   error                          // of Probe
	traces    map[string][]resource.Trace    // by server
	reads     map[string]resource.ServerRead // by server
	events    []protoapi.EventRecord
	unsettled bool
	token     string
	isos      map[string]map[string]bool // digests by agent
	Broken    bool                       // Decorate panics
	// Store is what is accepted in; New sets it.
	Store *store.Store
}

// SetServer says what Decorate fills for a server.
func (f *CannedFleet) SetServer(name string, s resource.ServerStatus) {
	f.mu.Lock()
	defer f.mu.Unlock()
	set(&f.servers, name, s)
}

// SetHold says what Decorate fills for holds with a key, while not released.
func (f *CannedFleet) SetHold(key string, s resource.HoldStatus) {
	f.mu.Lock()
	defer f.mu.Unlock()
	set(&f.holds, key, s)
}

// SetClaim says what Decorate fills for a claim.
func (f *CannedFleet) SetClaim(name string, s resource.ClaimStatus) {
	f.mu.Lock()
	defer f.mu.Unlock()
	set(&f.claims, name, s)
}

// SetBMC says what Decorate fills for a BMC, besides its state.
func (f *CannedFleet) SetBMC(name string, s resource.BMCStatus) {
	f.mu.Lock()
	defer f.mu.Unlock()
	set(&f.bmcs, name, s)
}

// SetProbe says what Probe finds out; an error fails it.
func (f *CannedFleet) SetProbe(bmc string, probes []protocol.Probe, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	set(&f.probes, bmc, probes)
	f.failure = err
}

// AddEvent appends an event of agent a1.
func (f *CannedFleet) AddEvent(server string, code resource.ConditionCode, message string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := uint64(len(f.events) + 1)
	f.events = append(f.events, protoapi.EventRecord{Agent: "a1", Index: n, Event: resource.Event{
		Seq: n, At: Now(), Server: server, Code: resource.EventCode(code), Message: message,
	}})
}

func set[T any](m *map[string]T, key string, v T) {
	if *m == nil {
		*m = map[string]T{}
	}
	(*m)[key] = v
}

// takeRequests has the agent say that it has taken all that was asked of a server.
func takeRequests(f *CannedFleet, s *resource.Server) {
	if f.Store == nil {
		return
	}
	for _, q := range f.Store.Requests.Open() {
		if q.Server != s.Metadata.Name {
			continue
		}
		if s.Status.Report == nil {
			s.Status.Report = &resource.ServerReport{Server: s.Metadata.Name}
		}
		s.Status.Report.Requests = append(s.Status.Report.Requests, q.Report)
	}
}

// Decorate implements Fleet.
func (f *CannedFleet) Decorate(obj resource.Object) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.Broken {
		panic("broken fleet")
	}
	switch o := obj.(type) {
	case *resource.Server:
		stored := o.Status
		o.Status = f.servers[o.Metadata.Name]
		o.Status.AcceptedIdentity, o.Status.ForgetTPM, o.Status.Firmware, o.Status.Reboots = stored.AcceptedIdentity, stored.ForgetTPM, stored.Firmware, stored.Reboots
		o.Status.Settings = stored.Settings.Bare()
		o.Status.Architecture, o.Status.HeardArchitecture, o.Status.SharedMACs = stored.Architecture, stored.HeardArchitecture, stored.SharedMACs
		takeRequests(f, o)
		if stored.Discovered != nil {
			o.Status.Discovered = stored.Discovered
		}
		o.Status.Discovery = stored.Discovery
	case *resource.BMC:
		if s, ok := f.bmcs[o.Metadata.Name]; ok {
			s.State, s.AcceptedBy = o.Status.State, o.Status.AcceptedBy
			o.Status = s
		}
	case *resource.ServerGroup:
		for _, b := range store.List[*resource.BootImage](f.Store.Objects) {
			if b.Spec.Catalogue == o.Spec.Catalogue {
				o.Status.StubLimit = b.Spec.MaxIgnition
			}
		}
	case *resource.Claim:
		if s, ok := f.claims[o.Metadata.Name]; ok {
			o.Status = s
		}
	case *resource.Maintenance:
		o.Hide()
	case *resource.Hold:
		stored := o.Status
		switch s, ok := f.holds[o.Spec.Key]; {
		case stored.ReleasedAt != nil:
			o.Status.Word, o.Status.State = resource.HoldReleased, resource.StateReleasing
		case ok:
			o.Status = s
			if s.Receipt != nil {
				r := *s.Receipt
				r.HoldID, r.Server, r.Key, r.Ref = o.Metadata.Name, o.Spec.Server, o.Spec.Key, o.Spec.Ref
				o.Status.Receipt = &r
			}
		default:
			o.Status.Word, o.Status.State = resource.HoldAccepted, resource.StateAccepted
		}
		o.Status.Rack, o.Status.ConfirmedDown = stored.Rack, stored.ConfirmedDown
	}
}

// NewJoinToken implements Fleet.
func (f *CannedFleet) NewJoinToken(_ context.Context, rack string, standby bool) (protoapi.JoinToken, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.token = "one-time-" + rack
	if standby {
		f.token += "-standby"
	}
	return protoapi.JoinToken{Token: f.token, Rack: rack, Expires: Now().Add(time.Hour), Standby: standby}, nil
}

// Join implements Fleet: the token works once.
func (f *CannedFleet) Join(_ context.Context, r protoapi.JoinRequest) (protoapi.JoinAnswer, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.token == "" || r.Token != f.token {
		return protoapi.JoinAnswer{}, protocol.Errorf(protocol.CodeDenied, "join", "the token is used, expired or wrong").
			WithHint("rackctl rack join-token RACK makes a new one")
	}
	f.token = ""
	return protoapi.JoinAnswer{Agent: "a1", Rack: "r1", Term: 1, Broker: "mqtts://hub:8883"}, nil
}

// Renew implements Fleet: nobody can be renewed.
func (f *CannedFleet) Renew(context.Context, protoapi.RenewRequest, string) (protoapi.RenewAnswer, error) {
	return protoapi.RenewAnswer{}, protocol.Errorf(protocol.CodeDenied, "renew", "no agent has joined").
		WithHint("rackctl rack join-token RACK lets one join")
}

// Revoke implements Fleet: agent a1 has one connection.
func (f *CannedFleet) Revoke(_ context.Context, agent string, _ protoapi.EndRequest, _ string) (protoapi.EndAnswer, error) {
	if agent != "a1" {
		return protoapi.EndAnswer{}, protocol.Errorf(protocol.CodeNotFound, "revoke an agent", "this hub has no record of an agent %q", agent).
			WithHint("rackctl get agents lists them")
	}
	return protoapi.EndAnswer{Agent: agent, Rack: "r1", Code: resource.CondRevoked, Cut: 1}, nil
}

// ReplaceAgent implements Fleet.
func (f *CannedFleet) ReplaceAgent(ctx context.Context, rack string, r protoapi.EndRequest, _ string) (protoapi.EndAnswer, error) {
	t, err := f.NewJoinToken(ctx, rack, r.Standby)
	out := protoapi.EndAnswer{Agent: "a1", Rack: rack, Code: resource.CondSuperseded, Token: &t}
	if r.Standby {
		out.Agent = "a2"
	}
	return out, err
}

// Failover implements Fleet: agent a2 stands by for rack r1, whose first agent is heard.
func (f *CannedFleet) Failover(_ context.Context, rack string, r protoapi.FailoverRequest, _ string) (protoapi.FailoverAnswer, error) {
	if err := r.Validate(); err != nil {
		return protoapi.FailoverAnswer{}, err
	}
	if !r.FirstHostOff {
		return protoapi.FailoverAnswer{}, protocol.Errorf(protocol.CodeConflict, "fail over", "agent a1 serves rack %s, and was heard within 45s", rack).
			WithHint("rackctl rack failover %s --first-host-off --reason REASON", rack)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.unsettled = true
	return protoapi.FailoverAnswer{Rack: rack, Agent: "a2", Before: "a1"}, nil
}

// Settle implements Fleet: there is what Failover left; the holds of a1 are one.
func (f *CannedFleet) Settle(_ context.Context, rack string, r protoapi.SettleRequest, _ string) (protoapi.SettleAnswer, error) {
	if err := r.Validate(); err != nil {
		return protoapi.SettleAnswer{}, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.unsettled {
		return protoapi.SettleAnswer{}, protocol.Errorf(protocol.CodeConflict, "settle a failover", "no failover of rack %s is open", rack)
	}
	f.unsettled = false
	out := protoapi.SettleAnswer{Rack: rack, Agents: []string{"a1"}}
	if !r.LossAccepted {
		out.Adopted = []string{"01hold"}
	}
	return out, nil
}

// KeepAgent implements Fleet: agent a1 has run "0a6e" beside another.
func (f *CannedFleet) KeepAgent(_ context.Context, rack string, r protoapi.KeepRequest, _ string) (protoapi.KeepAnswer, error) {
	if r.Run != "0a6e" {
		return protoapi.KeepAnswer{}, protocol.Errorf(protocol.CodeNotFound, "keep an agent", "no run %q of the agent was heard since its disk was copied", r.Run).
			WithHint("rackctl describe agent AGENT lists the runs")
	}
	return protoapi.KeepAnswer{Agent: "a1", Rack: rack, Run: r.Run}, nil
}

// After implements EventLog.
func (f *CannedFleet) After(after uint64, limit int) []protoapi.EventRecord {
	f.mu.Lock()
	defer f.mu.Unlock()
	var out []protoapi.EventRecord
	for _, e := range f.events {
		if e.Index > after && len(out) < limit {
			out = append(out, e)
		}
	}
	return out
}

// Ignition implements Fleet: nothing is sealed for anybody.
func (f *CannedFleet) Ignition(context.Context, protoapi.IgnitionRequest, string) (protoapi.IgnitionAnswer, error) {
	return protoapi.IgnitionAnswer{}, protocol.Errorf(protocol.CodeDenied, "fetch user data", "no agent has joined")
}

// EnvBundle implements Fleet: nothing is sealed for anybody.
func (f *CannedFleet) EnvBundle(context.Context, protoapi.EnvBundleRequest, string) (protoapi.EnvBundleAnswer, error) {
	return protoapi.EnvBundleAnswer{}, protocol.Errorf(protocol.CodeDenied, "fetch boot environment", "no agent has joined")
}

// RenderEnv implements Fleet: server n1 has the environment debian-install.
func (f *CannedFleet) RenderEnv(_ context.Context, server, env, path string) (protoapi.EnvRender, error) {
	if server != "n1" && env == "" {
		return protoapi.EnvRender{}, protocol.Errorf(protocol.CodeConflict, "render boot environment", "server %q has no boot environment", server).
			WithHint("name one: rackctl bootenv render %s --bootenv ENV", server)
	}
	seed := protoapi.EnvRenderFile{
		Path: "machines/u1/seed", Template: "seed", Size: 11,
		Params: []protoapi.EnvRenderParam{{Param: "domain", Source: "profile global"}, {Param: "root/password", Source: "server", Secret: true}},
	}
	out := protoapi.EnvRender{Server: server, BootEnv: "debian-install", OS: "debian-12", Source: resource.EnvFromISO, From: "debian.iso"}
	switch path {
	case "":
		out.Boots = []protoapi.EnvRenderBoot{
			{Kind: resource.LoaderAMD64, Kernel: "machines/u1/boot/linux", Initrds: []string{"machines/u1/boot/initrd.gz"}, CommandLine: "auto"},
			{Kind: resource.LoaderAMD64IPXE, Refused: "no loader"},
		}
		out.Files = []protoapi.EnvRenderFile{{Path: "grub.cfg", Link: "machines/u1/grub.cfg"}, seed}
	case seed.Path:
		seed.Content = "d-i ******\n"
		out.Files = []protoapi.EnvRenderFile{seed}
	default:
		return out, protocol.Errorf(protocol.CodeNotFound, "render boot environment", "debian-install renders no file at %q", path)
	}
	return out, nil
}
