//go:build soak

package tpm

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"rackboot/integration/uki"
	"rackboot/netboot/attest"
	"rackboot/netboot/attest/enrol"
	"rackboot/netboot/attest/eventlog"
	"rackboot/netboot/attest/logtest"
	"rackboot/netboot/probe/initramfs"
)

var record = flag.Bool("record", false, "write the logs of netboot/attest/logtest anew")

// Firmware of Debian, and its variables with Microsoft's keys.
const (
	plainCode  = "/usr/share/OVMF/OVMF_CODE_4M.fd"
	plainVars  = "/usr/share/OVMF/OVMF_VARS_4M.fd"
	secureCode = "/usr/share/OVMF/OVMF_CODE_4M.secboot.fd"
	secureVars = "/usr/share/OVMF/OVMF_VARS_4M.ms.fd"
	localGRUB  = "loaders/bookworm-amd64/root/usr/lib/grub/x86_64-efi-signed/grubx64.efi.signed"

	console  = "console=ttyS0 panic=-1"
	bootTime = 8 * time.Minute // what was seen: 25 s, and 130 on a machine with eighteen others at work
)

// statement is what the witness writes.
type statement struct {
	Attestation, Quote, Signature, Log []byte
	PCRs                               map[int][]byte
	Wrong                              string
}

// vm is a machine with firmware, a TPM and a disk.
type vm struct {
	t          *testing.T
	dir        string // of its TPM
	code, vars string
}

func newVM(t *testing.T, code, vars string) *vm {
	t.Helper()
	for _, p := range []string{"qemu-system-x86_64", "objcopy", "mkfs.vfat", "mcopy"} {
		program(t, "qemu", p)
	}
	for _, f := range []string{code, vars} {
		if _, err := os.Stat(f); err != nil {
			missing(t, "qemu", f+" is not there")
		}
	}
	return &vm{t: t, dir: provision(t), code: code, vars: vars}
}

// boot boots the machine from a disk with files, until it powers itself off.
func (m *vm) boot(files map[string]string, nonce []byte) statement {
	m.t.Helper()
	dir := m.t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	vars, err := os.ReadFile(m.vars)
	if err != nil {
		m.t.Fatal(err)
	}
	if err := os.WriteFile(at("vars.fd"), vars, 0o600); err != nil {
		m.t.Fatal(err)
	}
	disk(m.t, at("disk"), files)
	ctx, stop := context.WithTimeout(m.t.Context(), bootTime)
	defer stop()
	begin := func(name string, args ...string) *exec.Cmd {
		cmd := exec.CommandContext(ctx, name, args...)
		cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
		cmd.Stderr = os.Stderr
		if err := cmd.Start(); err != nil {
			m.t.Fatal(err)
		}
		return cmd
	}
	chip := begin("swtpm", "socket", "--tpm2", "--tpmstate", "dir="+filepath.Join(m.dir, "state"), "--ctrl", "type=unixio,path="+at("socket"), "--terminate")
	defer stopped(chip)
	for deadline := time.Now().Add(waitAtMost); ; time.Sleep(10 * time.Millisecond) {
		if _, err := os.Stat(at("socket")); err == nil {
			break
		}
		if time.Now().After(deadline) {
			m.t.Fatal("swtpm does not listen")
		}
	}
	machine := begin("qemu-system-x86_64", "-machine", "q35,smm=on", "-global", "driver=cfi.pflash01,property=secure,value=on",
		"-accel", "tcg", "-m", "512", "-smp", "1", "-display", "none", "-nic", "none", "-no-reboot",
		"-serial", "file:"+at("console"), "-serial", "file:"+at("witness"), "-smbios", "type=1,serial="+hex.EncodeToString(nonce),
		"-drive", "if=pflash,format=raw,readonly=on,file="+m.code, "-drive", "if=pflash,format=raw,file="+at("vars.fd"),
		"-drive", "format=raw,if=ide,file="+at("disk"),
		"-chardev", "socket,id=c,path="+at("socket"), "-tpmdev", "emulator,id=t,chardev=c", "-device", "tpm-crb,tpmdev=t")
	waited := machine.Wait()
	said, err := os.ReadFile(at("witness"))
	if err != nil {
		m.t.Fatal(err)
	}
	found := regexp.MustCompile(`witness:([A-Za-z0-9+/=]+):`).FindSubmatch(said)
	if waited != nil || found == nil {
		log, _ := os.ReadFile(at("console")) // for the message
		m.t.Fatalf("the machine ended with %v, and no statement:\n%s", waited, log[max(0, len(log)-2000):])
	}
	raw, err := base64.StdEncoding.DecodeString(string(found[1]))
	if err != nil {
		m.t.Fatal(err)
	}
	var s statement
	if err := json.Unmarshal(raw, &s); err != nil {
		m.t.Fatal(err)
	}
	if s.Wrong != "" {
		m.t.Fatalf("the witness says: %s", s.Wrong)
	}
	return s
}

