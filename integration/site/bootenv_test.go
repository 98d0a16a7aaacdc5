package site

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
)

// tarOf is a tar with one file, compressed if its name says so.
func tarOf(archive, name, content string) ([]byte, error) {
	var b bytes.Buffer
	var out io.WriteCloser = plain{&b}
	if strings.HasSuffix(archive, ".gz") {
		out = gzip.NewWriter(&b)
	}
	w := tar.NewWriter(out)
	err := w.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(content)), Format: tar.FormatUSTAR})
	_, writeErr := w.Write([]byte(content))
	err = errors.Join(err, writeErr, w.Close(), out.Close())
	return b.Bytes(), err
}

type plain struct{ io.Writer }

func (plain) Close() error { return nil }

// upload brings a tar with one file to the hub. What is there of it already is gone on with.
func (s *site) upload(archive, name, content string) error {
	body, err := tarOf(archive, name, content)
	if err != nil {
		return err
	}
	ctx := s.t.Context()
	u, err := s.client.Uploads.Begin(ctx, api.ISOUploadRequest{File: archive, Digest: digestOf(string(body)), Size: int64(len(body))})
	if err == nil && u.Offset < int64(len(body)) {
		_, err = s.client.Uploads.Send(ctx, u.ID, u.Offset, bytes.NewReader(body[u.Offset:]), int64(len(body))-u.Offset)
	}
	if err == nil {
		_, err = s.client.Uploads.Finish(ctx, u.ID, api.ISOFinishRequest{File: archive})
	}
	return err
}

func digestOf(content string) string { return fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(content))) }

const envUKI = "MZ a unified kernel image of the environment"

// envObjects are an environment with its template, and a value for it.
func envObjects(mirror any) []resource.Object {
	seed := &resource.Template{Spec: resource.TemplateSpec{Contents: "mirror {{.Param \"mirror\"}}\n"}}
	seed.Metadata.Name = "seed"
	env := &resource.BootEnv{Spec: resource.BootEnvSpec{
		OS:        resource.EnvOS{Name: "demo-1", SupportedArchitectures: map[string]resource.EnvArch{"amd64": {IsoFile: "Demo.tar", UKI: "EFI/Linux.efi"}}},
		Templates: []resource.EnvTemplate{{Name: "seed", Path: "{{.Machine.Path}}/seed", ID: "seed"}},
	}}
	env.Metadata.Name = "demo-1-install"
	global := &resource.Profile{Spec: resource.ProfileSpec{Params: map[string]any{}}}
	global.Metadata.Name = resource.GlobalProfile
	if mirror != nil {
		global.Spec.Params["mirror"] = mirror
	}
	out := []resource.Object{global, seed, env}
	for _, o := range out {
		o.Default()
	}
	return out
}

// TestBootEnv is the way of a boot environment through hub and agent (seed 004, How They
// tie Together): refused with its reason while something is missing, and then made,
// fetched, booted, and followed while it is not booted. Only success changes status.bootEnv
// and status.os. Its file is a compressed tar, which the hub packs again, and the checksum in
// the environment is that of what was uploaded.
func TestBootEnv(t *testing.T) {
	t.Parallel()
	s := newSite(t, 1)
	s.hub.Secrets.KeyFile = s.keyFile("one.key", "01")
	s.startHub()
	s.apply(s.manifests()...)
	const archive = "Demo.tar.gz"
	packed, err := tarOf(archive, "EFI/Linux.efi", envUKI)
	if err != nil {
		t.Fatal(err)
	}
	objects := func(mirror any) []resource.Object {
		out := envObjects(mirror)
		os := &out[2].(*resource.BootEnv).Spec.OS
		os.SupportedArchitectures["amd64"] = resource.EnvArch{IsoFile: archive, Sha256: strings.TrimPrefix(digestOf(string(packed)), "sha256:"), UKI: "EFI/Linux.efi"}
		return out
	}
	s.apply(objects(nil)...)
	c := s.firstAgent()
	s.join(c)
	s.startAgent(c)
	claim := s.claim("n1")
	claim.Spec.Image, claim.Spec.BootEnv = "", &resource.Ref{Name: "demo-1-install"}
	s.apply(claim)
	says := func(code resource.ConditionCode, why string) {
		t.Helper()
		conditions := func() []resource.ConditionState {
			if v, ok := get[*resource.Claim](s, claim.Metadata.Name); ok {
				return v.Status.Conditions
			}
			return nil
		}
		s.until(string(code)+": "+why, func() bool {
			return slices.ContainsFunc(conditions(), func(c resource.ConditionState) bool { return c.Code == code && strings.Contains(c.Message, why) })
		}, func() any { return conditions() })
	}
	says(resource.CondBootEnvInvalid, archive)
	if err := s.upload(archive, "EFI/Linux.efi", envUKI); err != nil {
		t.Fatal(err)
	}
	digest := digestOf(envUKI)
	says(resource.CondBootEnvInvalid, "mirror")
	files, err := s.client.ISOs.List(t.Context())
	if err != nil || len(files.Items) != 1 || files.Items[0].Uploaded != digestOf(string(packed)) || files.Items[0].Digest == files.Items[0].Uploaded {
		t.Errorf("the book says %+v, %v", files, err)
	}
	if srv, _ := get[*resource.Server](s, "n1"); srv.Status.BootEnv != "" || srv.Status.OS != "" || s.servers[0].BMC.PowerState() != protocol.PowerOff {
		t.Errorf("refused, and the server says %q, %q", srv.Status.BootEnv, srv.Status.OS)
	}
	s.apply(objects("deb.example")...)
	s.untilServer("n1", "the disk boot after the installation", diskBoot)
	if got := s.servers[0].Disk.Digest(); got != digest {
		t.Errorf("installed %s, the environment's is %s", got, digest)
	}
	srv, _ := get[*resource.Server](s, "n1")
	if srv.Status.BootEnv != "demo-1-install" || srv.Status.OS != "demo-1" {
		t.Errorf("the server says %q, %q", srv.Status.BootEnv, srv.Status.OS)
	}
	// A change of what is installed is asked for, and never made by itself.
	other := objects("deb.example")[2].(*resource.BootEnv)
	other.Metadata.Name, other.Spec.OS.Name = "demo-2-install", "demo-2"
	claim = s.claim("n1")
	claim.Spec.Image, claim.Spec.BootEnv = "", &resource.Ref{Name: "demo-2-install"}
	s.apply(other, claim)
	says(resource.CondReprovisionRequired, "")
	if srv, _ := get[*resource.Server](s, "n1"); srv.Status.BootEnv != "demo-1-install" || s.servers[0].Disk.Digest() != digest {
		t.Errorf("it became %q", srv.Status.BootEnv)
	}
}
