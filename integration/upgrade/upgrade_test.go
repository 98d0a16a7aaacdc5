package upgrade

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"rackboot/agent/installed"
	"rackboot/protocol"
	"rackboot/protocol/agentpackage"
	"rackboot/protocol/message"
	"rackboot/protocol/wire"
)

// waitAtMost bounds each wait of a test.
const waitAtMost = 90 * time.Second

// The versions that are built.
const (
	v1 = "0.1.0"
	v2 = "0.2.0"
)

// programs are the folder with what is built once for all tests: launcher, agents of both versions, hub and rackctl.
var programs string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "upgrade")
	if err == nil {
		programs = dir
		err = build(dir)
	}
	code := 1
	if err == nil {
		code = m.Run()
	} else {
		fmt.Fprintln(os.Stderr, err)
	}
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

func build(dir string) error {
	if err := os.WriteFile(filepath.Join(dir, "silent.go"), []byte(silent), 0o600); err != nil {
		return err
	}
	for _, b := range []struct{ out, version, pkg string }{
		{"rackboot-launcher", v1, "rackboot/cmd/rackboot-launcher"},
		{"agent-" + v1, v1, "rackboot/cmd/rackboot-agent"},
		{"agent-" + v2, v2, "rackboot/cmd/rackboot-agent"},
		{"rackboot-hub", v1, "rackboot/cmd/rackboot-hub"},
		{"rackctl", v1, "rackboot/cmd/rackctl"},
		{"silent", v1, filepath.Join(dir, "silent.go")},
	} {
		cmd := exec.Command("go", "build", "-buildvcs=false", "-ldflags", "-s -w -X main.version="+b.version, "-o", filepath.Join(dir, b.out), b.pkg)
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
		if said, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("build %s: %w\n%s", b.pkg, err, said)
		}
	}
	return nil
}

// silent is a program in the place of an agent: it starts, and says nothing to anybody.
const silent = `package main

import "time"

func main() { time.Sleep(time.Hour) }
`

// host is where an agent runs: its folder, its file, and the programs that are installed.
type host struct {
	t         *testing.T
	hub       *hub
	dir       string
	publisher ed25519.PrivateKey
	window    time.Duration // of trials
	log       *log
	cmd       *exec.Cmd
	done      chan error
}

func newHost(t *testing.T) (h *host) {
	t.Helper()
	h = emptyHost(t)
	h.hub = newHub(t)
	h.join(h.hub.api.URL, "secret", h.hub.ca)
	return h
}

// emptyHost is a host whose agent has not joined.
func emptyHost(t *testing.T) (h *host) {
	t.Helper()
	dir, err := os.MkdirTemp("", "up") // short: a socket is in it
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("%s", h.log)
		}
		_ = os.RemoveAll(dir)
	})
	h = &host{t: t, dir: dir, publisher: ed25519.NewKeyFromSeed(bytes.Repeat([]byte{7}, 32)), window: time.Minute, log: &log{news: make(chan struct{}, 1)}}
	for _, sub := range []string{"bin", "credentials"} {
		if err := os.Mkdir(filepath.Join(dir, sub), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	h.install("rackboot-launcher", "rackboot-launcher")
	h.install("agent-"+v1, "rackboot-agent")
	h.write("credentials/bmc", "username: admin\npassword: secret\n")
	_, public, err := wire.EncodeKey(h.publisher)
	if err != nil {
		t.Fatal(err)
	}
	h.write("publisher.pub", string(public))
	h.write("agent.yaml", fmt.Sprintf("dataDir: %[1]s/data\ncredentialsDir: %[1]s/credentials\nlink: {firstDelay: 0s}\nisos: {spread: 0s}\nupgrade: {keys: [%[1]s/publisher.pub]}\n", dir))
	return h
}

// join has the agent join a hub.
func (h *host) join(hub, token string, ca []byte) {
	h.t.Helper()
	h.write("ca.pem", string(ca))
	said, err := exec.Command(h.path("bin/rackboot-agent"), "join", "--config", h.path("agent.yaml"), "--hub", hub, "--token", token, "--ca", h.path("ca.pem")).CombinedOutput()
	if err != nil {
		h.t.Fatalf("join: %v\n%s", err, said)
	}
}

func (h *host) path(name string) string { return filepath.Join(h.dir, name) }

func (h *host) write(name, text string) {
	h.t.Helper()
	if err := os.WriteFile(h.path(name), []byte(text), 0o600); err != nil {
		h.t.Fatal(err)
	}
}

// install puts a program in the place of the package manager.
func (h *host) install(program, as string) {
	h.t.Helper()
	raw, err := os.ReadFile(filepath.Join(programs, program))
	if err == nil {
		err = os.WriteFile(h.path("bin/.new"), raw, 0o700) // #nosec G306 -- a program
	}
	if err == nil {
		err = os.Rename(h.path("bin/.new"), h.path("bin/"+as))
	}
	if err != nil {
		h.t.Fatal(err)
	}
}

// start starts the launcher.
func (h *host) start() {
	h.t.Helper()
	h.cmd = exec.Command(h.path("bin/rackboot-launcher"), "run", "--config", h.path("agent.yaml"))
	h.cmd.Env = append(os.Environ(), "STATE_DIRECTORY="+h.path("data"), "RACKBOOT_LAUNCHER_WINDOW="+h.window.String())
	h.cmd.Stdout, h.cmd.Stderr = h.log, h.log
	if err := h.cmd.Start(); err != nil {
		h.t.Fatal(err)
	}
	h.done = make(chan error, 1)
	cmd, done := h.cmd, h.done
	go func() { done <- cmd.Wait() }()
	h.t.Cleanup(h.kill)
}

// stop ends the launcher as systemd does, and wants it to end well.
func (h *host) stop() {
	h.t.Helper()
	if err := h.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		h.t.Fatal(err)
	}
	select {
	case err := <-h.done:
		if err != nil {
			h.t.Errorf("the launcher ended with %v", err)
		}
		h.done <- err
	case <-time.After(waitAtMost):
		h.t.Fatalf("the launcher does not end:\n%s", h.log)
	}
}

