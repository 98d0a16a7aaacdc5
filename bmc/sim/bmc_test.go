package sim

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"testing"
	"time"

	"rackboot/bmc/sim/hardware"
	"rackboot/bmc/sim/tree"
	"rackboot/protocol"
)

// patience is how long what must come may take on a machine that has much else to do.
const patience = time.Minute

// user is a client without any quirk handling.
type user struct {
	t        *testing.T
	bmc      *BMC
	machine  *hardware.Simulated
	client   *http.Client
	password string
	token    string
}

func newUser(t *testing.T, p Personality, config hardware.SimulatedConfig) *user {
	t.Helper()
	if config.Post == 0 {
		config.Post = 30 * time.Millisecond
	}
	u := &user{t: t, machine: hardware.NewSimulated(config), password: "p", client: &http.Client{
		Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true},
		Timeout:   patience,
	}}
	b, err := New(Config{Machine: u.machine, Personality: p, Username: "u", Password: "p"})
	if err != nil {
		t.Fatal(err)
	}
	u.bmc = b
	t.Cleanup(func() { _ = b.Close() })
	return u
}

type answered struct {
	status int
	id     string // MessageId
	body   map[string]any
	header http.Header
}

func (u *user) do(method, uri, body string, headers ...string) answered {
	u.t.Helper()
	req, err := http.NewRequestWithContext(u.t.Context(), method, u.bmc.Address()+uri, bytes.NewBufferString(body))
	if err != nil {
		u.t.Fatal(err)
	}
	if u.token != "" {
		req.Header.Set("X-Auth-Token", u.token)
	} else {
		req.SetBasicAuth("u", u.password)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := u.client.Do(req)
	if err != nil {
		return answered{}
	}
	defer resp.Body.Close()
	b, _ := io.ReadAll(resp.Body)
	a := answered{status: resp.StatusCode, header: resp.Header}
	_ = json.Unmarshal(b, &a.body)
	if e, ok := a.body["error"].(map[string]any); ok {
		if infos, ok := e["@Message.ExtendedInfo"].([]any); ok {
			a.id, _ = infos[0].(map[string]any)["MessageId"].(string)
		}
	}
	return a
}

func (u *user) reset(kind string) answered {
	u.t.Helper()
	return u.do("POST", tree.ResetURI, `{"ResetType":"`+kind+`"}`)
}

func (u *user) arm(target string) answered {
	u.t.Helper()
	return u.do("PATCH", tree.SystemURI, `{"Boot":{"BootSourceOverrideTarget":"`+target+`","BootSourceOverrideEnabled":"Once"}}`)
}

func (u *user) want(a answered, status int, id string) {
	u.t.Helper()
	if a.status != status || a.id != id {
		u.t.Fatalf("answer is %d %q, want %d %q", a.status, a.id, status, id)
	}
}

func (u *user) await(what string, ok func() bool) {
	u.t.Helper()
	for end := time.Now().Add(patience); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			u.t.Fatalf("waited in vain for %s: power %s, machine %s", what, u.bmc.PowerState(), u.machine.State())
		}
	}
}

func (u *user) awaitPower(want protocol.PowerState) {
	u.t.Helper()
	u.await(string(want), func() bool { return u.bmc.PowerState() == want })
}

func (u *user) awaitMachine(want hardware.State) {
	u.t.Helper()
	u.await(string(want), func() bool { return u.machine.State() == want })
}

func (u *user) details(what string) []string {
	var out []string
	for _, r := range u.bmc.History() {
		if r.What == what {
			out = append(out, r.Detail)
		}
	}
	return out
}

// installed is a disk with a system.
func installed() *hardware.Disk {
	d := new(hardware.Disk)
	d.Install("sha256:1")
	return d
}

