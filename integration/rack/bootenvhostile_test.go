package rack

import (
	"archive/zip"
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	bmcsim "rackboot/bmc/sim"
	"rackboot/integration/sim"
	"rackboot/netboot/iso/isotest"
	"rackboot/netboot/mirror"
	"rackboot/protocol/resource"
)

// hostileBytes is how much the agent may allocate, in all, over one refusal: of what a
// template or an archive would make it is a part.
const hostileBytes = 256 << 20

// zipBomb has 256 MiB of zeros in some 256 KiB, and the files of a medium.
func zipBomb(t *testing.T) []byte {
	t.Helper()
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	zeros := make([]byte, 1<<20)
	for name, times := range map[string]int{"install.amd/vmlinuz": 256, "install.amd/initrd.gz": 1} {
		f, err := w.Create(name)
		for range times {
			if err == nil {
				_, err = f.Write(zeros)
			}
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// TestBootEnvHostile: whatever an environment and its files are, an agent that cannot make
// it says why and what to do, in bounded memory, and what was in force stays (P8).
func TestBootEnvHostile(t *testing.T) { // not beside others: it counts what is allocated
	b := newBench(t, 1, bmcsim.Plain())
	b.loaders = loaderFolder(t, true)
	b.files = t.TempDir()
	for from, to := range map[string]string{"loop": "back", "back": "loop"} {
		if err := os.Symlink(to, filepath.Join(b.files, from)); err != nil {
			t.Fatal(err)
		}
	}
	free, err := sim.FreeAddresses(b.ip, 1)
	if err != nil {
		t.Fatal(err)
	}
	nobody := "http://" + free[0].String() + "/debian/"
	if b.mirror, err = mirror.New(mirror.Config{Dir: t.TempDir(), Bases: []mirror.Base{{URL: nobody}}}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.mirror.Close(); err != nil {
			t.Error(err)
		}
	})
	image := isotest.Tree{RockRidge: true, Entries: []isotest.Entry{
		{Path: "install.amd/vmlinuz", Content: bytes.Repeat([]byte("kernel "), 100_000)},
		{Path: "install.amd/initrd.gz", Content: bytes.Repeat([]byte("initramfs "), 100_000)},
	}}.Bytes()
	whole := b.uploadRaw("debian-12.iso", image)
	good := b.debian(0, whole)
	arch := func(e *resource.EnvBundle, change func(*resource.EnvArch)) {
		one := e.Spec.OS.SupportedArchitectures["amd64"]
		change(&one)
		e.Spec.OS.SupportedArchitectures = map[string]resource.EnvArch{"amd64": one}
	}
	template := func(e *resource.EnvBundle, text string) {
		e.Spec.Templates = []resource.EnvTemplate{{Name: "seed", Path: "{{.Machine.Path}}/seed", Contents: text}}
	}
	rows := []struct {
		name   string
		change func(e *resource.EnvBundle)
		says   []string // what it is, and what to do about it
	}{
		{"ISO cut in the middle", func(e *resource.EnvBundle) { *e = b.debian(0, b.uploadRaw("cut.iso", image[:len(image)/2])) }, []string{"cut.iso", "; "}},
		{"ISO of its first block", func(e *resource.EnvBundle) {
			*e = b.debian(0, b.uploadRaw("stub.iso", image[:17*isotest.Sector]))
		}, []string{"stub.iso", "; "}},
		{"zip bomb", func(e *resource.EnvBundle) { *e = b.debian(0, b.uploadRaw("bomb.zip", zipBomb(t))) }, []string{"bomb.zip", "; "}},
		{"1 GB of a template", func(e *resource.EnvBundle) {
			template(e, `{{range until 1000}}{{range until 1000}}{{repeat 1000 "x"}}{{end}}{{end}}`)
		}, []string{"templates[0]", "4 MiB", "; "}},
		{"1 GB by one call", func(e *resource.EnvBundle) { template(e, `{{repeat 1000000000 "x"}}`) }, []string{"templates[0]", "repeat", "; "}},
		{"template loop", func(e *resource.EnvBundle) {
			e.Templates = map[string]string{"a": `{{template "b" .}}`, "b": `{{template "a" .}}`}
			template(e, `{{template "a" .}}`)
		}, []string{"call each other", "; "}},
		{"kernel above its root", func(e *resource.EnvBundle) {
			arch(e, func(a *resource.EnvArch) { a.Kernel = "../../../../etc/passwd" })
		}, []string{"../../../../etc/passwd", "; "}},
		{"template above its root", func(e *resource.EnvBundle) {
			e.Spec.Templates = []resource.EnvTemplate{{Name: "seed", Path: "../../seed", Contents: "x"}}
		}, []string{"../../seed", "; "}},
		{"repository that nobody serves", func(e *resource.EnvBundle) {
			e.ISOs = nil
			arch(e, func(a *resource.EnvArch) { a.IsoFile = "" })
			e.Params = append(e.Params, resource.EnvParams{Source: resource.SourceProfile + resource.GlobalProfile, Values: map[string]any{
				resource.ParamPackageRepositories: []any{map[string]any{
					"tag": "debian-12", "os": []any{"debian-12"}, "arch": "amd64", "url": nobody, "installSource": true,
					"distribution": "bookworm", "components": []any{"main"}, "bootloc": nobody + "installer/",
				}},
			}})
		}, []string{nobody, "; "}},
		{"links of the site in a circle", func(e *resource.EnvBundle) {
			e.Params = append(e.Params, resource.EnvParams{Source: resource.SourceProfile + resource.GlobalProfile, Values: map[string]any{
				resource.ParamBootloaders: map[string]any{"amd64-uefi-http": "loop/shimx64.efi"},
			}})
		}, []string{"loop/shimx64.efi", "circles", "; "}},
	}
	// What a row uploads is there before the agent is started, which asks for it later.
	bundles := make([]resource.EnvBundle, len(rows))
	for i, row := range rows {
		bundles[i] = b.debian(0, whole)
		row.change(&bundles[i])
	}
	b.claimEnv(0, good)
	b.intents[0].Power = resource.WantOff // nothing is booted
	a, _ := b.start(nil)
	b.send(a)
	first := *b.until("the environment in force", 0, inForce).Env
	for i, row := range rows {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		b.claimEnv(0, bundles[i])
		b.send(a)
		env := b.until("the refusal of "+row.name, 0, func(r resource.ServerReport) bool {
			return refusedEnv(r) && r.Env.Wanted == b.intents[0].Boot.Env.Bundle
		}).Env
		runtime.ReadMemStats(&after)
		t.Logf("%s: %s (%d MiB allocated)", row.name, env.Message, (after.TotalAlloc-before.TotalAlloc)>>20)
		for _, want := range row.says {
			if !strings.Contains(env.Message, want) {
				t.Errorf("%s: no %q in %q", row.name, want, env.Message)
			}
		}
		if env.BootEnv != first.BootEnv || env.Generation != first.Generation {
			t.Errorf("%s: in force is %+v, was %+v", row.name, env, first)
		}
		if n := after.TotalAlloc - before.TotalAlloc; n > hostileBytes {
			t.Errorf("%s: %d bytes were allocated", row.name, n)
		}
	}
	b.claimEnv(0, good)
	b.send(a)
	if env := b.until("the good one again", 0, inForce).Env; env.Generation != first.Generation {
		t.Errorf("in force is %s, was %s", env.Generation, first.Generation)
	}
}
