package site

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	agentdaemon "rackboot/agent/daemon"
	hubdaemon "rackboot/hub/daemon"
	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
	"rackboot/state/statetest"
)

// points are the hub's crash points, read from its source: one that is added and
// not passed fails the test.
func points(t *testing.T) []string {
	t.Helper()
	// No BMC is found and no account of one changed, no secret sealed, nothing approved,
	// taken over or imported, no board changes, no disk is copied, no agent stands by, no hold is placed or ends at the agent or goes with its claim here, and
	// no certificate or term ends; packages control and store die at those themselves. Those
	// of discoveries are passed in TestHubKilledInADiscovery, those of boot environments in
	// TestHubKilledInABootEnv, those of uploaded files there and in package iso, those of
	// the catalogue's files in TestHubKilledInTheCatalogue, those of groups in
	// TestHubKilledInAGroup, those of roll-outs and of firmware settings in package control,
	// those of upgrades of agents and of their packages in packages upgrades and packages, and those of contents on servers of
	// the user's own in package contents.
	elsewhere := regexp.MustCompile(`^hub\.(account|adopt|copies|bmc|ignition|import|secret|server|ending|renew|failover|settle|approval|discovery|iso|bootenv|catalogue|group|rollout|package|upgrade|content)\.|^hub\.hold\.(adopted|returned|ended|freed)$|^hub\.maintenance\.sett(ings|led)$`)
	at := regexp.MustCompile(`[cC]rash\.At\("(hub\.[^"]+)"`)
	var out []string
	if err := filepath.WalkDir("../../hub", func(path string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		raw, err := os.ReadFile(path)
		for _, m := range at.FindAllStringSubmatch(string(raw), -1) {
			if !elsewhere.MatchString(m[1]) {
				out = append(out, m[1])
			}
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	slices.Sort(out)
	if len(out) < 8 {
		t.Fatalf("%d crash points in hub/", len(out))
	}
	return slices.Compact(out)
}

const hubFile = "hub.json"

// hubMain is the child: the hub's daemon on the configuration in its folder.
func hubMain(r statetest.Run) {
	raw, err := os.ReadFile(filepath.Join(r.Dir, hubFile))
	if err != nil {
		panic(err)
	}
	var c hubdaemon.Config
	if err := json.Unmarshal(raw, &c); err != nil {
		panic(err)
	}
	log := slog.New(slog.DiscardHandler)
	if os.Getenv("RACKBOOT_TEST_LOG") != "" {
		log = slog.New(slog.NewTextHandler(os.Stderr, nil))
	}
	if err := hubdaemon.Run(context.Background(), c, hubdaemon.Options{Version: "test", Logger: log, Crash: r.Crash, Ready: func() { r.Ack("ready") }}); err != nil {
		panic(err)
	}
}

// TestHubKilledAtEachPoint kills the hub with SIGKILL wherever it is between two
// writes, while the agent and the servers live on, and starts it again. Whatever
// the API had acknowledged comes to its end, once.
func TestHubKilledAtEachPoint(t *testing.T) {
	flow := statetest.NewChild(t, hubMain)
	t.Parallel()
	for _, point := range points(t) {
		passages := 1
		if point == "hub.ledger.written" || point == "hub.applied" {
			passages = 4 // before and after the claim, the record, the hold
		}
		for passage := 1; passage <= passages; passage++ {
			t.Run(fmt.Sprintf("%s#%d", point, passage), func(t *testing.T) {
				t.Parallel()
				s := newSite(t, 1)
				h := &killed{site: s, flow: flow}
				h.run(point, passage)
			})
		}
	}
}

// killed is a site whose hub dies once.
type killed struct {
	*site
	flow statetest.Child
	hub  *statetest.Process
	died bool
}

func (k *killed) start(point string, passage int) {
	k.t.Helper()
	k.hub = k.flow.Start(k.t, k.dir, point, passage)
	k.t.Cleanup(k.hub.Kill)
	k.until("the hub process", func() bool {
		select {
		case <-k.hub.Ended:
			k.t.Fatalf("the hub ended: %s", k.hub.Output())
		default:
		}
		return k.hub.Acked("ready")
	}, func() any { return "no hub" })
	k.dial()
	k.untilReady()
}

// revive starts the hub again if it is dead.
func (k *killed) revive() {
	if k.died {
		return
	}
	select {
	case <-k.hub.Ended:
		k.died = true
		k.start("", 0)
	default:
	}
}

// try does what an operator does with a hub that may die: the same again until it
// is acknowledged.
func (k *killed) try(what string, do func() error) {
	k.t.Helper()
	var last error
	k.until(what, func() bool {
		k.revive()
		last = do()
		return last == nil
	}, func() any { return last })
}

// begins starts the hub, and an agent that serves the resources.
func (k *killed) begins(point string, passage int, objs []resource.Object, c agentdaemon.Config) {
	t := k.t
	t.Helper()
	raw, err := json.Marshal(k.site.hub)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(k.dir, hubFile), raw, 0o600); err != nil {
		t.Fatal(err)
	}
	k.start(point, passage)
	ctx := t.Context()
	k.try("the manifests", func() error { _, err := k.client.Objects.Apply(ctx, objs, false); return err })
	k.try("the join", func() error {
		token, err := k.client.Agents.NewToken(ctx, rackName, api.TokenRequest{})
		if protocol.CodeOf(err) == protocol.CodeConflict {
			// It joined, and the answer was lost: do what the hint says.
			_, err := k.client.Objects.Delete(ctx, resource.KindAgent, "r1-1")
			return errors.Join(errors.New("joined without an answer"), err)
		}
		if err != nil {
			return err
		}
		_, err = agentdaemon.Join(ctx, c, "https://"+k.site.hub.API, token.Token, k.ca())
		return err
	})
	k.startAgent(c)
}

func (k *killed) run(point string, passage int) {
	t, ctx := k.t, k.t.Context()
	k.begins(point, passage, k.manifests(), k.firstAgent())
	k.try("the claim", func() error {
		_, err := k.client.Objects.Apply(ctx, []resource.Object{k.claim("n1")}, false)
		return err
	})
	k.see("the installation", func() bool {
		v, ok := get[*resource.Server](k.site, "n1")
		return ok && v.Status.Report != nil && diskBoot(v)
	})
	k.see("the provisioned record", func() bool {
		b, ok := get[*resource.BootConfiguration](k.site, "c-n1")
		return ok && len(b.Status.SignedProvisioned) > 0
	})

	id := ""
	k.try("the hold", func() error {
		h, err := k.client.Holds.Create(ctx, "n1", api.HoldRequest{HoldTerms: resource.HoldTerms{Key: "k", Mode: resource.StopHard}})
		if err == nil {
			id = h.Metadata.Name
		}
		return err
	})
	k.see("the receipt", func() bool {
		h, ok := get[*resource.Hold](k.site, id)
		return ok && h.Status.Word == resource.HoldFenced && h.Status.Receipt != nil
	})
	k.staysOff(0)
	k.try("the release", func() error {
		_, err := k.client.Holds.Release(ctx, id, api.ReleaseRequest{})
		if protocol.CodeOf(err) == protocol.CodeNotFound {
			return nil // it was released, acknowledged and removed before the answer came
		}
		return err
	})
	k.see("the acknowledged release", func() bool {
		list, err := k.client.Objects.List(ctx, resource.KindHold)
		return err == nil && len(list) == 0
	})
	k.see("the disk boot after the release", func() bool {
		v, ok := get[*resource.Server](k.site, "n1")
		return ok && v.Status.Report != nil && diskBoot(v)
	})
	boots := 1
	if strings.HasPrefix(point, "hub.maintenance.") {
		k.maintain()
		boots++
	}
	deletes := func(kind resource.Kind, name string) {
		k.try("the deletion", func() error {
			_, err := k.client.Objects.Delete(ctx, kind, name)
			if protocol.CodeOf(err) == protocol.CodeNotFound {
				return nil
			}
			return err
		})
	}
	if strings.HasPrefix(point, "hub.store.") { // what a claim's end does not pass
		spare := &resource.Rack{}
		spare.Metadata.Name = "spare"
		spare.Default()
		k.try("a spare rack", func() error { _, err := k.client.Objects.Apply(ctx, []resource.Object{spare}, false); return err })
		deletes(resource.KindRack, "spare")
	}
	deletes(resource.KindClaim, "c-n1")
	k.see("the end of the claim", func() bool {
		claims, err := k.client.Objects.List(ctx, resource.KindClaim)
		configs, err2 := k.client.Objects.List(ctx, resource.KindBootConfiguration)
		return err == nil && err2 == nil && len(claims) == 0 && len(configs) == 0
	})
	if network, disk, _, installs := k.servers[0].Boots.Counts(); network != boots || installs != boots || disk != boots+1 {
		t.Errorf("%d network boots, %d installations and %d disk boots; want one of each, another disk boot after the release, and one more of each by a maintenance", network, installs, disk)
	}
	k.once(boots)
	if !k.died {
		t.Errorf("the hub never came to %s #%d; it passed %v", point, passage, k.hub.Passed())
	}
}

// maintain boots a maintenance beside the claim, and ends it: the claim's installed system
// is back then, without another installation.
func (k *killed) maintain() {
	m := &resource.Maintenance{Spec: resource.MaintenanceSpec{
		ServerRef: resource.Ref{Name: "n1"}, Policy: resource.MaintenanceEnforced, Reason: "firmware",
		Boot: resource.MaintenanceBoot{Image: k.image, BootPolicy: resource.BootPolicy{FirstBoot: resource.FirstBootUefiHTTP}},
	}}
	m.Metadata.Name = "m1"
	m.Default()
	ctx := k.t.Context()
	k.try("the maintenance", func() error { _, err := k.client.Objects.Apply(ctx, []resource.Object{m}, false); return err })
	k.see("its boot", func() bool {
		v, ok := get[*resource.Server](k.site, "n1")
		return ok && v.Status.Phase == resource.PhaseMaintenance && v.Status.Report != nil && v.Status.Report.Attempt != nil &&
			v.Status.Report.Attempt.Intended != protocol.TargetHdd && v.Status.Report.Attempt.State == resource.AttemptSucceeded
	})
	k.try("its deletion", func() error {
		_, err := k.client.Objects.Delete(ctx, resource.KindMaintenance, "m1")
		if protocol.CodeOf(err) == protocol.CodeNotFound {
			return nil
		}
		return err
	})
	k.see("its end", func() bool {
		list, err := k.client.Objects.List(ctx, resource.KindMaintenance)
		return err == nil && len(list) == 0
	})
	k.see("the disk boot after it", func() bool {
		v, ok := get[*resource.Server](k.site, "n1")
		return ok && v.Status.Phase == resource.PhaseReserved && v.Status.Report != nil && diskBoot(v)
	})
}

func (k *killed) see(what string, ok func() bool) {
	k.t.Helper()
	k.until(what, func() bool { k.revive(); return ok() }, func() any {
		v, _ := get[*resource.Server](k.site, "n1")
		if v == nil || v.Status.Report == nil {
			return "no report"
		}
		return *v.Status.Report
	})
}

// once: each thing that happened at the agent is in the hub's log once, in order. boots
// is how often the server was booted from the network. Events go their own way to the log,
// and may come after all that they tell of.
func (k *killed) once(boots int) {
	k.t.Helper()
	want := map[resource.EventCode]int{
		resource.EventGrantUsed: boots, resource.EventProvisioned: boots,
		resource.EventHoldEnforced: 1, resource.EventFenced: 1, resource.EventHoldReleased: 1,
	}
	var all []api.EventRecord
	count := map[resource.EventCode]int{}
	k.see("the events", func() bool {
		list, err := k.client.Events(k.t.Context(), 0, 1000)
		if err != nil {
			return false
		}
		all = list.Items
		clear(count)
		for _, e := range all {
			if e.Agent != "hub" {
				count[e.Code]++
			}
		}
		for code, n := range want {
			if count[code] < n {
				return false
			}
		}
		return true
	})
	last := uint64(0)
	for _, e := range all {
		if e.Agent == "hub" {
			continue
		}
		if e.Seq <= last {
			k.t.Errorf("event %d (%s) came after event %d", e.Seq, e.Code, last)
		}
		last = e.Seq
	}
	for code, n := range want {
		if count[code] != n {
			k.t.Errorf("%d events %s, want %d; there are %v", count[code], code, n, count)
		}
	}
}
