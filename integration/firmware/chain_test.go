package firmware

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"rackboot/integration/netns"
	"rackboot/netboot/bootcert"
	"rackboot/netboot/chain"
	"rackboot/netboot/probe/initramfs"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

const (
	secureCode = "/usr/share/OVMF/OVMF_CODE_4M.secboot.fd"
	secureVars = "/usr/share/OVMF/OVMF_VARS_4M.ms.fd" // Secure Boot is on, with Microsoft's keys

	// noPXE brings HTTP boot first: PXE would go on for a minute.
	noPXE = "name=opt/org.tianocore/IPv4PXESupport,string=n"
)

// loaderOf is a file of a package of Debian's that integration/packages unpacked.
// release is that and the architecture, as trixie-arm64.
func loaderOf(t *testing.T, release, path string) string {
	t.Helper()
	return filepath.Join(filepath.Dir(unpacked(t, "")), "loaders", release, "root", path)
}

// chainFlow is one boot through loaders, from firmware to the report of the image.
type chainFlow struct {
	prefer  protocol.ChainKind
	method  resource.FirstBoot
	loaders map[chain.Role]string // paths
	base    string
	// start starts the machine.
	start func(t *testing.T, ns *netns.Namespace, dir string, args ...string)
	args  []string
	arm64 bool
	// userData is what the image fetches by the URL in its command line; empty for none.
	userData string
}

// startSecure starts a machine with Secure Boot, whose variables only firmware can write.
func startSecure(t *testing.T, ns *netns.Namespace, dir string, args ...string) {
	t.Helper()
	startMachine(t, ns, dir, secureCode, secureVars, append([]string{"-M", "q35,smm=on", "-global", "driver=cfi.pflash01,property=secure,value=on"}, args...)...)
}

// boot boots a machine and returns what its servers were asked, and its console.
func (f chainFlow) boot(t *testing.T) (asked, console string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), flowTimeout)
	defer cancel()
	s := &site{dir: t.TempDir(), started: time.Now()}
	cpu, console1, root := "amd64", "ttyS0", unpacked(t, "")
	if f.arm64 {
		cpu, console1, root = "arm64", "ttyAMA0", loaderOf(t, "bookworm-arm64", "")
	}
	r := chainRack{Method: f.method.Target(), Architecture: cpu, Paths: map[string]string{}, Base: f.base}
	var authority []byte
	if strings.HasPrefix(f.base, "https://") {
		var list string
		r.Certificates = s.path("https")
		authority, list = enrol(t, r.Certificates)
		f.args = append(f.args, "-fw_cfg", "name=etc/edk2/https/cacerts,file="+list)
	}
	img := resource.Image{Digest: "sha256:image", CommandLine: "console=" + console1 + " panic=-1 rackboot.role=report"}
	kernel, initrd := buildReporter(ctx, t, s.dir, cpu, root, authority)
	for kind, path := range map[resource.ArtefactKind]string{resource.ArtefactKernel: kernel, resource.ArtefactInitramfs: initrd} {
		img.Artefacts = append(img.Artefacts, resource.Artefact{Kind: kind, Digest: "sha256:" + string(kind)})
		r.Paths["sha256:"+string(kind)] = path
	}
	loaders := chain.Loaders{}
	for role, path := range f.loaders {
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		l, err := chain.Inspect(cpu, role, content)
		if err != nil {
			t.Fatal(err)
		}
		l.Digest = "sha256:" + string(role)
		loaders[role], r.Paths[l.Digest] = l, path
	}
	var err error
	r.Chain, err = chain.Choose(chain.Request{
		Method: f.method, Architecture: cpu, Image: img, Loaders: loaders, TFTP: true, HTTPS: r.Certificates != "",
	})
	if err != nil || r.Chain.Kind != f.prefer {
		t.Fatalf("chain %q, %v", r.Chain.Kind, err)
	}
	r.UserData, r.Chain.Ignition = f.userData, f.userData != ""
	ns := bootNetwork(ctx, t, "chain")
	startChain(ctx, t, s, ns, r)
	f.start(t, ns, s.dir, f.args...)
	s.until(ctx, t, installTimeout, "the image has reported", func(context.Context) (bool, error) {
		return strings.Contains(s.read("chain.out"), "report installed\n"), s.alive()
	})
	s.until(ctx, t, firmwareTimeout, "the image has ended", func(context.Context) (bool, error) {
		return strings.Contains(s.read("serial.log"), "rackboot-test: power off"), s.alive()
	})
	return s.read("chain.out"), s.read("serial.log")
}

// startChain runs the rack's servers in the namespace.
func startChain(ctx context.Context, t *testing.T, s *site, ns *netns.Namespace, r chainRack) {
	t.Helper()
	raw, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	s.write(t, "chain.json", string(raw))
	t.Setenv(childVar, childChain)
	t.Setenv(folderVar, s.path("chain.json"))
	s.start(t, ns, "chain", false, os.Args[0])
	s.until(ctx, t, 30*time.Second, "boot servers", func(context.Context) (bool, error) {
		return strings.Contains(s.read("chain.out"), "ready"), s.alive()
	})
}

// enrol makes the certificates of HTTPS boot. It returns the authority for the image,
// and the list for firmware.
func enrol(t *testing.T, folder string) (authority []byte, list string) {
	t.Helper()
	names, err := bootcert.ParseNames([]string{chainAddress})
	if err != nil {
		t.Fatal(err)
	}
	f := bootcert.Folder(folder)
	if _, err := f.Make(names, time.Now()); err != nil {
		t.Fatal(err)
	}
	_, list, pem := f.Enrolled()
	authority, err = os.ReadFile(pem)
	if err != nil {
		t.Fatal(err)
	}
	return authority, list
}

