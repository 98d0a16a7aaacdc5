package rack

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"strings"

	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
	"rackboot/protocol/sealbox"
)

// uploads is where an agent gets uploaded files, by digest.
type uploads map[string][]byte

// Fetch implements files.ISOSource.
func (u uploads) Fetch(_ context.Context, digest string, offset, n int64) (io.ReadCloser, error) {
	content, ok := u[digest]
	if !ok || offset > int64(len(content)) {
		return nil, protocol.Errorf(protocol.CodeUnavailable, "fetch uploaded file", "the hub is away")
	}
	return io.NopCloser(bytes.NewReader(content[offset:min(offset+n, int64(len(content)))])), nil
}

// FetchEnv implements files.Bundles.
func (h *userDataHub) FetchEnv(ctx context.Context, sealed string) ([]byte, error) {
	return h.Fetch(ctx, sealed)
}

// The files of the installation medium.
func installFiles() map[string]string {
	return map[string]string{
		"install.amd/vmlinuz":   strings.Repeat("kernel ", 3000),
		"install.amd/initrd.gz": strings.Repeat("initramfs ", 3000),
		"boot/grub/grub.cfg":    "menuentry 'Install by hand' {}\n",
		"dists/stable/Release":  "Suite: stable\n",
	}
}

// upload makes an archive of files what the agent can get.
func (b *bench) upload(name string, files map[string]string) resource.EnvISO {
	b.t.Helper()
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for path, content := range files {
		f, err := w.CreateHeader(&zip.FileHeader{Name: path, Method: zip.Store})
		if err != nil {
			b.t.Fatal(err)
		}
		if _, err := f.Write([]byte(content)); err != nil {
			b.t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		b.t.Fatal(err)
	}
	return b.uploadRaw(name, out.Bytes())
}

// uploadRaw makes a file of any content what the agent can get.
func (b *bench) uploadRaw(name string, content []byte) resource.EnvISO {
	iso := resource.EnvISO{File: name, Digest: fmt.Sprintf("sha256:%x", sha256.Sum256(content)), Size: int64(len(content))}
	if b.uploaded == nil {
		b.uploaded = uploads{}
	}
	b.uploaded[iso.Digest] = content
	return iso
}

// debian is an environment with the files of the medium and a preseed.
func (b *bench) debian(i int, iso resource.EnvISO) resource.EnvBundle {
	in := b.intents[i]
	return resource.EnvBundle{
		BootEnv: "debian-12-install", UID: "env-uid", Purpose: resource.PurposeClaim, Owner: "claim", ISOs: []resource.EnvISO{iso},
		Spec: resource.BootEnvSpec{
			OS: resource.EnvOS{Name: "debian-12", SupportedArchitectures: map[string]resource.EnvArch{"amd64": {
				IsoFile: iso.File, Kernel: "install.amd/vmlinuz", Initrds: []string{"install.amd/initrd.gz"},
				BootParams: "auto=true url={{.Machine.Url}}/seed",
			}}},
			Templates: []resource.EnvTemplate{{Name: "seed", Path: "{{.Machine.Path}}/seed", Contents: "d-i mirror {{.Param \"mirror\"}}\nreport {{.ReportURL}}\n"}},
		},
		Params:  []resource.EnvParams{{Source: resource.SourceServer, Values: map[string]any{"mirror": "deb.example"}}},
		Machine: resource.EnvMachine{Name: in.Server, UID: in.UID, UUID: in.UUID, BootMAC: in.BootMAC, Architecture: "amd64", Rack: "rack-a", Segment: "boot-a"},
	}
}

// claimEnv claims server i for an environment, or follows a change of it.
func (b *bench) claimEnv(i int, bundle resource.EnvBundle) {
	b.t.Helper()
	b.image = resource.EnvImage(bundle.BootEnv, bundle.UID, "amd64")
	if b.intents[i].Boot == nil {
		b.claim(i)
	}
	content, digest, err := bundle.Encode()
	if err != nil {
		b.t.Fatal(err)
	}
	k, err := sealbox.ParseKey(b.key.Seed())
	if err != nil {
		b.t.Fatal(err)
	}
	in := &b.intents[i]
	body, err := sealbox.SealEnv(k.Public(), sealbox.EnvBinding{Agent: agentID, Server: in.Server, OwnerUID: in.Owner.UID, Bundle: digest}, content)
	if err != nil {
		b.t.Fatal(err)
	}
	in.Boot.Env = &message.EnvIntent{Name: bundle.BootEnv, Bundle: digest, Sealed: sealbox.Digest(body), Size: int64(len(body)), ISOs: bundle.ISOs}
	b.data.put(in.Boot.Env.Sealed, body)
}
