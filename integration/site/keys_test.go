package site

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	hubdaemon "rackboot/hub/daemon"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// metric is the value of one series of an agent; label may be empty.
func metric(t testing.TB, reg *prometheus.Registry, name, label string) (v float64) {
	t.Helper()
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			if f.GetName() != name || label != "" && (len(m.GetLabel()) == 0 || m.GetLabel()[0].GetValue() != label) {
				continue
			}
			v += m.GetGauge().GetValue() + m.GetCounter().GetValue()
		}
	}
	return v
}

// TestCertificatesLiveShortly: an agent renews before its certificate's end, keeps its
// connection meanwhile, connects with the new one, and after a sleep that was longer
// than a certificate's life comes back by its key alone.
func TestCertificatesLiveShortly(t *testing.T) {
	t.Parallel()
	s := newSite(t, 0)
	s.hub.CertificateLife = 6 * time.Second
	s.startHub()
	s.apply(s.manifests()...)
	c := s.firstAgent()
	s.join(c)
	s.scraped = prometheus.NewRegistry()
	stop := s.startAgent(c)
	renewed := func() float64 { return metric(t, s.scraped, "rackboot_agent_renewals_total", "renewed") }
	first := metric(t, s.scraped, "rackboot_agent_certificate_expiry_timestamp_seconds", "")
	s.until("two renewals", func() bool { return renewed() >= 2 }, func() any { return renewed() })
	if n := metric(t, s.scraped, "rackboot_link_connects_total", ""); n != 1 {
		t.Errorf("%v connections for two renewals", n)
	}
	if last := metric(t, s.scraped, "rackboot_agent_certificate_expiry_timestamp_seconds", ""); last <= first {
		t.Errorf("the certificate ends at %v, before at %v", last, first)
	}
	s.stopHub() // the first certificate has ended by now
	s.startHub()
	s.untilAgent("r1-1", "a report after the next handshake", func(a *resource.Agent) bool { return a.Status.LastReport != nil })

	stop()
	s.until("the end of the last certificate", func() bool {
		return float64(time.Now().Unix()) > metric(t, s.scraped, "rackboot_agent_certificate_expiry_timestamp_seconds", "")+1
	}, func() any { return "it is valid" })
	asleep := time.Now()
	s.scraped = prometheus.NewRegistry()
	s.startAgent(c)
	s.untilAgent("r1-1", "a report after the sleep", func(a *resource.Agent) bool {
		return a.Status.LastReport != nil && a.Status.LastReport.After(asleep)
	})
}

