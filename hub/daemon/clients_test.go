package daemon

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rackboot/hub/access"
	"rackboot/hub/api/gate"
	"rackboot/protocol"
)

func TestClientsOfTheFile(t *testing.T) {
	for _, row := range []struct{ name, text, want string }{
		{"none", "", ""},
		{"two", "clients:\n- {name: ha, tokenFile: /a}\n- {name: ops, tokenFile: /b, breakGlass: true}\n", ""},
		{"no name", "clients: [{tokenFile: /a}]\n", "clients[0].name"},
		{"of our own", "clients: [{name: admin, tokenFile: /a}]\n", "Rackboot's own"},
		{"the hub", "clients: [{name: hub, tokenFile: /a}]\n", "Rackboot's own"},
		{"the expiry", "clients: [{name: expiry, tokenFile: /a}]\n", "Rackboot's own"},
		{"of an agent's host", "clients: [{name: 'local:root', tokenFile: /a}]\n", "is not a name"},
		{"upper case", "clients: [{name: HA, tokenFile: /a}]\n", "is not a name"},
		{"twice", "clients: [{name: ha, tokenFile: /a}, {name: ha, tokenFile: /b}]\n", "clients[1].name"},
		{"no file", "clients: [{name: ha}]\n", "tokenFile"},
		{"one file", "clients: [{name: ha, tokenFile: /a}, {name: ops, tokenFile: /a}]\n", "clients[1].tokenFile"},
		{"roles and a scope", "clients: [{name: ha, tokenFile: /a, roles: [viewer, admin], scope: {matchLabels: {row: '7'}}}]\n", ""},
		{"a certificate alone", "clients: [{name: ha, certificate: {commonName: ha.client}}, {name: ops, certificate: {commonName: ops.client}}]\n", ""},
		{"a role that is none", "clients: [{name: ha, tokenFile: /a, roles: [root]}]\n", "clients[0].roles"},
		{"a scope without labels", "clients: [{name: ha, tokenFile: /a, scope: {}}]\n", "clients[0].scope"},
		{"a scope with another word", "clients: [{name: ha, tokenFile: /a, scope: {row: '7'}}]\n", "row"},
		{"one certificate", "clients: [{name: ha, certificate: {commonName: x}}, {name: ops, certificate: {commonName: x}}]\n", "clients[1].certificate.commonName"},
		{"a rate", "limits: {callerPerSecond: 5}\n", ""},
		{"a rate below nothing", "limits: {sourcePerSecond: -1}\n", "limits"},
		{"unknown field", "clients: [{name: ha, token: x}]\n", "token"},
	} {
		path := filepath.Join(t.TempDir(), "hub.yaml")
		if err := os.WriteFile(path, []byte(goodConfig+row.text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := LoadConfig(path)
		if row.want == "" && err != nil || row.want != "" && (protocol.CodeOf(err) != protocol.CodeInvalid || !strings.Contains(err.Error(), row.want)) {
			t.Errorf("%s: %v, want %q", row.name, err, row.want)
		}
	}
}

func TestClientTokens(t *testing.T) {
	const good = "0123456789abcdef0123456789abcdef"
	dir := t.TempDir()
	file := func(text string, mode os.FileMode) string {
		path := filepath.Join(dir, "token")
		_ = os.Remove(path)
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, mode); err != nil { // whatever the umask is
			t.Fatal(err)
		}
		return path
	}
	c := Config{Followed: Followed{Clients: []Client{{Name: "ha", TokenFile: file(good+"\n", 0o600), BreakGlass: true}}}}
	if got, err := c.readClients(); err != nil || len(got) != 1 || got[0].Token != good || got[0].Name != "ha" || !got[0].BreakGlass {
		t.Errorf("%+v, %v", got, err)
	}
	for _, row := range []struct {
		name, text string
		mode       os.FileMode
		want       protocol.Code
	}{
		{"short", good[1:] + "\n", 0o600, protocol.CodeInvalid},
		{"empty", "\n", 0o600, protocol.CodeInvalid},
		{"two words", good + " " + good, 0o600, protocol.CodeInvalid},
		{"a control character", good + "\x00", 0o600, protocol.CodeInvalid},
		{"not ASCII", good + "é", 0o600, protocol.CodeInvalid},
		{"long", strings.Repeat(good, 200), 0o600, protocol.CodeInvalid},
		{"read by the group", good, 0o640, protocol.CodeDenied},
		{"read by others", good, 0o604, protocol.CodeDenied},
	} {
		path := file(row.text, row.mode)
		c := Config{Followed: Followed{Clients: []Client{{Name: "ha", TokenFile: path}}}}
		_, err := c.readClients()
		if protocol.CodeOf(err) != row.want || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), `"ha"`) {
			t.Errorf("%s: %v, want %s", row.name, err, row.want)
		}
		if err != nil && strings.Contains(err.Error()+protocol.HintOf(err), good[1:]) {
			t.Errorf("%s: a token is in %v", row.name, err)
		}
	}
	for name, path := range map[string]string{"missing": filepath.Join(dir, "none"), "a folder": dir} {
		c := Config{Followed: Followed{Clients: []Client{{Name: "ha", TokenFile: path}}}}
		if _, err := c.readClients(); protocol.CodeOf(err) != protocol.CodeInvalid {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// What the file says of a client is what the API is told.
func TestClientsOfTheAPI(t *testing.T) {
	c := Config{Followed: Followed{Clients: []Client{
		{Name: "page", Certificate: Certificate{CommonName: "page.client"}, Roles: []access.Role{access.Viewer}, Scope: &Scope{MatchLabels: map[string]string{"row": "7"}}},
		{Name: "ops", Certificate: Certificate{CommonName: "ops.client"}, BreakGlass: true},
	}}}
	got, err := c.readClients()
	want := []gate.Client{
		{Caller: access.Caller{Name: "page", Roles: []access.Role{access.Viewer}, Scope: access.Scope{MatchLabels: map[string]string{"row": "7"}}}, CommonName: "page.client"},
		{Caller: access.Caller{Name: "ops", BreakGlass: true}, CommonName: "ops.client"},
	}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got): %s", err, diff)
	}
}
