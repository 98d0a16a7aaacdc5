package site

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	agentdaemon "rackboot/agent/daemon"
	bmcsim "rackboot/bmc/sim"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// rackctl builds the program, and returns what runs it against the site's hub.
func (s *site) rackctl() func(args ...string) string {
	s.t.Helper()
	bin, config := filepath.Join(s.t.TempDir(), "rackctl"), filepath.Join(s.t.TempDir(), "config.yaml")
	build := exec.CommandContext(s.t.Context(), "go", "build", "-buildvcs=false", "-o", bin, "rackboot/cmd/rackctl")
	if out, err := build.CombinedOutput(); err != nil {
		s.t.Fatalf("%v\n%s", err, out)
	}
	ca, err := json.Marshal(string(s.ca()))
	if err != nil {
		s.t.Fatal(err)
	}
	token := strings.TrimSpace(string(s.file(filepath.Join(s.hub.DataDir, "pki", "admin.token"))))
	text := fmt.Sprintf("current: site\ncontexts:\n- name: site\n  url: https://%s\n  ca: %s\n  token: %s\n", s.hub.API, ca, token)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		s.t.Fatal(err)
	}
	return func(args ...string) string {
		s.t.Helper()
		cmd := exec.CommandContext(s.t.Context(), bin, args...)
		cmd.Env = append(os.Environ(), "RACKCTL_CONFIG="+config)
		out, err := cmd.CombinedOutput()
		if err != nil {
			s.t.Fatalf("rackctl %v: %v\n%s", args, err, out)
		}
		return string(out)
	}
}

// TestReleasedServer: a server that its claim has let go shows nothing of that: no attempt, no
// report of its image, no environment, no condition of its boots, to people and to programs; nor
// does the next claim's, before it has booted. What was seen is in the trace and the events.
func TestReleasedServer(t *testing.T) {
	t.Parallel()
	up := newUpstream(t, map[string]string{"EFI/Linux.efi": envUKI})
	s := newSite(t, 1)
	s.hub.Secrets.KeyFile = s.keyFile("one.key", "01")
	s.startHub()
	s.apply(s.manifests()...)
	s.apply(repositoryObjects(up.URL + "/demo")...)
	c := s.firstAgent()
	c.Repositories = agentdaemon.Repositories{QuotaMiB: 64, Bases: []agentdaemon.Repository{{URL: up.URL + "/demo"}}}
	s.join(c)
	s.startAgent(c)
	claim := s.claim("n1")
	claim.Spec.Image, claim.Spec.BootEnv = "", &resource.Ref{Name: "demo-1-install"}
	s.apply(claim)
	s.untilServer("n1", "the disk boot after the installation", diskBoot)
	rackctl := s.rackctl()
	of := []string{"Attempt since", "Image reported", "c-n1", "demo-1"}
	before := rackctl("describe", "server", "n1", "--show-events=false") + rackctl("get", "server", "n1", "-o", "wide")
	for _, w := range of {
		if !strings.Contains(before, w) {
			t.Errorf("while the claim has it, there is no %q in\n%s", w, before)
		}
	}
	uid := s.untilServer("n1", "its report", func(v *resource.Server) bool { return v.Status.Report.Image != nil }).Status.Report.OwnerUID

	if _, err := s.client.Objects.Delete(t.Context(), resource.KindClaim, claim.Metadata.Name); err != nil {
		t.Fatal(err)
	}
	s.untilServer("n1", "the release", func(v *resource.Server) bool {
		return v.Status.Phase == resource.PhaseAvailable && v.Status.BootEnv == ""
	})
	clean := func(when string) {
		t.Helper()
		after := rackctl("describe", "server", "n1", "--show-events=false") + rackctl("get", "server", "n1", "-o", "wide")
		for _, w := range []string{"Attempt since", "Attempt evidence", "Image reported", "Boot URI", "demo-1", "c-n1", "Succeeded"} {
			if strings.Contains(after, w) {
				t.Errorf("%s there is %q in\n%s", when, w, after)
			}
		}
		if !strings.Contains(after, "52:54:00:00:00:01, link") {
			t.Errorf("%s what was found in the server is gone:\n%s", when, after)
		}
		if raw := rackctl("get", "server", "n1", "-o", "json"); strings.Contains(raw, uid) || strings.Contains(raw, "provisioned") {
			t.Errorf("%s a program reads of the former claim:\n%s", when, raw)
		}
	}
	clean("after the release")
	if all := rackctl("trace", "n1"); !strings.Contains(all, "Succeeded") {
		t.Errorf("the trace is gone:\n%s", all)
	}
	if all := rackctl("events"); !strings.Contains(all, string(resource.EventBootEnv)) {
		t.Errorf("the events are gone:\n%s", all)
	}

	// The next claim has it, and cannot boot it yet.
	s.reach(0, bmcsim.ReachRefused)
	next := s.claim("n1")
	next.Metadata.Name = "next"
	s.apply(next)
	v := s.untilServer("n1", "the next claim", func(v *resource.Server) bool { return v.Status.Claim == "next" && v.Status.Report.Power != "" })
	if v.Status.Report.Observation.Power == protocol.PowerOn {
		t.Errorf("it runs: %+v", v.Status)
	}
	clean("under the next claim")
}
