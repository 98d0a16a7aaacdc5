package site

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ProtonMail/go-crypto/openpgp"
	"github.com/ProtonMail/go-crypto/openpgp/packet"

	agentdaemon "rackboot/agent/daemon"
	"rackboot/integration/sim"
	"rackboot/protocol"
	"rackboot/protocol/resource"
	"rackboot/state/statetest"
)

// vendor publishes the files of one boot image, and signs them.
type vendor struct {
	*httptest.Server
	key *openpgp.Entity

	mu     sync.Mutex
	files  map[string][]byte
	served map[string]int
}

// liveInitramfs is what servers boot; the vendor publishes it compressed.
func liveInitramfs() []byte {
	return append([]byte("070701"), bytes.Repeat([]byte("initramfs of the live system "), 2000)...)
}

func newVendor(t *testing.T) *vendor {
	t.Helper()
	v := &vendor{files: map[string][]byte{}, served: map[string]int{}}
	var err error
	config := &packet.Config{Algorithm: packet.PubKeyAlgoEdDSA, Time: func() time.Time { return time.Now().Add(-time.Hour) }}
	if v.key, err = openpgp.NewEntity("vendor", "", "vendor@example.com", config); err != nil {
		t.Fatal(err)
	}
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	if _, err := w.Write(liveInitramfs()); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	v.publish(t, "kernel", sim.UKI(bytes.Repeat([]byte("kernel of the live system "), 2000)))
	v.publish(t, "initramfs.gz", packed.Bytes())
	v.Server = httptest.NewServer(v)
	t.Cleanup(v.Close)
	return v
}

func (v *vendor) publish(t *testing.T, name string, content []byte) {
	t.Helper()
	var sig bytes.Buffer
	if err := openpgp.DetachSign(&sig, v.key, bytes.NewReader(content), nil); err != nil {
		t.Fatal(err)
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.files[name], v.files[name+".sig"] = content, sig.Bytes()
}

func (v *vendor) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name := strings.TrimPrefix(r.URL.Path, "/")
	v.mu.Lock()
	content, ok := v.files[name]
	v.served[name]++
	v.mu.Unlock()
	if !ok {
		http.NotFound(w, r)
		return
	}
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(content))
}

// times is how often a file was asked for.
func (v *vendor) times(name string) int {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.served[name]
}

// image is the entry of what is published now.
func (v *vendor) image() *resource.BootImage {
	v.mu.Lock()
	defer v.mu.Unlock()
	file := func(kind resource.ArtefactKind, name string) resource.BootImageFile {
		return resource.BootImageFile{
			Kind: kind, URL: v.URL + "/" + name, SHA256: strings.TrimPrefix(digestOf(string(v.files[name])), "sha256:"),
			Signature: &resource.BootImageSignature{Scheme: resource.SignatureOpenPGP, URL: v.URL + "/" + name + ".sig"},
		}
	}
	initramfs := file(resource.ArtefactInitramfs, "initramfs.gz")
	initramfs.UncompressedSHA256 = strings.TrimPrefix(digestOf(string(liveInitramfs())), "sha256:")
	b := &resource.BootImage{Spec: resource.BootImageSpec{
		Catalogue: "live", Version: "42.1",
		Architectures: map[string]resource.BootImageArch{"amd64": {
			Files:       []resource.BootImageFile{file(resource.ArtefactKernel, "kernel"), initramfs},
			CommandLine: "quiet live.url=@rackboot.url@rootfs.squashfs",
		}},
	}}
	b.Metadata.Name = "live-42-1"
	b.Default()
	return b
}

