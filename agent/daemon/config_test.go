package daemon

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rackboot/protocol"
)

func write(t *testing.T, name, text string, mode os.FileMode) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil { // past the umask
		t.Fatal(err)
	}
	return path
}

const goodConfig = `dataDir: /var/lib/rackboot-agent
credentialsDir: /etc/rackboot/bmc
segments:
  - name: boot-a
    interface: eth1
    http: 10.7.0.1:80
`

func TestLoadConfig(t *testing.T) {
	c, err := LoadConfig(write(t, "agent.yaml", goodConfig, 0o600))
	if err != nil {
		t.Fatal(err)
	}
	seg, err := c.segments()
	if err != nil || len(seg) != 1 || seg[0].DHCP.String() != "0.0.0.0:67" || seg[0].HTTP.String() != "10.7.0.1:80" {
		t.Errorf("%+v, %v", seg, err)
	}
	if c.Images.QuotaMiB != 20<<10 {
		t.Errorf("quota %d", c.Images.QuotaMiB)
	}
	if l := c.LocalSocket(); l.Path != "/var/lib/rackboot-agent/agent.sock" || l.Group != "" {
		t.Errorf("socket %+v", l)
	}
	c, err = LoadConfig(write(t, "agent.yaml", goodConfig+"socket: /run/rackboot/s\nsocketGroup: rackboot\n", 0o600))
	if l := c.LocalSocket(); err != nil || l.Path != "/run/rackboot/s" || l.Group != "rackboot" {
		t.Errorf("socket %+v, %v", l, err)
	}
	for _, row := range []struct{ name, text, want string }{
		{"unknown field", goodConfig + "hub: here\n", "hub"},
		{"wrong type", strings.Replace(goodConfig, "segments:", "images: 5\nsegments:", 1), "3"},
		{"not YAML", "dataDir: [", "1"},
		{"no folder", "credentialsDir: /x\n", "dataDir"},
		{"negative quota", goodConfig + "images: {quotaMiB: -1}\n", "quotaMiB"},
		{"a socket too long", goodConfig + "socket: /" + strings.Repeat("x", 107) + "\n", "socket: "},
		{"no interface", strings.Replace(goodConfig, "    interface: eth1\n", "", 1), "segments[0].interface"},
		{"no port", strings.Replace(goodConfig, "10.7.0.1:80", "10.7.0.1", 1), "segments[0].http"},
		{"bad DHCP address", goodConfig + "    dhcp: eth1\n", "segments[0].dhcp"},
		{"no name", strings.Replace(goodConfig, "name: boot-a", "name: ''", 1), "segments[0].name"},
	} {
		path := write(t, "agent.yaml", row.text, 0o600)
		_, err := LoadConfig(path)
		if protocol.CodeOf(err) != protocol.CodeInvalid || !strings.Contains(err.Error(), row.want) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v; want an invalid error that names the file and %q", row.name, err, row.want)
		}
	}
	if _, err := LoadConfig("/nonexistent/agent.yaml"); protocol.HintOf(err) == "" {
		t.Errorf("no hint: %v", err)
	}
}

func TestCredentials(t *testing.T) {
	const good = "username: admin\npassword: s3cret\n"
	path := write(t, "bmc-1", good, 0o600)
	c := credentials{filepath.Dir(path)}
	got, stamp, err := c.Read("bmc-1")
	if err != nil || got.Username != "admin" || got.Password != "s3cret" {
		t.Fatalf("%v", err)
	}
	if err := os.WriteFile(path, []byte(good+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, again, err := c.Read("bmc-1"); err != nil || again == stamp {
		t.Errorf("the stamp did not change with the file: %s, %v", again, err)
	}
	for _, row := range []struct {
		name, text string
		mode       os.FileMode
		code       protocol.Code
	}{
		{"others may read it", good, 0o644, protocol.CodeDenied},
		{"unknown field", good + "token: x\n", 0o600, protocol.CodeInvalid},
		{"no user", "password: s3cret\n", 0o600, protocol.CodeInvalid},
		{"not YAML", "s3cret: [", 0o600, protocol.CodeInvalid},
	} {
		c := credentials{filepath.Dir(write(t, "bmc-1", row.text, row.mode))}
		_, _, err := c.Read("bmc-1")
		if protocol.CodeOf(err) != row.code {
			t.Errorf("%s: %v", row.name, err)
		}
		if strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s: the error quotes the file: %v", row.name, err)
		}
	}
	if _, _, err := c.Read("../bmc-2"); protocol.CodeOf(err) != protocol.CodeNotFound || protocol.HintOf(err) == "" {
		t.Errorf("missing file: %v", err)
	}
}

func TestIdentity(t *testing.T) {
	dir := t.TempDir()
	if _, err := loadIdentity(dir); protocol.CodeOf(err) != protocol.CodeNotFound || !strings.Contains(protocol.HintOf(err), "join-token") {
		t.Errorf("before joining: %v", err)
	}
	id, request, err := newIdentity("token", "host")
	if err != nil || len(request.Key) != 32 || request.Token != "token" || len(request.CSR) == 0 {
		t.Fatalf("%+v, %v", request, err)
	}
	if err := id.save(dir); err != nil {
		t.Fatal(err)
	}
	back, err := loadIdentity(dir)
	if err != nil || string(back.Key) != string(id.Key) {
		t.Fatal(err)
	}
	if info, err := os.Stat(identityPath(dir)); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	if _, err := back.tls(); protocol.CodeOf(err) != protocol.CodeInvalid {
		t.Errorf("without a certificate: %v", err)
	}
	if _, err := Join(t.Context(), Config{DataDir: dir}, "https://127.0.0.1:1", "token", nil); protocol.CodeOf(err) != protocol.CodeConflict {
		t.Errorf("joining twice: %v", err)
	}
	if err := os.WriteFile(identityPath(dir), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := loadIdentity(dir); protocol.CodeOf(err) != protocol.CodeInvalid || protocol.HintOf(err) == "" {
		t.Errorf("damaged: %v", err)
	}
}
