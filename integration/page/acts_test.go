package page

import (
	"context"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/prometheus/client_golang/prometheus"

	"rackboot/bmc/sim"
	"rackboot/hub/api"
	"rackboot/hub/api/apitest"
	"rackboot/hub/store"
	"rackboot/hub/store/storetest"
	"rackboot/hub/web"
	stage "rackboot/integration/sim"
	"rackboot/protocol"
	"rackboot/protocol/resource"
	"rackboot/state/heads"
)

// soon waits until something is so at the hub or at a BMC.
func (p *person) soon(what string, is func() bool) {
	p.t.Helper()
	look := time.NewTicker(50 * time.Millisecond)
	defer look.Stop()
	for end := time.Now().Add(patience); !is(); <-look.C {
		if time.Now().After(end) {
			p.picture("failed-" + strings.ReplaceAll(p.t.Name(), "/", "-"))
			p.t.Fatalf("not so within %s: %s\n%s", patience, what, ask[string](p, "document.body.innerText"))
		}
	}
}

// yes says yes to the dialog that is open, which is judged as it asks. Where the hub cannot tell whether it was done, as on a busy machine, it is said
// once more, which asks for the same.
func (p *person) yes() {
	p.t.Helper()
	p.until(`document.querySelector("dialog[open] button[type=submit]")`, patience)
	p.accessible()
	for end := time.Now().Add(patience); ; {
		p.until(`(() => { const b = document.querySelector("dialog button[type=submit]"); if (b && !b.disabled) b.click(); return !!b; })()`, patience)
		p.until(`!document.querySelector("dialog") || document.querySelector("dialog .refused") && !document.querySelector("dialog button[type=submit]").disabled`, patience)
		said := ask[string](p, `(document.querySelector("dialog .refused") || {}).textContent || ""`)
		if said == "" {
			return
		}
		if !strings.HasPrefix(said, "timeout") || time.Now().After(end) {
			p.t.Fatalf("refused: %s", said)
		}
	}
}

// outcome is what became of the newest request of a server, at the hub.
func outcome(ctx context.Context, t *testing.T, st *stage.Stage, server string, action resource.RequestAction) (resource.Outcome, bool) {
	t.Helper()
	all, err := st.Client().Requests.List(ctx, server)
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range slices.Backward(all) {
		if one.Action == action {
			return one.Report.Outcome, one.Cancelled != ""
		}
	}
	return "", false
}