// follows makes the site one whose hub knows the vendor's key, and whose agent has loaders
// for kernels by UEFI HTTP boot.
func (s *site) follows(v *vendor) agentdaemon.Config {
	s.t.Helper()
	var ring bytes.Buffer
	if err := v.key.Serialize(&ring); err != nil {
		s.t.Fatal(err)
	}
	s.hub.ISOs.Keyring = filepath.Join(s.dir, "vendor.gpg")
	if err := os.WriteFile(s.hub.ISOs.Keyring, ring.Bytes(), 0o600); err != nil {
		s.t.Fatal(err)
	}
	loaders := s.t.TempDir()
	for name, content := range map[string]string{"shimx64.efi.signed": "shim", "grubnetx64.efi.signed": "grub grub_efi_net_boot_from_https"} {
		exe := make([]byte, 0x40+24+40)
		copy(exe, "MZ")
		binary.LittleEndian.PutUint32(exe[0x3c:], 0x40)
		copy(exe[0x40:], "PE\x00\x00\x64\x86\x01\x00")
		binary.LittleEndian.PutUint32(exe[0x40+24+16:], uint32(len(content)))
		binary.LittleEndian.PutUint32(exe[0x40+24+20:], uint32(len(exe)))
		if err := os.WriteFile(filepath.Join(loaders, name), append(exe, content...), 0o600); err != nil {
			s.t.Fatal(err)
		}
	}
	c := s.firstAgent()
	c.Loaders = map[string][]string{"amd64": {loaders}}
	return c
}

func (s *site) liveClaim() *resource.Claim {
	claim := s.claim("n1")
	claim.Spec.Image = "bootimage/live-42-1"
	return claim
}

// TestBootImage: a server boots an entry of files, by a claim that names it. The hub has
// fetched and verified each file once, and gives the agent what is booted and nothing else.
func TestBootImage(t *testing.T) {
	t.Parallel()
	s, v := newSite(t, 1), newVendor(t)
	c := s.follows(v)
	s.startHub()
	s.apply(append(s.manifests(), v.image())...)
	s.join(c)
	s.startAgent(c)
	s.apply(s.liveClaim())
	s.untilServer("n1", "the disk boot after the installation", diskBoot)
	s.installedOnce()
	if got := s.servers[0].Disk.Digest(); got != digestOf(string(liveInitramfs())) {
		t.Errorf("installed %s", got)
	}
	b, ok := get[*resource.BootImage](s, "live-42-1")
	if !ok || len(b.Status.Verified) != 2 || len(b.Status.Conditions) != 0 {
		t.Fatalf("%+v", b)
	}
	for digest, proof := range b.Status.Verified {
		if proof.Signature == nil || proof.Signature.Keyring != resource.KeyringHub || proof.Signature.Key == "" || proof.Size == 0 {
			t.Errorf("%s: %+v", digest, proof)
		}
	}
	cfg, ok := get[*resource.BootConfiguration](s, "c-n1")
	if !ok || cfg.Spec.Image.Source != resource.ImageFromHub || cfg.Spec.Image.BootImage != "live-42-1" {
		t.Fatalf("%+v", cfg)
	}
	agent := s.asAgent(c)
	packed := digestOf(string(v.files["initramfs.gz"]))
	if body, err := agent.ISOs.Read(t.Context(), packed, 0, 10); protocol.CodeOf(err) != protocol.CodeDenied {
		t.Errorf("what no server boots: %v, %v", body, err)
	}
	if n := v.times("kernel"); n != 1 {
		t.Errorf("the kernel was fetched %d times", n)
	}
	if claim, ok := get[*resource.Claim](s, "c-n1"); !ok || has(claim.Status.Conditions, resource.CondReprovisionRequired) {
		t.Errorf("%+v", claim.Status)
	}
	if _, err := s.client.Objects.Delete(t.Context(), resource.KindBootImage, "live-42-1"); protocol.CodeOf(err) != protocol.CodeConflict {
		t.Errorf("deleted while it is booted: %v", err)
	}
	// After a restart of the hub it is there, and nothing is fetched again.
	s.stopHub()
	s.startHub()
	s.until("the verified files", func() bool {
		b, ok := get[*resource.BootImage](s, "live-42-1")
		return ok && len(b.Status.Conditions) == 0
	}, func() any { return v.times("kernel") })
	if v.times("kernel") != 1 || v.times("initramfs.gz") != 1 {
		t.Error("fetched again")
	}
}