func stopped(cmd *exec.Cmd) {
	_ = cmd.Process.Kill() // it ends with the machine
	_ = cmd.Wait()
}

// disk makes a FAT file system with files, by their names there.
func disk(t *testing.T, to string, files map[string]string) {
	t.Helper()
	f, err := os.Create(to)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Truncate(64 << 20); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	run := func(name string, args ...string) {
		if out, err := exec.CommandContext(t.Context(), name, args...).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", name, err, out)
		}
	}
	run("mkfs.vfat", "-i", "52424f54", to)
	run("mmd", "-i", to, "::EFI", "::EFI/BOOT", "::EFI/debian")
	for name, from := range files {
		run("mcopy", "-i", to, from, "::"+name)
	}
}

// initrd is an initramfs with the witness, and something that makes it another one.
func initrd(t *testing.T, something string) string {
	t.Helper()
	dir := t.TempDir()
	build := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-ldflags=-s -w", "-o", filepath.Join(dir, "witness"), "rackboot/integration/tpm/witness")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build the witness: %v\n%s", err, out)
	}
	program, err := os.ReadFile(filepath.Join(dir, "witness"))
	if err != nil {
		t.Fatal(err)
	}
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	a := initramfs.NewArchive(z)
	a.Folder("dev")
	a.File("init", 0o755, program)
	a.File("something", 0o644, []byte(something))
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return file(t, packed.Bytes())
}

func file(t *testing.T, content []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func unified(t *testing.T, initrd, cmdline string) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), "image.efi")
	if err := uki.Build(t.Context(), uki.Config{Stub: unpacked(t, stubFile), Kernel: unpacked(t, kernelFile), Initramfs: initrd, Cmdline: cmdline}, to); err != nil {
		t.Fatal(err)
	}
	return to
}

// judge verifies a statement against what was expected before the machine was started.
func judge(t *testing.T, s statement, x attest.Expectation) attest.Verdict {
	t.Helper()
	key, fault := enrol.AttestationKey(s.Attestation)
	if fault != enrol.NoFault {
		t.Fatal(fault)
	}
	return attest.Verify(attest.Enrolment{Attestation: key}, attest.Evidence{Quote: s.Quote, Signature: s.Signature, PCRs: s.PCRs, Log: s.Log}, x)
}

func nonce(t *testing.T) []byte {
	t.Helper()
	n := make([]byte, 16)
	if _, err := rand.Read(n); err != nil {
		t.Fatal(err)
	}
	return n
}

// codes are the differences as they are compared: code, PCR, and the name of what is not from
// the log's claims.
func codes(v attest.Verdict) []string {
	var out []string
	for _, d := range v.Differences {
		out = append(out, fmt.Sprint(d.Code, " ", d.PCR, " ", strings.TrimPrefix(d.Name, "/")))
	}
	return out
}