// acts are what somebody does at the page to servers and racks. Each is judged by the hub's API and by the BMC. server-1
// is claimed and on, server-5 nobody's.
func acts(ctx context.Context, t *testing.T, st *stage.Stage, ann, bob *person) {
	claimed, free := st.Server("server-1").BMC, st.Server("server-5").BMC
	resets := func(b *sim.BMC) (n int) {
		for _, r := range b.History() {
			if r.What == sim.RecordPower && r.Detail == string(protocol.PowerOff) {
				n++
			}
		}
		return n
	}
	done := func(server string, action resource.RequestAction) func() bool {
		return func() bool { is, _ := outcome(ctx, t, st, server, action); return is == resource.OutcomeDone }
	}
	at := func(t *testing.T, p *person, server string) {
		p.t = t
		p.at("server/" + server)
		p.until(`document.querySelector("h1").textContent === `+quote(server), patience)
		p.settled()
	}
	t.Run("reboot", func(t *testing.T) {
		was := resets(claimed)
		at(t, ann, "server-1")
		ann.press("Reboot")
		ann.yes()
		ann.soon("the reboot is done", done("server-1", resource.RequestReboot))
		ann.soon("it is on again", func() bool { return claimed.PowerState() == protocol.PowerOn })
		if n := resets(claimed) - was; n != 1 {
			t.Errorf("it was off %d times", n)
		}
	})
	t.Run("power off", func(t *testing.T) {
		free.ExternalOn()
		at(t, ann, "server-5")
		ann.until(`document.querySelector(".badge.on, .badge.error")`, patience)
		ann.press("Power off")
		ann.yes()
		ann.soon("the power-off is done", done("server-5", resource.RequestPowerOff))
		if is := free.PowerState(); is != protocol.PowerOff {
			t.Errorf("it is %s", is)
		}
	})
	t.Run("resume", func(t *testing.T) {
		at(t, ann, "server-1")
		claimed.PressPowerButton()
		ann.soon("it is off", func() bool { return claimed.PowerState() == protocol.PowerOff })
		ann.press("Resume")
		ann.fills("reason", "somebody pressed the button")
		ann.yes()
		ann.soon("it is on again", func() bool { return claimed.PowerState() == protocol.PowerOn })
		ann.soon("the resume is done", done("server-1", resource.RequestResume))
	})
	t.Run("freeze, and its end", func(t *testing.T) {
		ann.t = t
		ann.at("rack/demo")
		ann.press("Freeze")
		ann.fills("reason", "the floor is wet")
		ann.yes()
		f, err := st.Client().Objects.Get(ctx, resource.KindFreeze, "rack-demo")
		if err != nil || f.(*resource.Freeze).Spec.Reason != "the floor is wet" {
			t.Fatalf("%+v, %v", f, err)
		}
		ann.sees("the floor is wet")
		was := resets(claimed)
		at(t, ann, "server-1")
		ann.sees("Frozen: nothing switches it on") // its agent says so
		ann.press("Reboot")
		ann.yes()
		ann.soon("it is refused", func() bool {
			is, _ := outcome(ctx, t, st, "server-1", resource.RequestReboot)
			return is == resource.OutcomeRefused
		})
		if resets(claimed) != was || claimed.PowerState() != protocol.PowerOn {
			t.Error("it was stopped")
		}
		ann.at("rack/demo")
		ann.press("End freeze")
		ann.yes()
		if _, err := st.Client().Objects.Get(ctx, resource.KindFreeze, "rack-demo"); protocol.CodeOf(err) != protocol.CodeNotFound {
			t.Errorf("the freeze is there: %v", err)
		}
	})
	t.Run("deny", func(t *testing.T) {
		at(t, ann, "server-6")
		ann.press("Hold")
		ann.yes()
		ann.until(`document.querySelector(".hold .card")`, patience)
		at(t, bob, "server-6")
		bob.press("Release")
		bob.fills("reason", "the owner is away")
		bob.accessible()
		// It waits for a second person, which the dialog says.
		bob.until(`(() => { document.querySelector("dialog button[type=submit]").click(); return true; })()`, patience)
		bob.until(`!document.querySelector("dialog") || document.querySelector("dialog .refused")`, patience)
		ask[bool](bob, `(document.querySelector("dialog") || {close() {}}).close() || true`)
		bob.at("work")
		bob.until(`[...document.querySelectorAll("button")].some((b) => b.textContent === "Deny")`, patience)
		bob.press("Deny")
		bob.fills("reason", "ask ann")
		bob.yes()
		all, err := st.Client().Approvals.List(ctx)
		if err != nil {
			t.Fatal(err)
		}
		denied := 0
		for _, a := range all {
			if a.State == resource.ApprovalDenied {
				denied++
			}
		}
		holds, err := st.Client().Objects.List(ctx, resource.KindHold)
		if err != nil || denied != 1 || len(holds) != 1 {
			t.Errorf("%d approvals are denied, %d holds, %v", denied, len(holds), err)
		}
	})
}

// takesBack asks a server of a rack that is dark for a reboot, and takes that back: nobody has begun it.
func takesBack(ctx context.Context, t *testing.T, st *stage.Stage, ann *person) {
	ann.at("server/server-1")
	ann.until(`document.querySelector("h1").textContent === "server-1"`, patience)
	ann.settled()
	ann.press("Reboot")
	ann.yes()
	ann.press("Take back")
	ann.yes()
	ann.soon("it is taken back", func() bool {
		is, cancelled := outcome(ctx, t, st, "server-1", resource.RequestReboot)
		return cancelled && is != resource.OutcomeDone
	})
	if is := st.Server("server-1").BMC.PowerState(); is != protocol.PowerOn {
		t.Errorf("it is %s", is)
	}
}

