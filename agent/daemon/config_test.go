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
	if l := c.ISOs.limits(); l.Bandwidth != 0 || l.Spread != DefaultISOSpread {
		t.Errorf("isos %+v", l)
	}
	if l := c.LocalSocket(); l.Path != "/var/lib/rackboot-agent/agent.sock" || l.Group != "" {
		t.Errorf("socket %+v", l)
	}
	const v6 = "    dhcp6: '[::]:547'\n    http6: '[2001:db8::1]:80'\n    https6: '[2001:db8::1]:443'\n    tftp6: '[::]:69'\n"
	if c, err = LoadConfig(write(t, "agent.yaml", goodConfig+v6, 0o600)); err != nil {
		t.Fatal(err)
	}
	if seg, err = c.segments(); err != nil || seg[0].DHCP6.String() != "[::]:547" || seg[0].HTTP6.String() != "[2001:db8::1]:80" ||
		seg[0].HTTPS6.String() != "[2001:db8::1]:443" || seg[0].TFTP6.String() != "[::]:69" {
		t.Errorf("%+v, %v", seg, err)
	}
	c, err = LoadConfig(write(t, "agent.yaml", goodConfig+"socket: /run/rackboot/s\nsocketGroup: rackboot\n", 0o600))
	if l := c.LocalSocket(); err != nil || l.Path != "/run/rackboot/s" || l.Group != "rackboot" {
		t.Errorf("socket %+v, %v", l, err)
	}
	c, err = LoadConfig(write(t, "agent.yaml", goodConfig+"    chain: grub\nloaders: {amd64: [/usr/lib/shim, /usr/lib/ipxe], arm64: [/srv/arm64]}\n", 0o600))
	if err != nil {
		t.Fatal(err)
	}
	if seg, err = c.segments(); err != nil || seg[0].Chain != protocol.ChainGRUB || len(c.Loaders["amd64"]) != 2 {
		t.Errorf("%+v, %v, %v", seg, c.Loaders, err)
	}
	for _, row := range []struct{ name, text, want string }{
		{"unknown field", goodConfig + "hub: here\n", "hub"},
		{"wrong type", strings.Replace(goodConfig, "segments:", "images: 5\nsegments:", 1), "3"},
		{"not YAML", "dataDir: [", "1"},
		{"an allowed registry by URL", goodConfig + "images: {allow: ['https://registry.example']}\n", "images.allow[0]"},
		{"an account elsewhere", goodConfig + "images: {accounts: [{host: registry.example, file: ../x}]}\n", "images.accounts[0].file"},
		{"two accounts of a registry", goodConfig + "images: {accounts: [{host: a, file: s}, {host: a, file: t}]}\n", "images.accounts[1].host"},
		{"no folder", "credentialsDir: /x\n", "dataDir"},
		{"negative quota", goodConfig + "images: {quotaMiB: -1}\n", "quotaMiB"},
		{"a socket too long", goodConfig + "socket: /" + strings.Repeat("x", 107) + "\n", "socket: "},
		{"no interface", strings.Replace(goodConfig, "    interface: eth1\n", "", 1), "segments[0].interface"},
		{"no port", strings.Replace(goodConfig, "10.7.0.1:80", "10.7.0.1", 1), "segments[0].http"},
		{"bad DHCP address", goodConfig + "    dhcp: eth1\n", "segments[0].dhcp"},
		{"an architecture without loaders", goodConfig + "loaders: {s390x: [/x]}\n", "loaders.s390x"},
		{"a relative folder", goodConfig + "loaders: {amd64: [/x, y]}\n", "loaders.amd64[1]"},
		{"no chain", goodConfig + "    chain: lilo\n", "segments[0].chain"},
		{"a chain that is not offered", goodConfig + "    chain: systemd-boot\n", "file system"},
		{"DHCPv6 at an IPv4 address", goodConfig + "    dhcp6: 0.0.0.0:547\n", "segments[0].dhcp6"},
		{"DHCPv6 without a port", goodConfig + "    dhcp6: '::'\n", "segments[0].dhcp6"},
		{"a bandwidth that gets nowhere", goodConfig + "isos: {bandwidth: 100}\n", "isos.bandwidth"},
		{"a bandwidth that is less than nothing", goodConfig + "isos: {bandwidth: -1}\n", "isos.bandwidth"},
		{"a wait that is too long", goodConfig + "isos: {spread: 2h}\n", "isos.spread"},
		{"a link-local base", goodConfig + "    http6: '[fe80::1]:80'\n", "segments[0].http6"},
		{"DHCPv6 without an interface", strings.Replace(goodConfig, "    interface: eth1\n", "    dhcp: 127.0.0.1:67\n    dhcp6: '[::]:547'\n", 1), "segments[0].interface"},
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
	c := credentials{dir: filepath.Dir(path)}
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
		c := credentials{dir: filepath.Dir(write(t, "bmc-1", row.text, row.mode))}
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
	if err := id.save(dir, nil); err != nil {
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
