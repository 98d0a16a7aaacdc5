//go:build soak

package firmware

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"rackboot/integration/netns"
	"rackboot/protocol/resource"
)

const (
	// debianUpstream is where Debian's packages are from, as in integration/packages.
	debianUpstream = "http://deb.debian.org"
	// debianMirror is a mirror on the boot segment, from which no route leads on.
	debianMirror = bootAddress + ":8081"
	debianISO    = "debian-13-mini-amd64.iso"
	debianFiles  = "usr/lib/debian-installer/images/13/amd64/text/debian-installer/amd64"
	debianDisk   = 16 << 30
	// debianTimeout is for the whole installation under emulation: several times of what was measured.
	debianTimeout = time.Hour
)

// TestOVMFDebian takes a claim with a Debian of its installer to its end: the ISO is uploaded to
// the hub, real firmware boots the installer out of it by an environment, the installer reads the
// preseed file that was rendered for it, installs Debian's own packages, reports, and restarts
// the machine. Then GRUB on its disk boots the kernel that was installed there, up to the
// question who logs in.
//
// The environment is the shipped one with the names of Debian's stable release: of older ones
// what stands in front of a mirror may have no installer any more.
func TestOVMFDebian(t *testing.T) {
	need(t, loaderOf(t, "trixie-amd64", debianFiles+"/linux"))
	ctx := flowWithin(t, 2*debianTimeout)
	s := newSite(ctx, t)
	s.alone, s.agentFile, s.memory, s.disk = true, "agent-env.yaml", installerMemory, debianDisk
	s.buildPrograms(ctx, t)
	mirror := newDebianProxy(t)
	s.serveAt(ctx, t, s.rackA, debianMirror, mirror)
	image := buildInstallerOf(ctx, t, s.dir, loaderOf(t, "trixie-amd64", debianFiles), nil)
	s.startHub(ctx, t)
	s.startMachines(ctx, t)
	s.startAgents(ctx, t)

	s.rackctl(ctx, t, "iso", "upload", image, "--name", debianISO)
	s.logf(t, "ISO uploaded")
	s.rackctl(ctx, t, "apply", "-f", s.nextDebian(t))
	// The first disk of the machine is the blank one where it stops safely.
	s.claimEnv(ctx, t, map[string]string{
		"ENV": "debian-13-install", "LINE": "console=ttyS0", "REPOSITORIES": " []\n    install/disk: /dev/vdb\n    debian/mirror: http://" + debianMirror + "/debian",
	})
	s.served(ctx, t, seedTimeout, "/preseed.cfg")
	s.until(ctx, t, debianTimeout, "the installer has reported", func(ctx context.Context) (bool, error) {
		// What is of a high priority is asked, whatever the preseed file says.
		if _, question, asks := strings.Cut(s.console(), "[!!] "); asks {
			return false, fmt.Errorf("the installer asks: %.200s; what the mirror does not have: %q", drawing.ReplaceAllString(question, " "), mirror.missed())
		}
		out, err := s.output(ctx, s.hub, s.path("rackctl"), "events", "-o", "json")
		return strings.Contains(out, string(resource.EventInstalled)), err
	})
	s.event(ctx, t, time.Minute, "server-a", resource.EventInstalled, 1)
	s.event(ctx, t, firmwareTimeout, "server-a", resource.EventProvisioned, 1)
	s.event(ctx, t, firmwareTimeout, "server-a", resource.EventDiskBoot, 1)
	s.until(ctx, t, installTimeout, "the installed system asks who logs in", func(context.Context) (bool, error) {
		return strings.Contains(s.console(), "Debian GNU/Linux 13 server-a ttyS0"), nil
	})
}

// drawing is what draws a dialog on a terminal around its text.
var drawing = regexp.MustCompile(`(\x1b\[[0-9;]*[A-Za-z]|\x1b\(.x?|\s)+`)

// nextDebian is the shipped environment for the next release, with less to install: no task, no
// recommendation, and the smaller one of Debian's kernels.
func (s *site) nextDebian(t *testing.T) string {
	t.Helper()
	raw, err := os.ReadFile(installerRoot)
	if err != nil {
		t.Fatal(err)
	}
	text := string(raw)
	for _, edit := range [][2]string{
		{"debian-12", "debian-13"},
		{"bookworm", "trixie"},
		{`version: "12"`, `version: "13"`},
		{"tasksel tasksel/first multiselect standard, ssh-server\n", "tasksel tasksel/first multiselect\n"},
		{"d-i pkgsel/upgrade select full-upgrade\n", "d-i pkgsel/upgrade select none\n    d-i base-installer/install-recommends boolean false\n    d-i base-installer/kernel/image string linux-image-cloud-amd64\n"},
	} {
		if !strings.Contains(text, edit[0]) {
			t.Fatalf("%s has no %q", installerRoot, edit[0])
		}
		text = strings.ReplaceAll(text, edit[0], edit[1])
	}
	s.write(t, "debian-13-install.yaml", text)
	return s.path("debian-13-install.yaml")
}

// debianProxy is Debian's mirror, and knows what that does not have.
type debianProxy struct {
	httputil.ReverseProxy
	mu     sync.Mutex
	absent []string // names below a pool
}

func newDebianProxy(t *testing.T) *debianProxy {
	t.Helper()
	to, err := url.Parse(debianUpstream)
	if err != nil {
		t.Fatal(err)
	}
	p := &debianProxy{}
	p.Rewrite = func(r *httputil.ProxyRequest) { r.SetURL(to) }
	p.ModifyResponse = func(r *http.Response) error {
		if name := r.Request.URL.Path; r.StatusCode != http.StatusOK && strings.Contains(name, "/pool/") {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.absent = append(p.absent, name)
		}
		return nil
	}
	return p
}

// missed are the packages that were asked for in vain.
func (p *debianProxy) missed() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Compact(slices.Sorted(slices.Values(p.absent)))
}

// serveAt serves at an address of a namespace until the test ends.
func (s *site) serveAt(ctx context.Context, t *testing.T, ns *netns.Namespace, address string, h http.Handler) {
	t.Helper()
	server := &http.Server{Handler: h, ReadHeaderTimeout: time.Minute}
	var listener net.Listener
	err := ns.Do(func() (err error) {
		listener, err = (&net.ListenConfig{}).Listen(ctx, "tcp4", address)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	t.Cleanup(func() {
		_ = server.Close()
		<-served
	})
}
