package firmware

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"

	"rackboot/netboot/bootenv"
	"rackboot/netboot/chain"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

const (
	decommissionFile = "../../configs/bootenvs/decommission.yaml"
	// discardMiB is the size of a disk: more than the two ends of 16 MiB that are always
	// zeroed.
	discardMiB = 48
)

// TestOVMFDecommission boots the shipped environment decommission on real firmware: what is
// random on a disk that can forget, and on one that cannot, is zero afterwards. Where the
// agent does not confirm it, the same kernel with the same arguments touches nothing.
func TestOVMFDecommission(t *testing.T) {
	need(t)
	ctx, cancel := context.WithTimeout(t.Context(), flowTimeout)
	defer cancel()
	s := &site{dir: t.TempDir(), started: time.Now()}
	kernel, initrd := buildProbe(ctx, t, s.dir)
	var disks []string
	var before [][sha256.Size]byte
	for i, name := range []string{"forgets.raw", "keeps.raw"} {
		noise := make([]byte, discardMiB<<20)
		_, _ = rand.NewChaCha8([32]byte{byte(i)}).Read(noise) // it never fails
		if err := os.WriteFile(s.path(name), noise, 0o600); err != nil {
			t.Fatal(err)
		}
		disks, before = append(disks, s.path(name)), append(before, sha256.Sum256(noise))
	}
	drives := []string{
		"-drive", "if=none,id=d1,format=raw,discard=unmap,file=" + disks[0], "-device", "virtio-blk-pci,drive=d1,discard=on,addr=4",
		"-drive", "if=none,id=d2,format=raw,file=" + disks[1], "-device", "virtio-blk-pci,drive=d2,discard=off,addr=5",
	}
	r, line := decommissionRack(ctx, t, kernel, initrd)
	s.logf(t, "environment rendered: %s", line)

	t.Run("not confirmed", func(t *testing.T) {
		s := &site{dir: t.TempDir(), started: time.Now()}
		without := r
		without.Texts = nil
		ns := bootNetwork(ctx, t, "chain")
		startChain(ctx, t, s, ns, without)
		startKernel(t, ns, s.dir, kernel, initrd, line, drives...)
		reported(ctx, t, s, "failed", "the agent does not confirm it")
		for i, disk := range disks {
			if content, err := os.ReadFile(disk); err != nil || sha256.Sum256(content) != before[i] {
				t.Errorf("%s was touched: %v", disk, err)
			}
		}
		s.logf(t, "nothing was touched")
	})
	t.Run("confirmed", func(t *testing.T) {
		s := &site{dir: t.TempDir(), started: time.Now()}
		ns := bootNetwork(ctx, t, "chain")
		startChain(ctx, t, s, ns, r)
		startFirmware(t, ns, s.dir, append([]string{"-fw_cfg", noPXE}, drives...)...)
		reported(ctx, t, s, "booted", "vda (50 MB) discarded; vdb (50 MB) zeroed")
		for _, disk := range disks {
			if content, err := os.ReadFile(disk); err != nil || !bytes.Equal(content, make([]byte, discardMiB<<20)) {
				t.Errorf("%s is not zero: %v", disk, err)
			}
		}
		// The server says so after it has sent the file.
		s.until(ctx, t, 30*time.Second, "it was asked whether it may", func(context.Context) (bool, error) {
			return strings.Contains(s.read("chain.out"), "fetched "+protocol.FileDiscard+"\n"), s.alive()
		})
		s.logf(t, "both disks are zero")
	})
}

// reported waits for the report of the machine's image, and compares it.
func reported(ctx context.Context, t *testing.T, s *site, state, message string) {
	t.Helper()
	s.until(ctx, t, installTimeout, "the report", func(context.Context) (bool, error) {
		return strings.Contains(s.read("chain.out"), "report "), s.alive()
	})
	if got := s.read("chain.out"); !strings.Contains(got, "report "+state+"\n") || !strings.Contains(got, message) {
		t.Fatalf("want %s, %q; the rack saw\n%s\nand the console\n%s", state, message, got, s.read("serial.log"))
	}
}

