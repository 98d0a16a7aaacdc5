package cli

import (
	"archive/tar"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rackboot/hub/api"
	"rackboot/hub/api/apitest"
	"rackboot/hub/store/storetest"
	"rackboot/protocol"
	protoapi "rackboot/protocol/api"
	"rackboot/protocol/resource"
)

// planted is what no bundle may have.
const planted = "pLaNtEd-0123456789abcdef"

// telling is a hub that tells more of itself than it should.
type telling struct{}

func (telling) Support() (protoapi.HubSupport, error) {
	return protoapi.HubSupport{
		Version: "9", Config: []byte(`{"api":"0.0.0.0:8443","backup":{"passphrase":"` + planted + `"}}`),
		Log: `level=WARN msg="dial https://admin:` + planted + `@bmc/" server=n1` + "\n", Metrics: "up 1\n",
	}, nil
}

// unpack reads a bundle and checks its manifest against what is in it.
func unpack(t *testing.T, path string) (files map[string]string, lacks []string) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	zip, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	files = map[string]string{}
	for r := tar.NewReader(zip); ; {
		head, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		raw, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		_, name, _ := strings.Cut(head.Name, "/")
		files[name] = string(raw)
	}
	var m struct {
		Files []struct {
			Name, SHA256 string
			Bytes        int
		}
		Missing []struct{ Name, Code, Why string }
	}
	if err := json.Unmarshal([]byte(files["manifest.json"]), &m); err != nil {
		t.Fatal(err)
	}
	for _, l := range m.Files {
		sum := sha256.Sum256([]byte(files[l.Name]))
		if hex.EncodeToString(sum[:]) != l.SHA256 || len(files[l.Name]) != l.Bytes {
			t.Errorf("the manifest says otherwise of %s", l.Name)
		}
	}
	if len(m.Files) != len(files)-1 {
		t.Errorf("%d files, %d in the manifest", len(files), len(m.Files))
	}
	for _, l := range m.Missing {
		lacks = append(lacks, l.Name+" "+l.Code)
	}
	return files, lacks
}

// TestSupportBundle: it has everything, and nothing that was planted where people and daemons put secrets.
func TestSupportBundle(t *testing.T) {
	hub := apitest.NewWith(t, func(c *api.Config) { c.Support = telling{} })
	c := hub.Client(t)
	objs := storetest.Site()
	for _, o := range objs {
		if r, ok := o.(*resource.Rack); ok {
			r.Spec.Description = "console: ssh://root:" + planted + "@console"
		}
	}
	secret := resource.NewObject(resource.KindSecret).(*resource.Secret)
	secret.APIVersion, secret.Kind, secret.Metadata.Name, secret.Spec.Type = resource.APIVersion, resource.KindSecret, "account", resource.SecretBMC
	secret.Spec.Data = resource.SecretData{"username": resource.Plain("admin"), "password": resource.Plain(planted)}
	if _, err := c.Objects.Apply(t.Context(), append(objs, secret), false); err != nil {
		t.Fatal(err)
	}
	hub.Fleet.SetServer("n1", resource.ServerStatus{Conditions: []resource.ConditionState{{Code: resource.CondBMCUnreachable, Message: "GET https://admin:" + planted + "@192.0.2.7/redfish/v1: refused"}}})
	path := filepath.Join(t.TempDir(), "case.tar.gz")
	out, stop := start(t, hub, "support", path, "--server", "n1")
	out.await(t, "read it before you send it")
	if code := stop(); code != 0 {
		t.Fatalf("exit code %d: %s", code, out.text())
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	files, lacks := unpack(t, path)
	for name, text := range files {
		if strings.Contains(text, planted) || strings.Contains(text, apitest.Token) {
			t.Errorf("%s has a secret: %s", name, text)
		}
	}
	for name, want := range map[string]string{
		"objects/servers.json": "BMCUnreachable", "objects/secrets.json": "account", "objects/racks.json": "r1", "whoami.json": "admin", "version.json": "rackctl",
		"hub/log.txt": "server=n1", "hub/config.json": "0.0.0.0:8443", "hub/metrics.txt": "up 1", "events.json": "[]", "requests.json": "[]", "doctor.json": "findings",
	} {
		if !strings.Contains(files[name], want) {
			t.Errorf("%s has no %q: %q; missing: %q", name, want, files[name], lacks)
		}
	}
	out, stop = start(t, hub, "support", path)
	out.await(t, "is there already")
	if code := stop(); code != protocol.CodeConflict.ExitCode() {
		t.Errorf("exit code %d", code)
	}
}

// TestSupportBundleOfFewRights: what the caller may not read, or the hub cannot say, is named.
func TestSupportBundleOfFewRights(t *testing.T) {
	hub := apitest.New(t)
	path := filepath.Join(t.TempDir(), "case.tar.gz")
	out, stop := startAs(t, hub, apitest.TokenOf("viewer"), "support", path)
	out.await(t, "read it before you send it")
	if code := stop(); code != 0 {
		t.Fatalf("exit code %d: %s", code, out.text())
	}
	_, lacks := unpack(t, path)
	for _, want := range []string{"objects/secrets.json denied", "hub denied"} {
		if !strings.Contains(strings.Join(lacks, "\n"), want) {
			t.Errorf("%q is not missing: %q", want, lacks)
		}
	}
}
