//go:build host

package packaging

import (
	"regexp"
	"strings"
	"testing"
)

// rackConfig is what an agent needs that boots nothing yet.
const rackConfig = "dataDir: /var/lib/rackboot-agent\ncredentialsDir: /etc/rackboot/credentials\n"

// hubConfig is a hub that is reached at loopback.
const hubConfig = "dataDir: /var/lib/rackboot-hub\napi: 127.0.0.1:8443\nmqtt: 127.0.0.1:8883\nnames: [127.0.0.1]\n"

// TestDeb: hub, agent and rackctl from their packages, as docs/guide/install.md says: installed,
// not started, set up, started as the units say, joined, upgraded with state and settings kept,
// removed, and purged.
func TestDeb(t *testing.T) {
	t.Parallel()
	d := newDebian(t)
	daemons := []string{"rackboot-hub", "rackboot-agent"}
	d.install(thisRelease, "rackboot-hub", "rackboot-agent", "rackctl")
	// No enable and no start: what runs is started anew, and nothing runs yet.
	d.wantTold("at first", "daemon-reload; try-restart rackboot-hub.service; daemon-reload; try-restart rackboot-agent.service")
	for _, name := range daemons {
		d.folder("/var/lib/"+name, name)
	}
	d.folder("/etc/rackboot/credentials", "rackboot-agent")
	if got := d.do("/usr/bin/rackctl", "--version"); got != "rackctl version "+thisVersion+"\n" {
		t.Errorf("rackctl says %q", got)
	}

	// The hub starts with the file that came; the agent's segments are another host's.
	d.start("rackboot-hub").stop()
	d.do("/bin/sh", "-c", "rm -r /var/lib/rackboot-hub/*")
	d.write("/etc/rackboot/hub.yaml", hubConfig, 0o644)
	d.write("/etc/rackboot/agent.yaml", rackConfig, 0o644)
	d.write("/etc/rackboot/secrets.key", "mine", 0o600)
	hub := d.start("rackboot-hub")
	d.do("/usr/bin/rackctl", "login", "https://127.0.0.1:8443", "--ca", "/var/lib/rackboot-hub/ca.pem", "--token-file", "/var/lib/rackboot-hub/pki/admin.token")
	d.write("/rack.yaml", "apiVersion: rackboot/v1\nkind: Rack\nmetadata: {name: r1}\n", 0o644)
	d.do("/usr/bin/rackctl", "apply", "-f", "/rack.yaml")
	token := regexp.MustCompile(`(RACKBOOT_JOIN_TOKEN=\S+) rackboot-agent join --hub https://127.0.0.1:8443\b`).FindStringSubmatch(d.do("/usr/bin/rackctl", "rack", "join-token", "r1"))
	if token == nil {
		t.Fatal("no token")
	}
	join := readUnit(t, d.root+"/usr/lib/systemd/system/rackboot-agent.service").command(t, d.root)
	join.Path, join.Args = "/usr/bin/rackboot-agent", []string{"rackboot-agent", "join", "--hub", "https://127.0.0.1:8443"}
	join.Env = append(join.Env, token[1])
	if err := d.ns.Do(func() error { _, err := run(join); return err }); err != nil {
		t.Fatal(err)
	}
	agent := d.start("rackboot-agent")
	// The unit starts the launcher, and that the agent, with the same rights.
	if got := capabilities(t, child(t, agent.cmd.Process.Pid)); got != "0000000000002400" {
		t.Errorf("the agent has the capabilities %s", got)
	}
	if got := d.do("/usr/bin/rackboot-agent", "status"); !strings.Contains(got, "r1") {
		t.Errorf("the agent's status is\n%s", got)
	}

	// As systemd does for try-restart, after the new files are there.
	said := d.install(laterRelease, "rackboot-hub", "rackboot-agent", "rackctl")
	if !strings.Contains(said, "Unpacking rackboot-hub (0.1.0) over (0.1.0~dev)") {
		t.Errorf("dpkg says\n%s", said)
	}
	d.wantTold("at the upgrade", "daemon-reload; try-restart rackboot-hub.service; daemon-reload; try-restart rackboot-agent.service")
	agent.stop()
	hub.stop()
	for file, want := range map[string]string{"hub.yaml": hubConfig, "agent.yaml": rackConfig} {
		if got := read(t, d.root+"/etc/rackboot/"+file); got != want {
			t.Errorf("after the upgrade %s is\n%s", file, got)
		}
	}
	hub, agent = d.start("rackboot-hub"), d.start("rackboot-agent")
	if got := d.do("/usr/bin/rackctl", "get", "racks"); !strings.Contains(got, "r1") {
		t.Errorf("after the upgrade the racks are\n%s", got)
	}
	if got := d.do("/usr/bin/rackboot-hub", "--version"); got != "rackboot-hub version "+laterVersion+"\n" {
		t.Errorf("after the upgrade the hub says %q", got)
	}
	agent.stop()
	hub.stop()

	if said := d.do("/usr/bin/dpkg", "--remove", "rackboot-hub", "rackboot-agent"); !strings.Contains(said, "rackboot-hub: its state stays in /var/lib/rackboot-hub") {
		t.Errorf("dpkg says\n%s", said)
	}
	d.wantTold("at the removal", "disable --now rackboot-hub.service; daemon-reload; disable --now rackboot-agent.service; daemon-reload")
	d.gone("/usr/bin/rackboot-hub", "/usr/bin/rackboot-agent", "/usr/lib/systemd/system/rackboot-hub.service")
	if read(t, d.root+"/etc/rackboot/hub.yaml") != hubConfig || read(t, d.root+"/var/lib/rackboot-hub/ca.pem") == "" {
		t.Error("the removal took settings or state")
	}
	if said := d.do("/usr/bin/dpkg", "--purge", "rackboot-hub", "rackboot-agent"); !strings.Contains(said, "rackboot-agent: removing its state, /var/lib/rackboot-agent") {
		t.Errorf("dpkg says\n%s", said)
	}
	d.gone("/var/lib/rackboot-hub", "/var/lib/rackboot-agent", "/etc/rackboot/hub.yaml", "/etc/rackboot/agent.yaml")
	if read(t, d.root+"/etc/rackboot/secrets.key") != "mine" {
		t.Error("the purge took a file that somebody made")
	}
}
