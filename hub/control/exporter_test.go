package control

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"rackboot/hub/exporter"
	"rackboot/hub/reports"
	"rackboot/hub/store/storetest"
	"rackboot/protocol"
	"rackboot/protocol/resource"
	"rackboot/protocol/wire"
)

// scraped are the series of a metric that one scrape shows, as labels without their names, and values.
func (b *bench) scraped(name string) map[string]float64 {
	b.t.Helper()
	families, err := b.reg.Gather()
	if err != nil {
		b.t.Fatal(err)
	}
	out := map[string]float64{}
	for _, f := range families {
		if f.GetName() != name {
			continue
		}
		for _, m := range f.Metric {
			var labels []string
			for _, l := range m.Label {
				labels = append(labels, l.GetName()+"="+l.GetValue())
			}
			value := m.GetGauge().GetValue() + m.GetCounter().GetValue() // one of them is there
			if m.Histogram != nil {
				value = float64(m.Histogram.GetSampleCount())
			}
			out[strings.Join(labels, ",")] = value
		}
	}
	return out
}

// running is the report of a server that runs.
func running(name string, at time.Time) resource.ServerReport {
	return resource.ServerReport{Server: name, Power: protocol.PowerOn, Observation: protocol.Observation{Power: protocol.PowerOn, StartedAt: at, ReadAt: at}, ReadAge: time.Millisecond}
}

// TestScrapeOfADarkRack: an agent that stops is seen within 60 s, and nothing is said to be On that nobody reads.
func TestScrapeOfADarkRack(t *testing.T) {
	b, agent := joined(t)
	b.reports(agent, running("n1", b.now))
	b.pass()
	want := func(name, labels string, value float64) {
		t.Helper()
		if got, there := b.scraped(name)[labels]; got != value || !there {
			t.Errorf("%s{%s} %g, want %g; all: %v", name, labels, got, value, b.scraped(name))
		}
	}
	state := func(power string) string {
		return "attempt=,intended=,observed=,phase=Available,power=" + power + ",rack=r1,server=n1"
	}
	heard := float64(b.now.UnixMilli()) / 1000
	want("rackboot_server_state", state("On"), 1)
	want("rackboot_servers_power", "power=On,rack=r1", 1)
	want("rackboot_hub_dark_servers", "rack=r1", 1) // n2 was never heard of
	want("rackboot_hub_agents", "stage=silent", 0)
	want("rackboot_agent_last_report_timestamp_seconds", "agent="+agent+",rack=r1,role=active", heard)

	b.now = b.now.Add(reports.DarkAfter + time.Second)
	want("rackboot_server_state", state("Unknown"), 1)
	want("rackboot_servers_power", "power=On,rack=r1", 0)
	want("rackboot_servers_power", "power=Unknown,rack=r1", 2)
	want("rackboot_hub_dark_servers", "rack=r1", 2)
	want("rackboot_conditions", "code=Dark,rack=r1", 2)
	want("rackboot_conditions", "code=Stale,rack=r1", 1)
	want("rackboot_server_condition", "code=Dark,rack=r1,server=n1", 1)
	want("rackboot_hub_agents", "stage=silent", 1)
	want("rackboot_agent_last_report_timestamp_seconds", "agent="+agent+",rack=r1,role=active", heard)

	b.reports(agent, running("n1", b.now))
	want("rackboot_server_state", state("On"), 1)
	want("rackboot_hub_dark_servers", "rack=r1", 1)
	want("rackboot_hub_agents", "stage=silent", 0)
}

// TestScrapeSaysWhatIsPrinted: whatever happens to servers, their conditions, phases and claims are in a scrape what
// they are in what rackctl prints, at once.
func TestScrapeSaysWhatIsPrinted(t *testing.T) {
	b := newBench(t, &movingTag{})
	b.apply(storetest.Site()...)
	agent := ""
	for _, step := range []struct {
		name string
		do   func()
	}{
		{"no agent", func() {}},
		{"an agent joins", func() { agent = b.join("r1") }},
		{"it reports", func() { b.reports(agent, off("n1"), off("n2")) }},
		{"a condition comes", func() {
			r := off("n1")
			r.Conditions = []resource.ConditionState{{Code: resource.CondBMCUnreachable, Since: b.now}}
			b.reports(agent, r, off("n2"))
		}},
		{"a claim comes", func() { b.apply(storetest.Claim("c1", "n1")) }},
		{"it is bound", b.pass},
		{"nobody reads", func() { b.now = b.now.Add(time.Minute) }},
		{"it reports again", func() { b.reports(agent, off("n1"), off("n2")) }},
		{"the agent goes", func() {
			if _, err := b.store.Delete(ctx(t), resource.KindAgent, agent); err != nil {
				t.Fatal(err)
			}
			b.pass()
		}},
	} {
		step.do()
		var got, printed []string
		for labels := range b.scraped("rackboot_server_condition") {
			got = append(got, labels)
		}
		phases := map[string]bool{}
		for _, name := range []string{"n1", "n2"} {
			s := b.server(name)
			for _, c := range s.Status.Conditions {
				printed = append(printed, fmt.Sprintf("code=%s,rack=r1,server=%s", c.Code, name))
			}
			phases["phase="+string(s.Status.Phase)+",rack=r1"] = true
		}
		slices.Sort(got)
		slices.Sort(printed)
		if !slices.Equal(got, slices.Compact(printed)) {
			t.Errorf("%s: scraped %v, printed %v", step.name, got, printed)
		}
		for labels, n := range b.scraped("rackboot_servers") {
			if (n > 0) != phases[labels] {
				t.Errorf("%s: %s is %g, printed %v", step.name, labels, n, slices.Collect(maps.Keys(phases)))
			}
		}
	}
	if len(b.scraped("rackboot_server_boot_info")) != 1 {
		t.Error("the claim's boot is not shown")
	}
}