// kill ends the launcher as a power cut does, and waits for it; the agent ends with it.
func (h *host) kill() {
	_ = h.cmd.Process.Kill()
	err := <-h.done
	h.done <- err
}

// until waits until something is so.
func (h *host) until(what string, so func() bool) {
	h.t.Helper()
	ctx, cancel := context.WithTimeout(h.t.Context(), waitAtMost)
	defer cancel()
	for !so() {
		select {
		case <-h.hub.news:
		case <-h.log.news:
		case <-ctx.Done():
			h.t.Fatalf("not so: %s; the last report is %+v\n%s", what, h.hub.reported(), h.log)
		}
	}
}

// runs waits until an agent of a version has said Hello, after the n-th.
func (h *host) runs(version string, after int) (hellos int) {
	h.t.Helper()
	h.until(version+" says Hello", func() bool {
		m, n := h.hub.greeted()
		hellos = n
		return n > after && m.Version == version
	})
	return hellos
}

// stage waits until the hub is told of an order that it has come to a stage.
func (h *host) stage(order string, stage message.UpgradeStage, code message.UpgradeCode) (u message.UpgradeReport) {
	h.t.Helper()
	h.until(fmt.Sprintf("order %s is %s %s", order, stage, code), func() bool {
		u = h.hub.reported()
		return u.Order == order && u.Stage == stage && u.Code == code
	})
	return u
}

// order has the hub order a program, which is signed and there.
func (h *host) order(name, version string, program []byte) message.UpgradeIntent {
	h.t.Helper()
	return h.orderOther(name, version, program, program)
}

// orderOther has the hub order a program, and give another one in its place.
func (h *host) orderOther(name, version string, program, given []byte) message.UpgradeIntent {
	h.t.Helper()
	digest := wire.Digest(program)
	signed, err := agentpackage.Sign(agentpackage.Manifest{
		Version: version, Protocol: protocol.Version, From: v1, MadeAt: time.Now().UTC(),
		Binaries: []agentpackage.Binary{{Architecture: runtime.GOARCH, SHA256: digest, Size: int64(len(program))}},
	}, h.publisher)
	if err != nil {
		h.t.Fatal(err)
	}
	h.hub.mu.Lock()
	h.hub.files[digest] = given
	h.hub.mu.Unlock()
	u := message.UpgradeIntent{Order: name, Manifest: signed, NotAfter: time.Now().Add(time.Hour)}
	h.hub.order(&u)
	return u
}

func (h *host) program(name string) []byte {
	h.t.Helper()
	raw, err := os.ReadFile(filepath.Join(programs, name))
	if err != nil {
		h.t.Fatal(err)
	}
	return raw
}

