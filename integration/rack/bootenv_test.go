package rack

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"maps"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	bmcsim "rackboot/bmc/sim"
	"rackboot/netboot/iso/isotest"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

func inForce(r resource.ServerReport) bool { return r.Env != nil && r.Env.State == resource.EnvReady }

func refusedEnv(r resource.ServerReport) bool {
	return r.Env != nil && r.Env.State == resource.EnvRefused
}

// TestBootEnv: seed 004, Changing a BootEnv for a Machine. A server installs from an
// uploaded file that nobody unpacked, with what is rendered for it, through the site's
// loaders; the medium's own menu is never given.
func TestBootEnv(t *testing.T) {
	t.Parallel()
	b, finish := benchThatInstalls(t, 1)
	b.loaders = loaderFolder(t, true)
	b.files = t.TempDir()
	if err := os.WriteFile(filepath.Join(b.files, "site.txt"), []byte("of the site"), 0o600); err != nil {
		t.Fatal(err)
	}
	files := installFiles()
	bundle := b.debian(0, b.upload("debian-12.zip", files))
	b.claimEnv(0, bundle)
	a, _ := b.start(nil)
	b.send(a)
	b.until("the first boot", 0, func(r resource.ServerReport) bool {
		return r.Attempt != nil && r.Attempt.State == resource.AttemptFetched
	})
	machine := "machines/" + b.intents[0].UID
	from := b.installer(0)
	for name, want := range map[string]string{
		machine + "/seed":                               "d-i mirror deb.example\nreport http://" + b.http.String() + "/b/",
		machine + "/boot/dists/stable/Release":          files["dists/stable/Release"],
		"mounts/isos/debian-12.zip/INSTALL.AMD/VMLINUZ": files["install.amd/vmlinuz"],
		"mounts/isos/debian-12.zip/boot/grub/grub.cfg":  files["boot/grub/grub.cfg"],
		"site.txt":                           "of the site",
		machine + "/boot/boot/grub/grub.cfg": "# This is the configuration of one boot.\nif linux ",
	} {
		status, header, got := b.get(http.MethodGet, "http://"+b.http.String()+"/"+name, from)
		if status != http.StatusOK || !strings.HasPrefix(got, want) || header.Get("ETag") == "" {
			t.Errorf("%s: %d %q", name, status, got[:min(len(got), 200)])
		}
		if status, _, _ := b.get(http.MethodGet, "http://"+b.http.String()+"/"+name, netip.MustParseAddr("127.0.0.1")); status != http.StatusNotFound {
			t.Errorf("%s is given to a stranger: %d", name, status)
		}
	}
	for _, name := range []string{machine, machine + "/boot", machine + "/boot/no/such", "machines/other/seed", "mounts/isos/other.iso/x"} {
		if status, _, got := b.get(http.MethodGet, "http://"+b.http.String()+"/"+name, from); status != http.StatusNotFound {
			t.Errorf("%s: %d %q", name, status, got)
		}
	}
	finish()
	r := b.until("the disk boot after the installation", 0, diskBoot)
	if want := fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(files["install.amd/initrd.gz"]))); b.servers[0].Disk.Digest() != want || len(r.Provisioned) == 0 {
		t.Errorf("installed %s, not the medium's initrd %s", b.servers[0].Disk.Digest(), want)
	}
	e := r.Env
	if e == nil || e.State != resource.EnvReady || e.BootEnv != "debian-12-install" || e.OS != "debian-12" || e.Source != resource.EnvFromISO || e.Generation == "" {
		t.Errorf("reported %+v", e)
	}
	if status, _, _ := b.get(http.MethodGet, "http://"+b.http.String()+"/"+machine+"/seed", from); status != http.StatusNotFound {
		t.Errorf("the seed is given after the boot: %d", status)
	}
}