// TestScrapeOfBoots: a boot that the hub heard of while it was open counts once, by what became of it; one that had
// ended before is not the hub's to count.
func TestScrapeOfBoots(t *testing.T) {
	b, agent := joined(t)
	b.apply(storetest.Claim("c1", "n1"))
	b.pass()
	owner := b.claim("c1").Metadata.UID
	says := func(id string, state resource.AttemptState, code resource.AttemptCode) {
		r := running("n1", b.now)
		r.OwnerUID = owner
		r.Attempt = &resource.AttemptReport{
			ID: id, State: state, Since: b.now, Number: 1, Intended: protocol.TargetUefiHTTP, Code: code, OwnerUID: owner, Generation: 1,
		}
		b.reports(agent, r)
		b.reports(agent, r) // the same once more
	}
	says("a0", resource.AttemptFailed, resource.AttemptNoDHCP)
	if got := some(b.scraped("rackboot_hub_boots_total")); len(got) != 0 {
		t.Errorf("an attempt of before counts: %v", got)
	}
	says("a1", resource.AttemptArmed, "")
	if got := b.scraped("rackboot_server_attempt_stage_timestamp_seconds"); got["rack=r1,server=n1,stage=Armed"] != float64(b.now.Unix()) {
		t.Errorf("since when: %v", got)
	}
	says("a1", resource.AttemptFailed, resource.AttemptNoDHCP)
	says("a2", resource.AttemptPreparing, "")
	b.now = b.now.Add(90 * time.Second)
	says("a2", resource.AttemptSucceeded, "")
	want := map[string]float64{
		"code=" + string(resource.AttemptNoDHCP) + ",method=UefiHttp,outcome=Failed": 1,
		"code=,method=UefiHttp,outcome=Succeeded":                                    1,
	}
	if got := some(b.scraped("rackboot_hub_boots_total")); !maps.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if got := b.scraped("rackboot_hub_boot_seconds"); got["method=UefiHttp"] != 1 {
		t.Errorf("times: %v", got)
	}
	if got := b.scraped("rackboot_server_attempt_stage_timestamp_seconds"); len(got) != 0 {
		t.Errorf("nothing is open: %v", got)
	}
}

// TestScrapeOfReceipts: each hold is measured once, also one that is gone before anybody scrapes.
func TestScrapeOfReceipts(t *testing.T) {
	b, m := modernSite(t)
	b.now = b.now.Add(time.Minute)
	id := b.place("o", "k", "n1")
	b.pass()
	m.listens()
	r := off("n1")
	b.now = b.now.Add(20 * time.Second)
	r.Holds = []resource.HoldReport{{
		ID: id, Word: resource.HoldFenced, State: resource.StateFenced, EnforcedAt: b.now,
		Receipt: seal(t, key(m.name), wire.FactReceipt, resource.Receipt{HoldID: id, Server: "n1", Agent: m.name, StoppedSince: b.now, ConfirmedAt: b.now}),
	}}
	m.reports(r)
	m.reports(r)
	if got := some(b.scraped("rackboot_hub_hold_fenced_seconds")); len(got) != 1 || got["mode=hard"]+got["mode=soft"] != 1 {
		t.Errorf("%v", got)
	}
	if got := b.scraped("rackboot_server_hold_timestamp_seconds"); len(got) != 1 {
		t.Errorf("the hold is not shown: %v", got)
	}
}

// TestScrapeOfUnboundClaims: a claim that waits says for what and since when.
func TestScrapeOfUnboundClaims(t *testing.T) {
	b, _ := joined(t)
	c := storetest.Claim("c9", "n1")
	c.Spec.ServerRef, c.Spec.ServerSelector = nil, &resource.Selector{MatchLabels: map[string]string{"size": "huge"}}
	b.apply(c)
	b.pass()
	got := b.scraped("rackboot_claim_unbound_timestamp_seconds")
	if len(got) != 1 || b.scraped("rackboot_hub_claims")["state=unbound"] != 1 {
		t.Fatalf("%v", got)
	}
	for labels := range got {
		code := strings.TrimSuffix(strings.TrimPrefix(labels, "claim=c9,code="), "")
		if cond := b.claim("c9").Status.Conditions; len(cond) == 0 || string(cond[0].Code) != code {
			t.Errorf("%s, and %v", labels, cond)
		}
	}
}

// TestTotalsOnly: without the series of single servers what is left does not grow with them.
func TestTotalsOnly(t *testing.T) {
	b, agent := joined(t)
	b.reports(agent, off("n1"), off("n2"))
	c := b.control
	reg := prometheus.NewRegistry()
	reg.MustRegister(exporter.New(exporter.Config{
		Store: b.store, Start: c.fence, View: c.view, Status: c.Status, Reports: c.reports, Inventory: c.Inventory, Approvals: c.Approvals, Claims: c.Owners.Claims,
		Totals: true, Began: b.now, Clock: b.clock,
	}))
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	if len(families) == 0 {
		t.Fatal("nothing is left")
	}
	for _, f := range families {
		for _, m := range f.Metric {
			for _, l := range m.Label {
				if l.GetName() == "server" || l.GetName() == "claim" {
					t.Errorf("%s has a label %s", f.GetName(), l.GetName())
				}
			}
		}
	}
	if problems, err := testutil.GatherAndLint(b.reg); err != nil || len(problems) > 0 {
		t.Errorf("%v, %v", problems, err)
	}
}

// some are the series that are not 0.
func some(all map[string]float64) map[string]float64 {
	maps.DeleteFunc(all, func(_ string, v float64) bool { return v == 0 })
	return all
}