// record is what the host says of its programs.
func (h *host) record() installed.Record {
	h.t.Helper()
	r, err := (installed.Files{Dir: installed.Dir(h.path("data"))}).Read()
	if err != nil {
		h.t.Fatal(err)
	}
	return r
}

// log keeps what a process writes.
type log struct {
	mu   sync.Mutex
	text bytes.Buffer
	news chan struct{}
}

func (l *log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	select {
	case l.news <- struct{}{}:
	default:
	}
	return l.text.Write(p)
}

func (l *log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

func (l *log) has(text string) bool { return strings.Contains(l.String(), text) }

// TestUpgrade: an agent becomes another release by the hub's order, and stays that one: after a restart, and when the same
// order comes again. A second release goes into the other slot.
func TestUpgrade(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	h.start()
	n := h.runs(v1, 0)
	if m, _ := h.hub.greeted(); !slices.Contains(m.Capabilities, message.CapUpgrade) {
		t.Errorf("it can %v", m.Capabilities)
	}
	first := h.order("01first", v2, h.program("agent-"+v2))
	n = h.runs(v2, n)
	u := h.stage("01first", message.UpgradeDone, "")
	if r := h.record(); r.Current != installed.SlotA || r.Trial != nil || u.Running != r.Digest {
		t.Errorf("the record is %+v, the report %+v", r, u)
	}

	h.stop()
	h.hub.order(&first)
	h.start()
	n = h.runs(v2, n)
	h.stage("01first", message.UpgradeDone, "")

	h.order("01second", v1, h.program("agent-"+v1))
	h.runs(v1, n)
	h.stage("01second", message.UpgradeDone, "")
	if r := h.record(); r.Current != installed.SlotB {
		t.Errorf("the record is %+v", r)
	}
	h.stop()
}

// TestUpgradeReturns: a release that the hub does not hear in time, one that ends at once, and one that cannot be started are
// given up, and the one before runs and says why. The order is not tried again.
func TestUpgradeReturns(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		program string
		window  time.Duration
		code    message.UpgradeCode
	}{
		"it never says Hello":      {"#!/bin/sh\nexec sleep 600\n", 2 * time.Second, message.UpgradeUnheard},
		"it ends at once":          {"#!/bin/sh\nexit 3\n", time.Minute, message.UpgradeExited},
		"it ends well":             {"#!/bin/sh\nexit 0\n", time.Minute, message.UpgradeExited},
		"it ends as for a release": {fmt.Sprintf("#!/bin/sh\nexit %d\n", installed.ExitUpgrade), time.Minute, message.UpgradeExited},
		"it is no program":         {"no program", time.Minute, message.UpgradeUnusable},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHost(t)
			h.window = row.window
			h.start()
			n := h.runs(v1, 0)
			order := h.order("01bad", v2, []byte(row.program))
			h.runs(v1, n)
			h.stage("01bad", message.UpgradeReturned, row.code)
			n = h.runs(v1, 0)
			h.hub.order(&order) // once more, in a newer document
			h.stop()
			h.start()
			h.runs(v1, n)
			if u := h.stage("01bad", message.UpgradeReturned, row.code); u.Message == "" {
				t.Errorf("%+v", u)
			}
			if r := h.record(); r.Current != installed.Packaged || r.Trial != nil {
				t.Errorf("the record is %+v", r)
			}
			h.stop()
		})
	}
}

// TestUpgradeUnanswered: a release that runs well and is not answered by the hub is given up, too.
func TestUpgradeUnanswered(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	h.window = 4 * time.Second
	h.start()
	h.runs(v1, 0)
	h.order("01order", v2, h.program("agent-"+v2))
	h.until("the trial", func() bool { return h.log.has("the agent ends for another release") })
	h.hub.silence(true)
	h.until("it is given up", func() bool { return h.log.has("the release is given up") })
	h.hub.silence(false)
	_, n := h.hub.greeted()
	h.runs(v1, n)
	h.stage("01order", message.UpgradeReturned, message.UpgradeUnheard)
	h.stop()
}

