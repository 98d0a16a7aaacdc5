package sim

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"os"

	"rackboot/protocol/api"
	"rackboot/protocol/resource"
)

// Of configs/demo/environments.
const (
	envName    = "demo-install"
	envArchive = "demo-os.tar"
	envUKI     = "EFI/Linux.efi"
	envImage   = "demo-os"
)

// environments is how a provisioner boots machines: an environment says loaders, archive and
// templates, and a server what is its own.
func environments(d *Demo) []demoStep {
	archive := demoArchive{d}
	return append(d.begin(), []demoStep{
		{"environment, template and params applied", d.site.apply("scenario")},
		{"claim accepted", d.site.apply("claim")},
		{"refused: its archive is missing", d.site.refused(resource.CondBootEnvInvalid)},
		{"still off, nothing was ordered", d.rack.neverOn},
		{"archive uploaded", archive.upload},
		{"rendered for this server", func(ctx context.Context) (string, error) {
			return d.shown(ctx, "by the hub, for a sample attempt", "bootenv", "render", d.rack.servers[0].Name, "-o", "wide")
		}},
		{"UKI out of the archive fetched", d.site.event(resource.EventFetched)},
		{"provisioned", d.site.event(resource.EventProvisioned)},
		{"boots from its disk", d.site.event(resource.EventDiskBoot)},
		{"what is on the disk is the archive's", archive.fromArchive},
		{"one network boot, one disk boot", d.rack.count(1, 1)},
		{"nothing warns", d.site.quiet},
	}...)
}

// demoArchive are steps about the archive of an environment.
type demoArchive struct{ demo *Demo }

// upload makes the archive and gives it to the hub, as a person does.
func (e demoArchive) upload(ctx context.Context) (string, error) {
	var out bytes.Buffer
	content, w := demoUKI(envImage), tar.NewWriter(&out)
	if err := w.WriteHeader(&tar.Header{Name: envUKI, Mode: 0o644, Size: int64(len(content))}); err != nil {
		return "", err
	}
	if _, err := w.Write(content); err != nil {
		return "", err
	}
	if err := w.Close(); err != nil {
		return "", err
	}
	if err := os.WriteFile(e.demo.site.path(envArchive), out.Bytes(), 0o600); err != nil {
		return "", err
	}
	_, err := e.demo.site.rackctl(ctx, "iso", "upload", e.demo.site.path(envArchive), "--sha256", fmt.Sprintf("%x", sha256.Sum256(out.Bytes())))
	return envArchive, err
}

func (e demoArchive) fromArchive(ctx context.Context) (string, error) {
	name, err := e.demo.site.claimed(ctx)
	if err != nil {
		return "", err
	}
	s, err := api.Get[*resource.Server](ctx, e.demo.site.client, name)
	if err != nil {
		return "", err
	}
	got, want := e.demo.rack.withSystem().Disk.Digest(), digestOfUKI(envImage)
	if got != want || s.Status.BootEnv != envName {
		return "", fmt.Errorf("installed is %s of environment %q, want %s of %s", got, s.Status.BootEnv, want, envName)
	}
	return fmt.Sprintf("environment %s, OS %s", s.Status.BootEnv, s.Status.OS), nil
}