// TestTakeIn: what was found is taken in by its fingerprint and its identity, a roll-out is seen as it goes on, and a store
// that has lost something says so above all. The hub is one in this process, with a fleet that says what the test has it say.
func TestTakeIn(t *testing.T) {
	t.Parallel()
	b := browser(t)
	a, h := apitest.NewHandler(t, func(*api.Config) {})
	f, err := web.New(web.Config{API: a, Callers: a.Gate(), Registerer: prometheus.NewRegistry()})
	if err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewUnstartedServer(f)
	srv.EnableHTTP2 = true
	srv.StartTLS()
	t.Cleanup(srv.Close)
	ctx := t.Context()
	if _, err := h.Store.Sets.Apply(ctx, storetest.Site(), store.ApplyOptions{}); err != nil {
		t.Fatal(err)
	}
	h.Fleet.SetServer("n1", resource.ServerStatus{
		Phase:      resource.PhaseAvailable,
		Conditions: []resource.ConditionState{{Code: resource.CondIdentityChanged, Since: apitest.Now()}},
		Report:     &resource.ServerReport{Server: "n1", Power: protocol.PowerOff, Identity: "sha256:" + strings.Repeat("ab", 32), IdentityChange: &resource.IdentityChange{Is: resource.BoardIdentity{Serial: "S2"}, At: apitest.Now()}},
	})
	fingerprint := "sha256:" + strings.Repeat("cd", 32)
	found := &resource.BMC{Header: head(resource.KindBMC, "found-1"), Spec: resource.BMCSpec{RackRef: resource.Ref{Name: "r1"}, Address: "https://10.7.0.130"}, Status: resource.BMCStatus{State: resource.BMCPending, Found: &resource.FoundBMC{Segment: "boot", Address: "https://10.7.0.130", Fingerprint: fingerprint, At: apitest.Now()}}}
	found.Default()
	if err := h.Store.Objects.Put(ctx, found); err != nil {
		t.Fatal(err)
	}
	h.Fleet.SetBMC("found-1", found.Status)
	group := &resource.ServerGroup{Header: head(resource.KindServerGroup, "workers"), Spec: resource.ServerGroupSpec{Selector: resource.Selector{MatchLabels: map[string]string{"role": "worker"}}, Catalogue: "os"}}
	group.Default()
	group.Status.Rollout = rollout(0)
	if err := h.Store.Objects.Put(ctx, group); err != nil {
		t.Fatal(err)
	}

	p := open(b, t, srv.URL, apitest.Token)
	p.at("server/n1")
	p.press("Accept identity")
	p.sees("Identity sha256:abab")
	p.yes()
	s, err := store.Get[*resource.Server](h.Store.Objects, "n1")
	if err != nil || s.Status.AcceptedIdentity != "sha256:"+strings.Repeat("ab", 32) {
		t.Errorf("accepted is %q, %v", s.Status.AcceptedIdentity, err)
	}

	p.at("work")
	p.sees("found-1")
	p.press("Accept")
	p.fills("credentials", "local:rack")
	p.picture("found-bmc")
	p.yes()
	one, err := store.Get[*resource.BMC](h.Store.Objects, "found-1")
	if err != nil || one.Pending() || one.Spec.CredentialsRef != "local:rack" || one.Spec.TLS.Fingerprint != fingerprint || one.Status.AcceptedBy != "admin" {
		t.Errorf("%+v, %v", one, err)
	}
	p.sees("None waits to be accepted.")

	p.until(`document.querySelector("progress").value === 0 && document.querySelector("progress").max === 4`, patience)
	for done := 1; done <= 4; done++ {
		g, err := store.Get[*resource.ServerGroup](h.Store.Objects, "workers")
		if err != nil {
			t.Fatal(err)
		}
		g.Status.Rollout = rollout(done)
		if err := h.Store.Objects.Put(ctx, g); err != nil {
			t.Fatal(err)
		}
		p.until(`document.querySelector("progress").value === `+string(rune('0'+done)), patience)
	}
	p.sees("Completed r2")
	p.picture("rolled-out")

	h.Store.Meta.Lose(&heads.Loss{Store: "one", Other: "another", Unlisted: true})
	p.do(chromedp.Reload()) // a hub that starts has lost something, and its watches begin anew
	p.until(`(document.querySelector(".notice.error") || {}).textContent?.includes("lost something")`, patience)
	p.picture("lost-store")
	p.accessible()
}

// rollout is one of four servers, of which some are done.
func rollout(done int) *resource.RolloutStatus {
	r := &resource.RolloutStatus{Revision: 2, From: 1, Strategy: resource.RolloutReboot, Phase: resource.RolloutWave, Waves: 2, StartedAt: apitest.Now(), WaveAt: apitest.Now(), Members: map[string]resource.RolloutMember{}}
	for i, name := range []string{"n1", "n2", "n3", "n4"} {
		state := resource.MemberWaiting
		if i < done {
			state = resource.MemberDone
		}
		r.Members[name] = resource.RolloutMember{State: state, Since: apitest.Now()}
	}
	if done == len(r.Members) {
		r.Phase = resource.RolloutCompleted
	}
	return r
}
