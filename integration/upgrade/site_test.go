package upgrade

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"rackboot/integration/sim"
	"rackboot/protocol/api"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
	"rackboot/protocol/wire"
)

// site is rackboot-hub, and a host whose agent it lets join.
type site struct {
	*host
	url    string
	hubLog *log
	client *api.Client
}

// newSite starts the hub, which takes the packages of two publishers: the one whose key the agent has, and another one.
func newSite(t *testing.T, other ed25519.PrivateKey) *site {
	t.Helper()
	s := &site{host: emptyHost(t), hubLog: &log{news: make(chan struct{}, 1)}}
	addrs, err := sim.FreeAddresses("127.0.0.1", 2)
	if err != nil {
		t.Fatal(err)
	}
	s.url = "https://" + addrs[0].String()
	s.key("publisher", s.publisher)
	s.key("other", other)
	s.write("hub.yaml", fmt.Sprintf("dataDir: %[1]s/hub\napi: %[2]s\nmqtt: %[3]s\nnames: [127.0.0.1]\nendpoints: {brokers: [\"mqtts://%[3]s\"], api: [\"https://%[2]s\"]}\nisos: {minFreeMiB: 1}\nupgrade: {keys: [%[1]s/publisher.pub, %[1]s/other.pub]}\n",
		s.dir, addrs[0], addrs[1]))
	cmd := exec.Command(filepath.Join(programs, "rackboot-hub"), "run", "--config", s.path("hub.yaml"))
	cmd.Stdout, cmd.Stderr = s.hubLog, s.hubLog
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		select {
		case err := <-ended:
			if err != nil {
				t.Errorf("the hub ended with %v", err)
			}
		case <-time.After(waitAtMost):
			_ = cmd.Process.Kill()
			<-ended
			t.Error("the hub does not end")
		}
		if t.Failed() {
			t.Logf("the hub:\n%s", s.hubLog)
		}
	})
	s.eventually("the hub is ready", func() bool { return s.hubLog.has("ready") })
	ca, token := s.read("hub/ca.pem"), strings.TrimSpace(s.read("hub/pki/admin.token"))
	quoted, err := json.Marshal(ca)
	if err != nil {
		t.Fatal(err)
	}
	s.write("rackctl.yaml", fmt.Sprintf("current: test\ncontexts:\n- name: test\n  url: %s\n  ca: %s\n  token: %s\n", s.url, quoted, token))
	if s.client, err = api.NewClient(api.Config{BaseURL: s.url, Token: token, CA: []byte(ca)}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.client.CloseIdle)
	s.apply("kind: Rack\nmetadata: {name: r1}\n")
	joins, err := s.client.Agents.NewToken(t.Context(), "r1", api.TokenRequest{})
	if err != nil {
		t.Fatal(err)
	}
	s.join(s.url, joins.Token, []byte(ca))
	return s
}

func (s *site) read(name string) string {
	s.t.Helper()
	raw, err := os.ReadFile(s.path(name))
	if err != nil {
		s.t.Fatal(err)
	}
	return string(raw)
}

// key writes a publisher's key.
func (s *site) key(name string, key ed25519.PrivateKey) {
	s.t.Helper()
	private, public, err := wire.EncodeKey(key)
	if err != nil {
		s.t.Fatal(err)
	}
	s.write(name+".pem", string(private))
	s.write(name+".pub", string(public))
}

// rackctl runs it, and returns what it prints and what it says of that.
func (s *site) rackctl(args ...string) (out, said string, err error) {
	ctx, cancel := context.WithTimeout(s.t.Context(), waitAtMost)
	defer cancel()
	cmd := exec.CommandContext(ctx, filepath.Join(programs, "rackctl"), args...)
	cmd.Env, cmd.Dir = append(os.Environ(), "RACKCTL_CONFIG="+s.path("rackctl.yaml")), s.dir
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err = cmd.Run()
	return stdout.String(), stderr.String(), err
}

func (s *site) does(args ...string) string {
	s.t.Helper()
	out, said, err := s.rackctl(args...)
	if err != nil {
		s.t.Fatalf("rackctl %s: %v\n%s", strings.Join(args, " "), err, said)
	}
	return out
}

func (s *site) apply(text string) {
	s.t.Helper()
	s.write("object.yaml", "apiVersion: rackboot/v1\n"+text)
	s.does("apply", "-f", s.path("object.yaml"))
}

// makes makes a package, and returns its file.
func (s *site) makes(key, version, program string) string {
	s.t.Helper()
	out := key + "-" + version + ".tar"
	s.does("agent-package", "make", "--key", s.path(key+".pem"), "--version", version, "--from", v1, "--binary", runtime.GOARCH+"="+filepath.Join(programs, program), "-o", s.path(out))
	return s.path(out)
}

// pushes makes and pushes a package, and returns its digest.
func (s *site) pushes(key, version, program string) string {
	s.t.Helper()
	return strings.TrimSpace(s.does("agent-package", "push", s.makes(key, version, program), "-o", "jsonpath={.digest}"))
}