// TestUpgradeRefused: what is not the publisher's, not whole, or too late is never started.
func TestUpgradeRefused(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	h.start()
	h.runs(v1, 0)

	good := h.publisher
	h.publisher = ed25519.NewKeyFromSeed(bytes.Repeat([]byte{8}, 32))
	h.order("01foreign", v2, []byte("#!/bin/sh\nexit 3\n"))
	h.stage("01foreign", message.UpgradeRefused, message.UpgradeBadSignature)
	h.publisher = good

	program := []byte("#!/bin/sh\nexit 4\n")
	flipped := bytes.Clone(program)
	flipped[len(flipped)-2] ^= 1
	h.orderOther("01flipped", v2, program, flipped)
	h.stage("01flipped", message.UpgradeRefused, message.UpgradeBadFile)

	late := h.order("01late", v2, []byte("#!/bin/sh\nexit 5\n"))
	late.Order, late.NotAfter = "01later", time.Now().Add(-time.Minute)
	h.hub.order(&late)
	h.stage("01later", message.UpgradeRefused, message.UpgradeLate)

	torn := late
	torn.Order, torn.Manifest = "01torn", late.Manifest[:len(late.Manifest)-1]
	h.hub.order(&torn)
	h.stage("01torn", message.UpgradeRefused, message.UpgradeBadManifest)
	h.stop()
}

// TestUpgradeWaits: as long as a server is held and not proved off, the agent does not restart; then it does.
func TestUpgradeWaits(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	h.start()
	n := h.runs(v1, 0)
	h.hub.hold()
	h.order("01order", v2, h.program("agent-"+v2))
	if u := h.stage("01order", message.UpgradeWaiting, message.UpgradeWaitsHold); !strings.Contains(u.Message, "n1") {
		t.Errorf("%+v", u)
	}
	h.hub.release()
	h.runs(v2, n)
	h.stage("01order", message.UpgradeDone, "")
	h.stop()
}

// TestPackagedWins: what the host's package manager installs goes before a release of the hub's order.
func TestPackagedWins(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	h.start()
	n := h.runs(v1, 0)
	h.order("01order", v2, h.program("agent-"+v2))
	n = h.runs(v2, n)
	h.stage("01order", message.UpgradeDone, "")
	h.stop()
	h.write("bin/.more", string(append(h.program("agent-"+v1), '\n'))) // another build of the same version
	if err := os.Chmod(h.path("bin/.more"), 0o700); err != nil {       // #nosec G302 -- a program
		t.Fatal(err)
	}
	if err := os.Rename(h.path("bin/.more"), h.path("bin/rackboot-agent")); err != nil {
		t.Fatal(err)
	}
	h.start()
	h.runs(v1, n)
	h.stage("01order", message.UpgradeReturned, message.UpgradeReplaced)
	h.stop()
}

// TestPowerCuts: whenever the launcher is killed, the next one goes on: the release is tried with the rest of its time, and
// stays if it is heard in it.
func TestPowerCuts(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	h.start()
	h.runs(v1, 0)
	h.hub.silence(true)
	_, n := h.hub.greeted()
	h.order("01order", v2, h.program("agent-"+v2))
	for range 3 {
		h.until(v2+" runs", func() bool { m, all := h.hub.greeted(); return all > n && m.Version == v2 })
		h.kill()
		_, n = h.hub.greeted()
		if r := h.record(); r.Trial == nil || r.Trial.Order != "01order" {
			t.Fatalf("%+v", r)
		}
		h.start()
	}
	h.hub.silence(false)
	h.runs(v2, n)
	h.stage("01order", message.UpgradeDone, "")
	_, n = h.hub.greeted()
	h.kill()
	h.start()
	h.runs(v2, n)
	if r := h.record(); r.Current != installed.SlotA {
		t.Errorf("%+v", r)
	}
	h.stop()
}

// TestDamage: with a damaged record, or a damaged program in the slot, the packaged program runs and the hub is told.
func TestDamage(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	h.start()
	n := h.runs(v1, 0)
	order := h.order("01order", v2, h.program("agent-"+v2))
	n = h.runs(v2, n)
	h.stage("01order", message.UpgradeDone, "")
	h.stop()

	slot := h.path("data/upgrade/a/rackboot-agent")
	raw := h.program("agent-" + v2)
	raw[len(raw)/2] ^= 1
	if err := os.WriteFile(slot, raw, 0o700); err != nil { // #nosec G306 -- a program
		t.Fatal(err)
	}
	h.start()
	n = h.runs(v1, n)
	h.stage("01order", message.UpgradeReturned, message.UpgradeUnusable)

	order.Order = "01again"
	h.hub.order(&order)
	n = h.runs(v2, n)
	h.stage("01again", message.UpgradeDone, "")
	h.stop()
	h.write("data/upgrade/record.json", "{}")
	h.start()
	h.runs(v1, n)
	h.stage("01again", message.UpgradeReturned, message.UpgradeBroken)
	h.stop()
}