// decommissionRack is a rack whose machine boots the shipped environment by UEFI HTTP boot
// through shim and GRUB, with kernel and initramfs in place of its image's. line is the
// kernel's.
func decommissionRack(ctx context.Context, t *testing.T, kernel, initrd string) (r chainRack, line string) {
	t.Helper()
	bundle := decommissionBundle(t)
	bundle.Images = []resource.Image{{
		Reference: bundle.Spec.OS.SupportedArchitectures["amd64"].Image, Digest: "sha256:image", Architecture: "amd64",
		Artefacts: []resource.Artefact{{Kind: resource.ArtefactKernel, Digest: "sha256:kernel"}, {Kind: resource.ArtefactInitramfs, Digest: "sha256:initrd"}},
	}}
	recipe, err := bootenv.Merge(bundle)
	if err != nil {
		t.Fatal(err)
	}
	site := bootenv.Sample()
	site.Base, site.Token = "http://"+chainAddress+":8080", bootToken
	boot, err := recipe.Boot(ctx, resource.LoaderAMD64HTTP, site)
	if err != nil {
		t.Fatal(err)
	}
	tree, err := recipe.Render(ctx, site)
	if err != nil {
		t.Fatal(err)
	}
	r = chainRack{Method: protocol.TargetUefiHTTP, Architecture: "amd64", Base: site.Base, Paths: map[string]string{}, Texts: map[string]string{}}
	for name, f := range tree.Files {
		r.Texts[name] = string(f.Content)
	}
	r.Named = map[string]string{boot.Kernel: kernel, boot.Initrds[0]: initrd}
	env := chain.Env{Kernel: boot.Kernel, Initrds: boot.Initrds, CommandLine: boot.CommandLine}
	r.Config = chain.EnvConfig(env, bootToken, boot.CommandLine)
	loaders := chain.Loaders{}
	for role, path := range map[chain.Role]string{
		chain.RoleShim: loaderOf(t, "bookworm-amd64", "usr/lib/shim/shimx64.efi.signed"),
		chain.RoleGRUB: loaderOf(t, "trixie-amd64", "usr/lib/grub/x86_64-efi-signed/grubnetx64.efi.signed"),
	} {
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		l, err := chain.Inspect("amd64", role, content)
		if err != nil {
			t.Fatal(err)
		}
		l.Digest = "sha256:" + string(role)
		loaders[role], r.Paths[l.Digest] = l, path
	}
	r.Chain, err = chain.ChooseEnv(chain.Request{Method: resource.FirstBootUefiHTTP, Architecture: "amd64", Loaders: loaders, TFTP: true}, env, "sha256:view")
	if err != nil {
		t.Fatal(err)
	}
	return r, boot.CommandLine
}

// decommissionBundle is what a hub makes of the shipped file for a server.
func decommissionBundle(t *testing.T) resource.EnvBundle {
	t.Helper()
	b := resource.EnvBundle{
		UID: "env-uid", Purpose: resource.PurposeMaintenance, Owner: "return", KernelArgs: "console=ttyS0 panic=-1", Schemas: map[string]resource.ParamSpec{},
		Machine: resource.EnvMachine{Name: "n1", UID: "n1-uid", BootMAC: "52:54:00:12:34:56", Architecture: "amd64", Rack: "rack-a", Segment: "boot"},
	}
	f, err := os.Open(decommissionFile)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for d := yaml.NewDecoder(f); ; {
		var doc map[string]any
		err := d.Decode(&doc)
		if errors.Is(err, io.EOF) {
			return b
		}
		raw, jsonErr := json.Marshal(doc)
		kind, _ := resource.ParseKind(fmt.Sprint(doc["kind"]))
		obj := resource.NewObject(kind)
		if err := errors.Join(err, jsonErr, json.Unmarshal(raw, obj)); err != nil {
			t.Fatal(err)
		}
		switch o := obj.(type) {
		case *resource.BootEnv:
			b.BootEnv, b.Spec = o.Metadata.Name, o.Spec
		case *resource.Param:
			b.Schemas[o.Spec.Name] = o.Spec
		}
	}
}