// TestBootEnvRefused: what cannot be made is refused with the reason, and the server is not
// touched; what was in force before stays, also over a restart of the agent.
func TestBootEnvRefused(t *testing.T) {
	t.Parallel()
	b := newBench(t, 1, bmcsim.Plain())
	b.loaders = loaderFolder(t, true)
	good := b.debian(0, b.upload("debian-12.zip", installFiles()))
	wrong := good
	wrong.Params = nil
	b.claimEnv(0, wrong)
	b.intents[0].Power = resource.WantOff // nothing is booted meanwhile
	a, stop := b.start(nil)
	b.send(a)
	r := b.until("the refusal", 0, refusedEnv)
	if !strings.Contains(r.Env.Message, "mirror") || r.Env.BootEnv != "" || r.Env.OS != "" {
		t.Errorf("refused with %+v", r.Env)
	}
	b.claimEnv(0, good)
	b.send(a)
	first := *b.until("the environment in force", 0, inForce).Env

	gone := good
	gone.Spec.OS.SupportedArchitectures = map[string]resource.EnvArch{"amd64": {IsoFile: "debian-12.zip", Kernel: "install.amd/bzImage"}}
	// An image whose last file goes on beyond its end, as a download that was cut off: its folders say that all is there.
	medium := isotest.Tree{RockRidge: true, Entries: []isotest.Entry{{Path: "install.amd/vmlinuz", Content: []byte("kernel")}, {Path: "install.amd/initrd.gz", Content: make([]byte, 1<<16)}}}.Bytes()
	short := medium[:len(medium)-1<<14]
	claimsLess := bytes.Clone(short) // as do images of tools that do not write the size of the volume
	clear(claimsLess[16*isotest.Sector+80:][:8])
	arm := installFiles()
	arm["install.amd/vmlinuz"] = foreignKernel(0xaa64)
	linked := good
	linked.Spec.Templates = append(slices.Clone(good.Spec.Templates), resource.EnvTemplate{Name: "link", Path: "{{.Machine.Path}}/firmware", Link: "mounts/isos/debian-12.zip/none"})
	named := func(iso resource.EnvISO) resource.EnvBundle {
		b := good
		b.ISOs = []resource.EnvISO{iso}
		b.Spec.OS.SupportedArchitectures = maps.Clone(good.Spec.OS.SupportedArchitectures)
		a := b.Spec.OS.SupportedArchitectures["amd64"]
		a.IsoFile = iso.File
		b.Spec.OS.SupportedArchitectures["amd64"] = a
		return b
	}
	for name, bad := range map[string]resource.EnvBundle{
		"a value that is not there": wrong, "a kernel that is not there": gone, "a link to what is not there": linked,
		"a truncated image": named(b.uploadRaw("short.iso", short)), "a truncated image that does not say its size": named(b.uploadRaw("less.iso", claimsLess)),
		"a kernel for arm64": named(b.upload("arm.zip", arm)),
	} {
		b.claimEnv(0, bad)
		b.send(a)
		r = b.until("the refusal of "+name, 0, func(r resource.ServerReport) bool {
			return refusedEnv(r) && r.Env.Wanted == b.intents[0].Boot.Env.Bundle
		})
		if want := map[bool]protocol.Code{true: protocol.CodeNotFound, false: protocol.CodeInvalid}[strings.HasSuffix(name, "kernel that is not there") || strings.HasPrefix(name, "a link")]; r.Env.Code != want {
			t.Errorf("%s: the code is %q, want %s", name, r.Env.Code, want)
		}
		if r.Env.BootEnv != first.BootEnv || r.Env.OS != first.OS || r.Env.Generation != first.Generation {
			t.Errorf("%s: in force is %+v", name, r.Env)
		}
	}
	stop()
	b.data.away(true) // what was in force is made again from disk
	a, _ = b.start(nil)
	b.send(a)
	r = b.until("what was in force", 0, func(r resource.ServerReport) bool { return refusedEnv(r) && r.Env.Generation != "" })
	if r.Env.Generation != first.Generation {
		t.Errorf("after a restart %s is in force, before it %s", r.Env.Generation, first.Generation)
	}
}

// foreignKernel begins as a kernel with an EFI stub does, of a machine type.
func foreignKernel(machine uint16) string {
	b := make([]byte, 0x200)
	copy(b, "MZ")
	b[0x3c] = 0x40
	copy(b[0x40:], "PE\x00\x00")
	binary.LittleEndian.PutUint16(b[0x44:], machine)
	return string(b)
}

// TestBootEnvUnderBoot: P8. The files that a machine boots from do not change under it; the
// change is in force when the boot has ended.
func TestBootEnvUnderBoot(t *testing.T) {
	t.Parallel()
	b, finish := benchThatInstalls(t, 1)
	b.loaders = loaderFolder(t, true)
	bundle := b.debian(0, b.upload("debian-12.zip", installFiles()))
	b.claimEnv(0, bundle)
	a, _ := b.start(nil)
	b.send(a)
	r := b.until("the first boot", 0, func(r resource.ServerReport) bool {
		return r.Attempt != nil && r.Attempt.State == resource.AttemptFetched
	})
	first := r.Env.Generation
	bundle.Params = []resource.EnvParams{{Source: resource.SourceServer, Values: map[string]any{"mirror": "other.example"}}}
	b.claimEnv(0, bundle)
	b.send(a)
	b.until("the change that waits", 0, func(r resource.ServerReport) bool {
		return r.Env != nil && r.Env.State == resource.EnvBuilding && strings.Contains(r.Env.Message, "boots from the files")
	})
	from := b.installer(0)
	if _, _, got := b.get(http.MethodGet, "http://"+b.http.String()+"/machines/"+b.intents[0].UID+"/seed", from); !strings.Contains(got, "deb.example") {
		t.Errorf("under the boot the seed is %q", got)
	}
	finish()
	r = b.until("the change in force", 0, func(r resource.ServerReport) bool {
		return diskBoot(r) && inForce(r) && r.Env.Wanted == b.intents[0].Boot.Env.Bundle
	})
	if r.Env.Generation == first {
		t.Error("the generation is the same")
	}
}

// installer is the address of the installer of server i, once it has one.
func (b *bench) installer(i int) (leased netip.Addr) {
	b.t.Helper()
	b.eventually("the installer's lease", func() bool {
		_, leased = b.servers[i].Boots.Installing()
		return leased.IsValid()
	})
	return leased
}
