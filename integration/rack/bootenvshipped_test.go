package rack

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"rackboot/protocol/resource"
)

// shippedEnv reads a file of configs/bootenvs into what a hub makes of it.
func shippedEnv(t *testing.T, name string) (b resource.EnvBundle) {
	t.Helper()
	f, err := os.Open("../../configs/bootenvs/" + name + ".yaml")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	b.UID, b.Purpose, b.Owner = "env-uid", resource.PurposeClaim, "claim"
	b.Templates, b.Schemas = map[string]string{}, map[string]resource.ParamSpec{}
	for d := yaml.NewDecoder(f); ; {
		var doc map[string]any
		if err := d.Decode(&doc); errors.Is(err, io.EOF) {
			return b
		} else if err != nil {
			t.Fatal(err)
		}
		raw, err := json.Marshal(doc)
		if err != nil {
			t.Fatal(err)
		}
		kind, _ := resource.ParseKind(fmt.Sprint(doc["kind"]))
		obj := resource.NewObject(kind)
		if err := json.Unmarshal(raw, obj); err != nil {
			t.Fatal(err)
		}
		switch o := obj.(type) {
		case *resource.BootEnv:
			b.BootEnv, b.Spec = o.Metadata.Name, o.Spec
		case *resource.Template:
			b.Templates[o.Metadata.Name] = o.Spec.Contents
		case *resource.Param:
			b.Schemas[o.Spec.Name] = o.Spec
		}
	}
}

// TestShippedEnvironments: what configs/bootenvs has for Debian installs a server out of an
// uploaded file, by PXE (TFTP) as by UEFI HTTP boot. It reads what was rendered for its
// boot from the addresses that its kernel's arguments name.
func TestShippedEnvironments(t *testing.T) {
	t.Parallel()
	for _, method := range []resource.FirstBoot{resource.FirstBootPxe, resource.FirstBootUefiHTTP} {
		t.Run(string(method), func(t *testing.T) {
			t.Parallel()
			b, finish := benchThatInstalls(t, 1)
			b.loaders = loaderFolder(t, true)
			files := map[string]string{"linux": strings.Repeat("kernel ", 3000), "initrd.gz": strings.Repeat("initramfs ", 3000)}
			bundle := shippedEnv(t, "debian-12-install")
			bundle.ISOs = []resource.EnvISO{b.upload(bundle.Spec.OS.SupportedArchitectures["amd64"].IsoFile, files)}
			in := b.intents[0]
			bundle.Machine = resource.EnvMachine{Name: in.Server, UID: in.UID, UUID: in.UUID, BootMAC: in.BootMAC, Architecture: "amd64", Rack: "rack-a", Segment: "boot-a"}
			bundle.Params = []resource.EnvParams{{Source: resource.SourceServer, Values: map[string]any{
				"debian/mirror": "http://mirror.example/debian", "install/authorized-keys": []any{"ssh-ed25519 AAAA ops@example"},
			}}}
			b.claimEnv(0, bundle)
			b.intents[0].Boot.BootPolicy.FirstBoot = method
			b.grant(0)
			a, _ := b.start(nil)
			b.send(a)
			b.until("the first boot", 0, func(r resource.ServerReport) bool {
				return r.Attempt != nil && r.Attempt.State == resource.AttemptFetched
			})
			from := b.installer(0)
			for name, want := range map[string]string{
				"preseed.cfg": "d-i mirror/http/hostname string mirror.example\n", "authorized_keys": "ssh-ed25519 AAAA ops@example\n",
				"sources.list": "deb http://mirror.example/debian bookworm main\n",
			} {
				at := "http://" + b.http.String() + "/machines/" + in.UID + "/" + name
				if status, _, got := b.get(http.MethodGet, at, from); status != http.StatusOK || !strings.Contains(got, want) {
					t.Errorf("%s: %d %q", name, status, got)
				}
			}
			finish()
			r := b.until("the disk boot after the installation", 0, diskBoot)
			if want := fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(files["initrd.gz"]))); b.servers[0].Disk.Digest() != want || len(r.Provisioned) == 0 {
				t.Errorf("installed %s, not the file's initrd %s", b.servers[0].Disk.Digest(), want)
			}
		})
	}
}