// upgrades has all racks run a package, and waits until the roll-out has come to a phase.
func (s *site) upgrades(name, digest string, phase resource.RolloutPhase) *resource.AgentUpgrade {
	s.t.Helper()
	s.apply(fmt.Sprintf("kind: AgentUpgrade\nmetadata: {name: %s}\nspec: {package: %q, rollout: {soak: 1s}}\n", name, digest))
	var u *resource.AgentUpgrade
	s.eventually(name+" is "+string(phase), func() (so bool) {
		var err error
		if u, err = api.Get[*resource.AgentUpgrade](s.t.Context(), s.client, name); err != nil {
			s.t.Fatal(err)
		}
		return u.Status.Rollout != nil && u.Status.Rollout.Phase == phase
	})
	return u
}

func (s *site) agent() *resource.Agent {
	s.t.Helper()
	a, err := api.Get[*resource.Agent](s.t.Context(), s.client, agentID)
	if err != nil {
		s.t.Fatal(err)
	}
	return a
}

// eventually asks until something is so.
func (s *site) eventually(what string, so func() bool) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), 2*waitAtMost)
	defer cancel()
	again := time.NewTicker(200 * time.Millisecond)
	defer again.Stop()
	for !so() {
		select {
		case <-again.C:
		case <-ctx.Done():
			s.t.Fatalf("not so: %s", what)
		}
	}
}

// TestSite: with rackboot-hub, a package that rackctl makes and pushes reaches an agent by an AgentUpgrade. One of a publisher
// whom the hub does not know is not taken; one of a publisher whom only the hub knows is refused by the agent; one whose agent
// says nothing is given up, and the hub says that it failed.
func TestSite(t *testing.T) {
	t.Parallel()
	s := newSite(t, ed25519.NewKeyFromSeed(bytes.Repeat([]byte{8}, 32)))
	s.window = 40 * time.Second
	s.start()
	s.eventually("the agent is in step", func() bool { a := s.agent(); return a.Status.Version == v1 && a.Status.LastReport != nil })

	s.key("foreign", ed25519.NewKeyFromSeed(bytes.Repeat([]byte{9}, 32)))
	if _, said, err := s.rackctl("agent-package", "push", s.makes("foreign", v2, "agent-"+v2)); err == nil || !strings.Contains(said, "no key in upgrade.keys of the hub's file signed this package") {
		t.Errorf("a foreign package: %v\n%s", err, said)
	}

	first := s.pushes("publisher", v2, "agent-"+v2)
	u := s.upgrades("first", first, resource.RolloutCompleted)
	if m := u.Status.Rollout.Members["r1"]; m.State != resource.MemberDone || u.Status.Version != v2 || u.Status.Package != first {
		t.Errorf("%+v, member %+v", u.Status, m)
	}
	s.eventually("the agent says that it is "+v2, func() bool { return s.agent().Status.Version == v2 })
	if o := s.agent().Status.Order; o == nil || o.Stage != string(message.UpgradeDone) || o.Open() {
		t.Errorf("the order is %+v", o)
	}

	refused := s.pushes("other", "0.3.0", "agent-"+v1)
	s.failed("second", refused, message.UpgradeRefused, message.UpgradeBadSignature)
	mute := s.pushes("publisher", "0.4.0", "silent")
	s.failed("third", mute, message.UpgradeReturned, message.UpgradeUnheard)
	if v := s.agent().Status.Version; v != v2 {
		t.Errorf("the agent is %s", v)
	}

	if _, said, err := s.rackctl("agent-package", "delete", mute); err == nil || !strings.Contains(said, "AgentUpgrade third") {
		t.Errorf("a package that is named is deleted: %v\n%s", err, said)
	}
	s.does("delete", "agentupgrade", "third")
	s.does("agent-package", "delete", mute)
	if list := s.does("agent-package", "get", "-o", "name"); !strings.Contains(list, first) || strings.Contains(list, mute) {
		t.Errorf("the packages are\n%s", list)
	}
	s.stop()
}

// failed has the agent ordered to run a package of which nothing comes, and wants the hub to say so.
func (s *site) failed(name, digest string, stage message.UpgradeStage, code message.UpgradeCode) {
	s.t.Helper()
	u := s.upgrades(name, digest, resource.RolloutPaused)
	if m := u.Status.Rollout.Members["r1"]; m.State != resource.MemberFailed || !strings.Contains(m.Reason, string(code)) {
		s.t.Errorf("%s: the member is %+v", name, m)
	}
	if !slices.ContainsFunc(u.Status.Conditions, func(c resource.ConditionState) bool { return c.Code == resource.CondAgentUpgradeFailed }) {
		s.t.Errorf("%s: the conditions are %+v", name, u.Status.Conditions)
	}
	if o := s.agent().Status.Order; o == nil || o.Upgrade != name || o.Stage != string(stage) || o.Code != string(code) {
		s.t.Errorf("%s: the order is %+v", name, o)
	}
}