// Every quirk, seen without the driver: taking one out fails its row.
func TestPersonalities(t *testing.T) {
	tests := []struct {
		personality Personality
		see         func(*user)
	}{
		{Plain(), func(u *user) {
			u.want(u.reset("ForceOff"), 409, messageAlreadyDell)
			u.want(u.reset("On"), 204, "")
			u.want(u.reset("On"), 409, messageAlreadyDell)
			u.want(u.arm("Hdd"), 200, "")
		}},
		{PostRefuses(), func(u *user) {
			u.want(u.reset("ForceOff"), 400, messageAlreadyHPE)
			u.want(u.arm("Hdd"), 200, "")
			u = newUser(u.t, PostRefuses(), hardware.SimulatedConfig{Disk: installed(), Post: time.Hour})
			u.want(u.reset("On"), 204, "")
			u.want(u.arm("Hdd"), 400, messagePostHPE) // PoweringOn or POST
			u.awaitMachine(hardware.Post)
			u.want(u.arm("Hdd"), 400, messagePostHPE)
		}},
		{ActionInfoOnly(), func(u *user) {
			actions := u.do("GET", tree.SystemURI, "").body["Actions"].(map[string]any)["#ComputerSystem.Reset"].(map[string]any)
			if actions["@Redfish.ActionInfo"] != tree.ResetInfoURI || actions["ResetType@Redfish.AllowableValues"] != nil {
				u.t.Errorf("reset action %v", actions)
			}
			if p := u.do("GET", tree.ResetInfoURI, "").body["Parameters"]; p == nil {
				u.t.Error("no parameters in the ActionInfo")
			}
		}},
		{Baseboard(), func(u *user) {
			members := u.do("GET", tree.SystemsURI, "").body["Members"].([]any)
			if first := members[0].(map[string]any)["@odata.id"]; len(members) != 2 || first != tree.BaseboardURI {
				u.t.Errorf("members %v", members)
			}
			u.want(u.do("PATCH", tree.SystemURI, `{"Boot":{"BootSourceOverrideMode":"UEFI"}}`), 400, "Base.1.13.PropertyUnknown")
		}},
		{IgnoresGraceful(), func(u *user) {
			u.arm("Hdd")
			u.reset("On")
			u.awaitMachine(hardware.Running)
			u.want(u.reset("GracefulShutdown"), 204, "")
			for range 20 {
				u.do("GET", tree.SystemURI, "")
			}
			u.awaitMachine(hardware.Running)
			u.awaitPower(protocol.PowerOn)
		}},
		{HangsPoweringOff(), func(u *user) {
			u.arm("Hdd")
			u.reset("On")
			u.awaitMachine(hardware.Running)
			u.want(u.reset("GracefulShutdown"), 204, "")
			for range 20 {
				if p := u.do("GET", tree.SystemURI, "").body["PowerState"]; p != "PoweringOff" {
					u.t.Fatalf("power is %v", p)
				}
			}
			u.want(u.reset("ForceOff"), 204, "")
			u.awaitPower(protocol.PowerOff)
		}},
		{DropsOverride(), func(u *user) {
			u.want(u.arm("Hdd"), 200, "")
			if u.bmc.Override().Armed() {
				u.t.Error("stored")
			}
		}},
		{DropsOn(), func(u *user) {
			u.want(u.reset("On"), 204, "")
			if p := u.bmc.PowerState(); p != protocol.PowerOff {
				u.t.Errorf("power is %s", p)
			}
			u.want(u.reset("On"), 204, "")
			u.awaitPower(protocol.PowerOn)
		}},
		{RefusesOnAfterOff(), func(u *user) {
			u.bmc.Adjust(func(p *Personality) { p.RefuseOnFor = time.Hour })
			u.want(u.reset("On"), 204, "")
			u.awaitPower(protocol.PowerOn)
			u.reset("ForceOff")
			u.awaitPower(protocol.PowerOff)
			u.want(u.reset("On"), 409, "Base.1.18.ActionParameterValueConflict")
			u.bmc.Adjust(func(p *Personality) { p.RefuseOnFor = 0 })
			u.want(u.reset("On"), 204, "")
		}},
		{SlowAnswers(), func(u *user) {
			start := time.Now()
			u.do("GET", tree.SystemURI, "")
			if took := time.Since(start); took < SlowAnswers().AnswerDelay {
				u.t.Errorf("answered in %s", took)
			}
		}},
		{Down(), func(u *user) {
			if a := u.do("GET", tree.SystemURI, ""); a.status != 0 {
				u.t.Errorf("answered %d", a.status)
			}
			if err := u.bmc.SetReach(ReachOK); err != nil {
				u.t.Fatal(err)
			}
			u.want(u.do("GET", tree.SystemURI, ""), 200, "")
		}},
	}
	for _, tt := range tests {
		t.Run(tt.personality.Name, func(t *testing.T) {
			if tt.personality.Source == "" {
				t.Error("no source")
			}
			tt.see(newUser(t, tt.personality, hardware.SimulatedConfig{Disk: installed()}))
		})
	}
	if len(tests) != len(Personalities()) {
		t.Errorf("%d rows for %d personalities", len(tests), len(Personalities()))
	}
}

