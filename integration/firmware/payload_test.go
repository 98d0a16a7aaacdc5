package firmware

import (
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"rackboot/integration/uki"
	"rackboot/netboot/probe/initramfs"
)

const (
	ovmfCode = "/usr/share/OVMF/OVMF_CODE_4M.fd"
	ovmfVars = "/usr/share/OVMF/OVMF_VARS_4M.fd"
	// The firmware of the next Debian, as it was unpacked.
	newerCode = "usr/share/OVMF/OVMF_CODE_4M.fd"
	newerVars = "usr/share/OVMF/OVMF_VARS_4M.fd"

	// diskMiB holds a kernel and a small initramfs.
	diskMiB = 48
	console = "console=ttyS0 quiet panic=-1"
)

// payload is what a claim's image is made of.
type payload struct {
	installer string // UKI that writes the disk
	disk      []byte // what it writes, gzipped
	kernel    string // of both, as Debian signed it
	initramfs string // of the installer
}

// buildPayload builds the installer, the system on the disk that it writes, and
// the unified kernel images of both, which share kernel and program. trust is PEM of whom
// the installer trusts, where it reports by HTTPS.
func buildPayload(ctx context.Context, t *testing.T, dir string, trust ...byte) payload {
	t.Helper()
	program := filepath.Join(dir, "installer")
	build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags=-s -w", "-o", program, "rackboot/integration/installer")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build the installer: %v\n%s", err, out)
	}
	kernels, err := filepath.Glob(unpacked(t, "boot/vmlinuz-*"))
	if err != nil || len(kernels) != 1 {
		t.Fatalf("one kernel is needed, there are %q (%v)", kernels, err)
	}
	release := strings.TrimPrefix(filepath.Base(kernels[0]), "vmlinuz-")
	modules, err := initramfs.Modules(unpacked(t, filepath.Join("lib/modules", release)), "virtio_pci", "virtio_net", "virtio_blk", "button", "evdev", "virtio_scsi", "sr_mod", "isofs")
	if err != nil {
		t.Fatal(err)
	}
	image := func(name, cmdline string, more map[string][]byte) string {
		c := uki.Config{
			Stub: unpacked(t, "usr/lib/systemd/boot/efi/linuxx64.efi.stub"), Kernel: kernels[0],
			Initramfs: filepath.Join(dir, name+".cpio.gz"), Cmdline: cmdline,
		}
		packInitramfs(t, c.Initramfs, program, modules, more)
		to := filepath.Join(dir, name+".efi")
		if err := uki.Build(ctx, c, to); err != nil {
			t.Fatal(err)
		}
		return to
	}
	system := image("system", console+" rackboot.role=os", nil)
	disk := filepath.Join(dir, "disk.raw")
	if err := uki.Disk(ctx, system, diskMiB, disk); err != nil {
		t.Fatal(err)
	}
	var packed bytes.Buffer
	compress(t, &packed, func(w io.Writer) error {
		f, err := os.Open(disk)
		if err != nil {
			return err
		}
		defer f.Close()
		_, err = io.Copy(w, f)
		return err
	})
	more := map[string][]byte{"disk.gz": packed.Bytes()}
	if trust != nil {
		more["ca.pem"] = trust
	}
	return payload{installer: image("install", console, more), disk: packed.Bytes(), kernel: kernels[0], initramfs: filepath.Join(dir, "install.cpio.gz")}
}

func packInitramfs(t *testing.T, to, program string, modules []initramfs.Module, more map[string][]byte) {
	t.Helper()
	f, err := os.Create(to)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	compress(t, f, func(w io.Writer) error {
		a := initramfs.NewArchive(w)
		a.Folder("dev")
		add := func(name, from string, mode os.FileMode) error {
			content, err := os.ReadFile(from)
			a.File(name, mode, content)
			return err
		}
		if err := add("init", program, 0o755); err != nil {
			return err
		}
		var list strings.Builder
		for _, m := range modules {
			name := "modules/" + m.Name + ".ko"
			list.WriteString("/" + name + "\n")
			if err := add(name, m.Path, 0o644); err != nil {
				return err
			}
		}
		a.File("modules/list", 0o644, []byte(list.String()))
		for name, content := range more {
			a.File(name, 0o644, content)
		}
		return a.Close()
	})
}

func compress(t *testing.T, to io.Writer, write func(io.Writer) error) {
	t.Helper()
	z, err := gzip.NewWriterLevel(to, gzip.BestSpeed)
	if err != nil {
		t.Fatal(err)
	}
	if err := write(z); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
}