// TestBootImageThatIsNotIt: a file with another sum, a signature of another key and a file
// that was cut off at its server are never booted. What the vendor repairs is booted then,
// without a word of anybody.
func TestBootImageThatIsNotIt(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name  string
		spoil func(*testing.T, *vendor, *resource.BootImage)
		says  string
	}{
		{"another kernel", func(t *testing.T, v *vendor, _ *resource.BootImage) {
			v.publish(t, "kernel", sim.UKI([]byte("kernel of somebody else")))
		}, "is not what the entry says"},
		{"another key", func(t *testing.T, v *vendor, _ *resource.BootImage) {
			v.files["kernel.sig"] = newVendor(t).files["kernel.sig"]
		}, "none of the 1 that are known"},
		{"cut off", func(_ *testing.T, v *vendor, _ *resource.BootImage) { v.files["kernel"] = v.files["kernel"][:1000] }, "is not what the entry says"},
		{"an initramfs in the kernel's place", func(_ *testing.T, v *vendor, b *resource.BootImage) {
			files := b.Spec.Architectures["amd64"].Files
			files[0].URL, files[0].SHA256, files[0].Signature = files[1].URL, files[1].SHA256, files[1].Signature
		}, "is no kernel"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s, v := newSite(t, 1), newVendor(t)
			c := s.follows(v)
			entry := v.image()
			good := v.files["kernel"]
			row.spoil(t, v, entry)
			s.startHub()
			s.apply(append(s.manifests(), entry)...)
			s.join(c)
			s.startAgent(c)
			s.apply(s.liveClaim())
			var claim *resource.Claim
			s.until("the condition", func() bool {
				var ok bool
				claim, ok = get[*resource.Claim](s, "c-n1")
				if !ok {
					return false
				}
				for _, cond := range claim.Status.Conditions {
					if cond.Code == resource.CondImageUnverified && strings.Contains(cond.Message, row.says) {
						return true
					}
				}
				return false
			}, func() any { return claim })
			s.until("the entry's condition", func() bool {
				b, ok := get[*resource.BootImage](s, "live-42-1")
				return ok && has(b.Status.Conditions, resource.CondImageUnverified)
			}, func() any { return "none" })
			s.until("the event", func() bool { return s.events(resource.EventBootImage) > 0 }, func() any { return "none" })
			if _, ok := get[*resource.BootConfiguration](s, "c-n1"); ok {
				t.Error("there is a configuration")
			}
			if network, disk, refused, installs := s.servers[0].Boots.Counts(); network+disk+refused+installs != 0 {
				t.Error("the server was booted")
			}
			if row.name != "cut off" {
				return
			}
			v.publish(t, "kernel", good)
			s.untilServer("n1", "the disk boot of what was repaired", diskBoot)
		})
	}
}

// TestHubKilledInTheCatalogue kills the hub wherever it is between two steps of an entry's
// files. The server boots the entry once.
func TestHubKilledInTheCatalogue(t *testing.T) {
	flow := statetest.NewChild(t, hubMain)
	t.Parallel()
	var all []string
	for _, file := range []string{"images/files.go", "catalogue/fetch/fetch.go", "catalogue/fetch/download.go"} {
		raw, err := os.ReadFile("../../hub/" + file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`[cC]rash\.At\("(hub\.[^"]+)"`).FindAllStringSubmatch(string(raw), -1) {
			all = append(all, m[1])
		}
	}
	if len(all) != 4 {
		t.Fatalf("%v", all)
	}
	for _, point := range all {
		t.Run(point, func(t *testing.T) {
			t.Parallel()
			s, v := newSite(t, 1), newVendor(t)
			c := s.follows(v)
			k := &killed{site: s, flow: flow}
			k.begins(point, 1, s.manifests(), c)
			k.try("the entry", func() error {
				_, err := k.client.Objects.Apply(t.Context(), []resource.Object{v.image()}, false)
				return err
			})
			k.try("the claim", func() error {
				_, err := k.client.Objects.Apply(t.Context(), []resource.Object{s.liveClaim()}, false)
				return err
			})
			k.see("the disk boot after the installation", func() bool {
				v, ok := get[*resource.Server](s, "n1")
				return ok && v.Status.Report != nil && diskBoot(v)
			})
			if n, _, _, installs := s.servers[0].Boots.Counts(); n != 1 || installs != 1 || s.servers[0].Disk.Digest() != digestOf(string(liveInitramfs())) {
				t.Errorf("%d network boots and %d installations, want one; on the disk is %s", n, installs, s.servers[0].Disk.Digest())
			}
			if !k.died {
				t.Errorf("the hub never came to %s; it passed %v", point, k.hub.Passed())
			}
		})
	}
}