// TestRotateKeys: the signing key is replaced while one agent runs, with a claim whose
// grant was not used yet. The agent follows, takes documents of the new key, and installs
// once. A hub that is set back to the key before does not start where its folder tells of the newer
// one; else agents refuse it, and say so.
func TestRotateKeys(t *testing.T) {
	t.Parallel()
	s := newSite(t, 1)
	s.startHub()
	s.apply(s.manifests()...)
	c := s.firstAgent()
	s.join(c)

	stop := s.startAgent(c)
	s.untilServer("n1", "the server", func(v *resource.Server) bool { return v.Status.Report != nil })
	stop() // so that the grant waits
	s.apply(s.claim("n1"))
	s.until("the grant", func() bool {
		b, ok := get[*resource.BootConfiguration](s, "c-n1")
		return ok && len(b.Spec.Grant) > 0
	}, func() any { return "none" })
	before, _ := get[*resource.BootConfiguration](s, "c-n1")
	s.stopHub()
	saved := filepath.Join(t.TempDir(), "pki")
	copyDir(t, filepath.Join(s.hub.DataDir, "pki"), saved)
	for want := 1; want <= 2; want++ { // twice: an agent follows over several
		if n, err := hubdaemon.RotateSigning(t.Context(), s.hub); err != nil || n != want {
			t.Fatalf("%d statements, %v", n, err)
		}
	}
	stop = s.startAgent(c)
	s.startHub()
	s.untilServer("n1", "the installed server", diskBoot)
	s.installedOnce()
	if after, _ := get[*resource.BootConfiguration](s, "c-n1"); string(after.Spec.Grant) == string(before.Spec.Grant) {
		t.Error("the grant is signed by the key before")
	}
	h := s.place("n1", "k", resource.HoldFenced)

	s.stopHub()
	now := filepath.Join(t.TempDir(), "pki")
	copyDir(t, filepath.Join(s.hub.DataDir, "pki"), now)
	copyDir(t, saved, filepath.Join(s.hub.DataDir, "pki"))
	if err := hubdaemon.Run(t.Context(), s.hub, hubdaemon.Options{Version: "test", Logger: s.log, Ready: func() {}}); protocol.CodeOf(err) != protocol.CodeInvalid {
		t.Fatalf("a hub with keys of before, which do not fit hub.pub: %v", err)
	}
	if err := os.Remove(filepath.Join(s.hub.DataDir, "hub.pub")); err != nil { // as in a copy of all of the folder
		t.Fatal(err)
	}
	s.startHub()
	s.until("the refusal of the older keys", func() bool { return s.local(c, resource.CondKeysRefused) }, func() any { return "none" })
	s.until("the refusal of its messages", func() bool { return s.local(c, resource.CondMessagesRefused) }, func() any { return "none" })
	s.staysOff(0)
	s.stopHub()
	copyDir(t, now, filepath.Join(s.hub.DataDir, "pki"))
	s.startHub() // the newer keys lead on from those of hub.pub
	s.release(h.Metadata.Name)
	s.untilServer("n1", "the disk boot after the release", diskBoot)
	stop()
}

// TestRotateCA: agents learn to trust the next authority before it signs anything; a
// change that would leave one behind is refused.
func TestRotateCA(t *testing.T) {
	t.Parallel()
	s := newSite(t, 0)
	s.startHub()
	s.apply(s.manifests()...)
	c := s.firstAgent()
	s.join(c)
	stop := s.startAgent(c)
	s.untilAgent("r1-1", "the agent", func(a *resource.Agent) bool { return a.Status.LastReport != nil })
	stop()
	s.stopHub()
	if err := hubdaemon.RotateCA(t.Context(), s.hub, true, false); protocol.CodeOf(err) != protocol.CodeConflict {
		t.Errorf("finished without a next authority: %v", err)
	}
	if err := hubdaemon.RotateCA(t.Context(), s.hub, false, false); err != nil {
		t.Fatal(err)
	}
	s.startHub()
	s.stopHub()
	if err := hubdaemon.RotateCA(t.Context(), s.hub, true, false); protocol.CodeOf(err) != protocol.CodeConflict {
		t.Errorf("finished although the agent was away: %v", err)
	}
	s.scraped = prometheus.NewRegistry()
	s.startHub()
	s.startAgent(c)
	told := func() float64 { return metric(t, s.scraped, "rackboot_agent_renewals_total", "standing") }
	s.until("the agent that was told, and said that it knows", func() bool { return told() >= 2 }, func() any { return told() })
	s.stopHub()
	if err := hubdaemon.RotateCA(t.Context(), s.hub, true, false); err != nil {
		t.Fatal(err)
	}
	old := s.ca()
	s.client = nil // people need the new ca.pem
	changed := time.Now()
	s.runHub()
	if string(s.ca()) == string(old) {
		t.Error("ca.pem is the old one")
	}
	s.untilReady()
	s.untilAgent("r1-1", "a report over the new authority", func(a *resource.Agent) bool {
		return a.Status.LastReport != nil && a.Status.LastReport.After(changed)
	})
}

func copyDir(t testing.TB, from, to string) {
	t.Helper()
	if err := os.RemoveAll(to); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), "cp", "-a", from, to).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}