// bootFunc is a Firmware.
type bootFunc func(ctx context.Context, g *hardware.Guest, target protocol.BootTarget) error

func (f bootFunc) Boot(ctx context.Context, g *hardware.Guest, target protocol.BootTarget) error {
	return f(ctx, g, target)
}

// An install from the network, the guest's own reboot, and the disk by order
// of the next override: the way of a first boot.
func TestInstallAndBootFromDisk(t *testing.T) {
	boots := make(chan protocol.BootTarget, 8)
	firmware := bootFunc(func(ctx context.Context, g *hardware.Guest, target protocol.BootTarget) error {
		g.Running()
		boots <- target
		if target == protocol.TargetUefiHTTP {
			g.Disk().Install("sha256:2")
			g.PowerOff()
		}
		<-ctx.Done()
		return nil
	})
	u := newUser(t, Plain(), hardware.SimulatedConfig{Firmware: firmware})
	u.arm("UefiHttp")
	u.reset("On")
	if got := <-boots; got != protocol.TargetUefiHTTP {
		t.Fatalf("booted %s", got)
	}
	u.awaitPower(protocol.PowerOff)
	u.arm("Hdd")
	u.reset("On")
	if got := <-boots; got != protocol.TargetHdd || u.machine.Disk().Digest() != "sha256:2" {
		t.Fatalf("booted %s", got)
	}
	// Once is used up: a restart of any kind ends in the shell, not on the disk.
	u.want(u.reset("ForceRestart"), 204, "")
	u.awaitMachine(hardware.Shell)
	if got := u.details(RecordConsumed); !slices.Equal(got, []string{"UefiHttp", "Hdd", "None"}) {
		t.Errorf("consumed %q", got)
	}
	if p := u.do("GET", tree.SystemURI, "").body["LastResetTime"]; p == nil {
		t.Error("no LastResetTime")
	}
	// The shell does not hear the power button.
	u.want(u.reset("GracefulShutdown"), 204, "")
	for range 20 {
		u.do("GET", tree.SystemURI, "")
	}
	u.awaitMachine(hardware.Shell)
}

func TestGuestReset(t *testing.T) {
	var boots []protocol.BootTarget
	firmware := bootFunc(func(_ context.Context, g *hardware.Guest, target protocol.BootTarget) error {
		if boots = append(boots, target); len(boots) < 3 {
			g.Reset()
		}
		return nil
	})
	u := newUser(t, Plain(), hardware.SimulatedConfig{Firmware: firmware, Disk: installed()})
	u.do("PATCH", tree.SystemURI, `{"Boot":{"BootSourceOverrideTarget":"Hdd","BootSourceOverrideEnabled":"Continuous"}}`)
	u.reset("On")
	u.awaitMachine(hardware.Running)
	if len(boots) != 3 || !u.bmc.Override().Armed() {
		t.Errorf("booted %v, override %v", boots, u.bmc.Override())
	}
}