// A unified kernel image that OVMF boots is attested by what was computed of its file before; another
// command line and another initrd are named.
func TestFirmwareUnified(t *testing.T) {
	m := newVM(t, plainCode, plainVars)
	plain := initrd(t, "expected")
	image := unified(t, plain, console)
	raw := read(t, image)
	x, err := attest.OfUnified(bytes.NewReader(raw), int64(len(raw)))
	if err != nil {
		t.Fatal(err)
	}
	x.Images[1].Optional = false // this stub has firmware load the kernel
	const name = "EFI/BOOT/BOOTX64.EFI"
	path := `other-image 4 Acpi(0xa0341d0,0x0)/Pci(0x1f,0x2)/Path(3,18)/\` + strings.ReplaceAll(name, "/", `\`)
	for _, c := range []struct {
		name, image string
		want        []string
	}{
		{"expected", image, nil},
		{"another command line", unified(t, plain, console+" init=/bin/sh"), []string{path, "other-section 11 .cmdline"}},
		{"another initrd", unified(t, initrd(t, "another"), console), []string{path, "other-section 11 .initrd"}},
	} {
		x.Nonce = nonce(t)
		s := m.boot(map[string]string{name: c.image}, x.Nonce)
		v := judge(t, s, x)
		if got := codes(v); !slices.Equal(got, c.want) || v.Attested() != (c.want == nil) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
		if c.want == nil {
			recorded(t, logtest.Unified, "Secure Boot off: OVMF of edk2 2022.11, a unified kernel image from a disk, systemd-stub 252, Linux 6.1.", s)
		}
	}
	x.SecureBoot, x.Nonce = true, nonce(t)
	if got, want := codes(judge(t, m.boot(map[string]string{name: image}, x.Nonce), x)), []string{"secure-boot-off 7 SecureBoot"}; !slices.Equal(got, want) {
		t.Errorf("Secure Boot is expected: %q, want %q", got, want)
	}
}

// Debian's shim, GRUB and kernel under Secure Boot likewise; so is another initrd, which nobody signs.
func TestFirmwareChain(t *testing.T) {
	m := newVM(t, secureCode, secureVars)
	shim, grub, kernel, plain := unpacked(t, shimFile), unpacked(t, localGRUB), unpacked(t, kernelFile), initrd(t, "expected")
	config := file(t, []byte("set timeout=0\nmenuentry \"rackboot\" {\n  linux /vmlinuz "+console+"\n  initrd /initrd.gz\n}\n"))
	hash := func(path string) []byte { s := sha256.Sum256(read(t, path)); return s[:] }
	x := attest.Expectation{
		Bank: eventlog.SHA256, SecureBoot: true,
		Images: []attest.Item{{Name: "shim", Digest: authenticode(t, read(t, shim))}, {Name: "GRUB", Digest: authenticode(t, read(t, grub))}, {Name: "kernel", Digest: authenticode(t, read(t, kernel))}},
		Files:  []attest.Item{{Name: "grub.cfg", Digest: hash(config)}, {Name: "vmlinuz", Digest: hash(kernel)}, {Name: "initrd.gz", Digest: hash(plain)}},
	}
	for _, c := range []struct {
		name, initrd string
		want         []string
	}{
		{"expected", plain, nil},
		{"another initrd", initrd(t, "another"), []string{"other-file 9 initrd.gz", "other-file 9 initrd.gz"}},
	} {
		x.Nonce = nonce(t)
		s := m.boot(map[string]string{"EFI/BOOT/BOOTX64.EFI": shim, "EFI/BOOT/grubx64.efi": grub, "EFI/debian/grub.cfg": config, "vmlinuz": kernel, "initrd.gz": c.initrd}, x.Nonce)
		v := judge(t, s, x)
		if got := codes(v); !slices.Equal(got, c.want) || v.Attested() != (c.want == nil) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
		if c.want == nil {
			recorded(t, logtest.ShimGRUB, "Secure Boot on with Microsoft's keys: OVMF of edk2 2022.11, shim 16.1, GRUB 2.06 and Linux 6.1 of Debian 12.", s)
		}
	}
}

// recorded writes a log of logtest anew, where that was asked for.
func recorded(t *testing.T, name, what string, s statement) {
	t.Helper()
	if !*record {
		return
	}
	var out strings.Builder
	fmt.Fprintf(&out, "# %s\n# A machine of QEMU with a TPM of swtpm: the PCRs of SHA-256 as Linux shows them, then its event log.\n", what)
	for pcr := range eventlog.MaxReplayed + 1 {
		if value, ok := s.PCRs[pcr]; ok {
			fmt.Fprintf(&out, "%d %x\n", pcr, value)
		}
	}
	out.WriteString("log\n")
	for text := base64.StdEncoding.EncodeToString(s.Log); text != ""; {
		n := min(120, len(text))
		out.WriteString(text[:n] + "\n")
		text = text[n:]
	}
	if err := os.WriteFile(filepath.Join("..", "..", "netboot", "attest", "logtest", "recorded", name+".txt"), []byte(out.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}
