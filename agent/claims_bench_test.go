package agent

import (
	"context"
	"crypto/sha256"
	"flag"
	"fmt"
	"os"
	"runtime/pprof"
	"strconv"
	"strings"
	"testing"
	"time"

	"rackboot/agent/files"
	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
	"rackboot/protocol/wire"
	"rackboot/state/blob"
)

var (
	benchClaims  = flag.Int("claims", 500, "how many claims BenchmarkClaims gives to the agent at once")
	benchProfile = flag.String("claims-profile", "", "file for the processor profile of the agent while it takes the claims of BenchmarkClaims")
)

// claimed is the boot file of all claims.
const claimed = "MZ unified kernel image"

// oneImage pulls the only image that there is.
type oneImage struct{ blobs *blob.Store }

func (i oneImage) Pull(ctx context.Context, _ resource.Image) error {
	return i.blobs.Write(ctx, claimedDigest(), int64(len(claimed)), strings.NewReader(claimed))
}

func claimedDigest() string { return fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(claimed))) }

// BenchmarkClaims gives claims of a whole rack to its agent at once, whose servers are at rest, off and known: from the first
// document until the first and the last machine is switched on, by the BMCs' own clock, each with its boot override
// written before. The BMCs are another process and answer at once; the agent's disk is a real one. There is no inrush limit.
func BenchmarkClaims(b *testing.B) {
	for b.Loop() {
		r := newBenchRack(b, *benchClaims, "Plain", 15*time.Second, func(s *blob.Store) files.Puller { return oneImage{s} })
		r.known()
		time.Sleep(2 * time.Second) // what comes after a board
		for i := range r.servers {
			r.claim(&r.servers[i])
		}
		documents := r.sealed()
		used, theirs := processor(), processorOf(b, r.process)
		before := map[string]float64{}
		for _, op := range []string{"observe", "set_boot", "reset"} {
			before[op] = r.calls(op)
		}
		profiled := profile(b)
		began := time.Now()
		for _, d := range documents {
			r.give(d.topic, d.raw)
		}
		applied := time.Since(began)
		late := time.AfterFunc(2*time.Minute, func() {
			servers, _ := r.agent.reports.Snapshot()
			for _, s := range servers {
				if s.Observation.Power != protocol.PowerOn {
					panic(fmt.Sprintf("a server that is not On: %+v, attempt %+v, awaits %+v", s, s.Attempt, s.Awaits))
				}
			}
			panic("not all machines are On")
		})
		var first, last time.Duration
		on := map[int]bool{}
		for len(on) < len(r.servers) {
			var s simulated
			if err := r.said.Decode(&s); err != nil {
				b.Fatal(err)
			}
			if on[s.N] {
				b.Errorf("%d was switched on twice", s.N)
			}
			if on[s.N], last = true, s.On.Sub(began); len(on) == 1 {
				first = last
			}
		}
		late.Stop()
		profiled()
		b.ReportMetric(applied.Seconds(), "applied-s")
		b.ReportMetric(first.Seconds(), "first-s")
		b.ReportMetric(last.Seconds(), "last-s")
		b.ReportMetric((processor() - used).Seconds(), "agent-cpu-s")
		b.ReportMetric((processorOf(b, r.process) - theirs).Seconds(), "bmcs-cpu-s")
		for op, was := range before {
			b.ReportMetric((r.calls(op)-was)/float64(len(r.servers)), strings.ReplaceAll(op, "_", "-")+"/server")
		}
	}
}

// profile begins the profile that was asked for, and returns what ends it.
func profile(b *testing.B) (end func()) {
	b.Helper()
	if *benchProfile == "" {
		return func() {}
	}
	f, err := os.Create(*benchProfile)
	if err == nil {
		err = pprof.StartCPUProfile(f)
	}
	if err != nil {
		b.Fatal(err)
	}
	return func() {
		pprof.StopCPUProfile()
		if err := f.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

// claim claims a server, with a grant for one installation.
func (r *benchRack) claim(in *message.ServerIntent) {
	r.b.Helper()
	digest := claimedDigest()
	in.Owner, in.Power = resource.Owner{Name: in.Server, UID: "claim-" + in.Server}, resource.WantOn
	policy := resource.BootPolicy{FirstBoot: resource.FirstBootUefiHTTP, Boot: resource.BootHdd}
	in.Boot = &message.BootIntent{Owner: in.Owner, GrantedBoot: resource.GrantedBoot{Generation: 1, BootSpec: resource.BootSpec{
		BootPolicy: policy, Image: resource.Image{Digest: digest, Architecture: "amd64", Artefacts: []resource.Artefact{{Kind: resource.ArtefactUKI, Digest: digest, Size: int64(len(claimed))}}},
	}}}
	grant, err := wire.Seal(r.hub, wire.FactGrant, message.Grant{
		OwnerUID: in.Owner.UID, Generation: 1, Server: in.Server, ServerUID: in.UID, ImageDigest: digest,
		FirstBoot: policy.FirstBoot, MaxAttempts: 3, IssuedAt: time.Now(), Purpose: in.Owner.Kind,
	})
	if err != nil {
		r.b.Fatal(err)
	}
	in.Boot.Grant = grant
}

// processorOf is the processor time of another process so far; the clock of proc(5) has 100 ticks a second.
func processorOf(b *testing.B, pid int) time.Duration {
	b.Helper()
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		b.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(raw), ") ")
	ticks := 0
	for _, f := range strings.Fields(rest)[11:13] {
		n, err := strconv.Atoi(f)
		if err != nil {
			b.Fatal(err)
		}
		ticks += n
	}
	return time.Duration(ticks) * 10 * time.Millisecond
}