// The disk boots only if something was installed.
func TestEmptyDisk(t *testing.T) {
	u := newUser(t, Plain(), hardware.SimulatedConfig{})
	u.arm("Hdd")
	u.reset("On")
	u.awaitMachine(hardware.Shell)
	if got := u.details(RecordConsumed); !slices.Equal(got, []string{"Hdd"}) {
		t.Errorf("consumed %q", got)
	}
}

// What a person does at the machine (V6, V7).
func TestExternalActions(t *testing.T) {
	p := Plain()
	p.Restore = RestoreLastState
	u := newUser(t, p, hardware.SimulatedConfig{Disk: installed(), Shutdown: time.Millisecond})
	u.bmc.ExternalOn()
	u.awaitPower(protocol.PowerOn)
	u.want(u.reset("ForceOff"), 204, "")
	u.awaitPower(protocol.PowerOff)
	u.arm("Hdd")
	u.bmc.PressPowerButton()
	u.awaitMachine(hardware.Running)
	if err := u.bmc.PullPower(); err != nil {
		t.Fatal(err)
	}
	if a := u.do("GET", tree.SystemURI, ""); a.status != 0 || u.machine.State() != hardware.Off {
		t.Errorf("without mains: %d, %s", a.status, u.machine.State())
	}
	if err := u.bmc.RestorePower(); err != nil {
		t.Fatal(err)
	}
	u.awaitPower(protocol.PowerOn)
	u.awaitMachine(hardware.Shell)
	if got := u.details(RecordExternal); !slices.Equal(got, []string{"on", "power button", "mains lost", "mains back"}) {
		t.Errorf("history %q", got)
	}
}

func TestSessionsAndCredentials(t *testing.T) {
	u := newUser(t, Plain(), hardware.SimulatedConfig{})
	a := u.do("POST", tree.SessionsURI, `{"UserName":"u","Password":"p"}`)
	u.want(a, 201, "")
	u.token = a.header.Get("X-Auth-Token")
	u.want(u.do("GET", tree.SystemURI, ""), 200, "")
	u.want(u.do("DELETE", a.header.Get("Location"), ""), 204, "")
	u.want(u.do("GET", tree.SystemURI, ""), 401, "Base.1.13.NoValidSession")
	u.token = ""
	u.bmc.SetCredentials("u", "other")
	u.want(u.do("GET", tree.SystemURI, ""), 401, "Base.1.13.NoValidSession")
	u.want(u.do("GET", tree.RootURI, ""), 200, "")
	u.password = "other"
	for range maxSessions {
		u.want(u.do("POST", tree.SessionsURI, `{"UserName":"u","Password":"other"}`), 201, "")
	}
	u.want(u.do("POST", tree.SessionsURI, `{"UserName":"u","Password":"other"}`), 503, "IDRAC.2.8.RAC0218")
}

func TestETagIsChecked(t *testing.T) {
	u := newUser(t, Plain(), hardware.SimulatedConfig{})
	tag := u.do("GET", tree.SystemURI, "").header.Get("ETag")
	const body = `{"Boot":{"BootSourceOverrideTarget":"Hdd","BootSourceOverrideEnabled":"Once"}}`
	u.want(u.do("PATCH", tree.SystemURI, body, "If-Match", tag), 200, "")
	u.want(u.do("PATCH", tree.SystemURI, body, "If-Match", tag), 412, "Base.1.13.PreconditionFailed")
}

func TestFaults(t *testing.T) {
	u := newUser(t, Plain(), hardware.SimulatedConfig{})
	u.bmc.Inject(Fault{Method: "POST", Status: 503, MessageID: "x", Times: 2})
	u.bmc.Inject(Fault{Method: "POST", Status: 0, Perform: true})
	u.want(u.do("GET", tree.SystemURI, ""), 200, "")
	u.want(u.reset("On"), 503, "x")
	u.want(u.reset("On"), 503, "x")
	if a := u.reset("On"); a.status != 0 {
		t.Errorf("answer %d", a.status)
	}
	u.awaitPower(protocol.PowerOn)
}
