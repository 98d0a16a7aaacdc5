package sim

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"slices"

	"rackboot/protocol"
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
	return append(d.begin(), []demoStep{
		{"environment, template and params applied", d.apply("scenario")},
		{"claim accepted", d.apply("claim")},
		{"refused: its archive is missing", d.refused(resource.CondBootEnvInvalid)},
		{"still off, nothing was ordered", d.neverOn},
		{"archive uploaded", d.upload},
		{"rendered for this server", func(ctx context.Context) (string, error) {
			return d.shown(ctx, "by the hub, for a sample attempt", "bootenv", "render", d.servers[0].Name, "-o", "wide")
		}},
		{"UKI out of the archive fetched", d.event(resource.EventFetched)},
		{"provisioned", d.event(resource.EventProvisioned)},
		{"boots from its disk", d.event(resource.EventDiskBoot)},
		{"what is on the disk is the archive's", d.fromArchive},
		{"one network boot, one disk boot", d.count(1, 1)},
		{"nothing warns", d.quiet},
	}...)
}

// refused waits for a condition of the claim.
func (d *Demo) refused(code resource.ConditionCode) func(context.Context) (string, error) {
	return func(ctx context.Context) (detail string, err error) {
		err = until(ctx, func() (bool, error) {
			c, err := api.Get[*resource.Claim](ctx, d.client, "demo-claim")
			if err != nil {
				return false, err
			}
			i := slices.IndexFunc(c.Status.Conditions, func(s resource.ConditionState) bool { return s.Code == code })
			if i >= 0 {
				detail = string(code) + ": " + c.Status.Conditions[i].Message
			}
			return i >= 0, nil
		})
		return detail, err
	}
}

func (d *Demo) neverOn(context.Context) (string, error) {
	for _, s := range d.servers {
		if p := s.BMC.PowerState(); p != protocol.PowerOff {
			return "", fmt.Errorf("%s is %s", s.Name, p)
		}
	}
	return "as the BMC says", nil
}

// upload makes the archive and gives it to the hub, as a person does.
func (d *Demo) upload(ctx context.Context) (string, error) {
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
	if err := os.WriteFile(d.path(envArchive), out.Bytes(), 0o600); err != nil {
		return "", err
	}
	_, err := d.rackctl(ctx, "iso", "upload", d.path(envArchive), "--sha256", fmt.Sprintf("%x", sha256.Sum256(out.Bytes())))
	return envArchive, err
}

func (d *Demo) fromArchive(ctx context.Context) (string, error) {
	name, err := d.claimed(ctx)
	if err != nil {
		return "", err
	}
	s, err := api.Get[*resource.Server](ctx, d.client, name)
	if err != nil {
		return "", err
	}
	got, want := d.withSystem().Disk.Digest(), digestOfUKI(envImage)
	if got != want || s.Status.BootEnv != envName {
		return "", fmt.Errorf("installed is %s of environment %q, want %s of %s", got, s.Status.BootEnv, want, envName)
	}
	return fmt.Sprintf("environment %s, OS %s", s.Status.BootEnv, s.Status.OS), nil
}