// buildReporter gives Debian's signed kernel of a root folder, and an initramfs that
// reports and installs nothing.
func buildReporter(ctx context.Context, t *testing.T, dir, cpu, root string, authority []byte) (kernel, initrd string) {
	t.Helper()
	program := filepath.Join(dir, "installer")
	build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags=-s -w", "-o", program, "rackboot/integration/installer")
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOARCH="+cpu)
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build the installer: %v\n%s", err, out)
	}
	kernels, err := filepath.Glob(filepath.Join(root, "boot/vmlinuz-*"))
	if err != nil || len(kernels) != 1 {
		t.Fatalf("one kernel is needed, there are %q (%v)", kernels, err)
	}
	release := strings.TrimPrefix(filepath.Base(kernels[0]), "vmlinuz-")
	modules, err := initramfs.Modules(filepath.Join(root, "lib/modules", release), "virtio_pci", "virtio_net")
	if err != nil {
		t.Fatal(err)
	}
	more := map[string][]byte{}
	if authority != nil {
		more["ca.pem"] = authority
	}
	initrd = filepath.Join(dir, "reporter.cpio.gz")
	packInitramfs(t, initrd, program, modules, more)
	return kernels[0], initrd
}

// inOrder says whether the lines come in this order, with others between.
func inOrder(t *testing.T, text string, lines ...string) {
	t.Helper()
	rest := text
	for _, l := range lines {
		i := strings.Index(rest, l+"\n")
		if i < 0 {
			t.Errorf("no %q in its place:\n%s", l, text)
			return
		}
		rest = rest[i+len(l):]
	}
}

// TestOVMFSecureHTTPS boots real firmware with Secure Boot by HTTPS: shim as Debian and
// Microsoft signed it, Debian 13's GRUB, and Debian's kernel, which the firmware and shim
// verify, and the agent's authority in the firmware's store. All files come by HTTPS from
// a port of its own, to the initramfs, which fetches its user data by the URL with the
// token, and reports.
func TestOVMFSecureHTTPS(t *testing.T) {
	need(t)
	const userData = `{"ignition": {"version": "3.4.0"}}`
	asked, console := chainFlow{
		prefer: protocol.ChainGRUB, method: resource.FirstBootUefiHTTP, base: "https://" + chainAddress + ":8443", start: startSecure,
		loaders: map[chain.Role]string{
			chain.RoleShim: loaderOf(t, "bookworm-amd64", "usr/lib/shim/shimx64.efi.signed"),
			chain.RoleGRUB: loaderOf(t, "trixie-amd64", "usr/lib/grub/x86_64-efi-signed/grubnetx64.efi.signed"),
		},
		args: []string{"-fw_cfg", noPXE}, userData: userData,
	}.boot(t)
	inOrder(t, asked, "client HTTPClient: boot shimx64.efi", "fetched shimx64.efi", "fetched grubx64.efi",
		"fetched grub/grub.cfg", "fetched kernel", "fetched initrd", "delivered user data", "report installed")
	if want := fmt.Sprintf("rackboot-test: user data by https, sha256:%x", sha256.Sum256([]byte(userData))); !strings.Contains(console, want) {
		t.Errorf("the image does not say %q", want)
	}
	for _, miss := range []string{"none revocations_sku.efi\n", "none shim_certificate_0.efi\n"} {
		if !strings.Contains(asked, miss) {
			t.Errorf("shim was not seen to ask for %q:\n%s", miss, asked)
		}
	}
	if !strings.Contains(console, "Secure boot enabled") && !strings.Contains(console, "secureboot: Secure boot enabled") {
		t.Error("the kernel does not say that Secure Boot is on")
	}
}

// TestOVMFSecurePXE is the same by PXE with Debian 12's GRUB, which loads by TFTP only:
// shim takes its folder from the ACK.
func TestOVMFSecurePXE(t *testing.T) {
	need(t)
	asked, console := chainFlow{
		prefer: protocol.ChainGRUB, method: resource.FirstBootPxe, base: "http://" + chainAddress + ":8080", start: startSecure,
		loaders: map[chain.Role]string{
			chain.RoleShim: loaderOf(t, "bookworm-amd64", "usr/lib/shim/shimx64.efi.signed"),
			chain.RoleGRUB: loaderOf(t, "bookworm-amd64", "usr/lib/grub/x86_64-efi-signed/grubnetx64.efi.signed"),
		},
	}.boot(t)
	inOrder(t, asked, "client PXEClient: boot shimx64.efi", "fetched shimx64.efi", "fetched grubx64.efi",
		"fetched grub/grub.cfg", "fetched kernel", "fetched initrd", "report installed")
	if !strings.Contains(console, "Secure boot enabled") {
		t.Error("the kernel does not say that Secure Boot is on")
	}
}

// TestOVMFIPXE boots by PXE through iPXE, which finds its script next to itself, asks
// for an address as iPXE, and gets the script then too, never itself again.
func TestOVMFIPXE(t *testing.T) {
	need(t)
	asked, _ := chainFlow{
		prefer: protocol.ChainIPXE, method: resource.FirstBootPxe, base: "http://" + chainAddress + ":8080", start: startFirmware,
		loaders: map[chain.Role]string{chain.RoleIPXE: loaderOf(t, "trixie-amd64", "usr/lib/ipxe/snponly.efi")},
	}.boot(t)
	inOrder(t, asked, "client PXEClient: boot snponly.efi", "fetched snponly.efi", "fetched autoexec.ipxe",
		"client iPXE: boot autoexec.ipxe", "fetched kernel", "fetched initrd", "report installed")
	if n := strings.Count(asked, "fetched snponly.efi\n"); n != 1 {
		t.Errorf("iPXE was loaded %d times", n)
	}
}
