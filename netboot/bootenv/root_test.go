package bootenv

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"rackboot/internal/doctable"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

const machineRoot = "machines/4c4c4544-0042-4810-8035-b4c04f4e4d31"

func words[T ~string](vs ...T) []string {
	var out []string
	for _, v := range vs {
		out = append(out, string(v))
	}
	return out
}

func TestRootTable(t *testing.T) {
	doctable.Of(t, "root.go", "rootRule").HoldOne(t,
		[][]string{words(localNone, localThere, localOther, localGone), words(localNone, localThere, localGone), words(yes, no), words(yes, no)},
		func(in []string) string { return rootRule(local(in[0]), local(in[1]), yesno(in[2]), yesno(in[3])) })
}

// Seed, Changing a BootEnv for a Machine.
func TestRoot(t *testing.T) {
	const boot, install = machineRoot + "/boot", machineRoot + "/install"
	image := resource.Image{Reference: "r/os:1", Digest: "sha256:bb", Architecture: "amd64"}
	arch := func(b *resource.EnvBundle, a resource.EnvArch) { b.Spec.OS.SupportedArchitectures["amd64"] = a }
	for _, row := range []struct {
		name   string
		change func(*resource.EnvBundle)
		want   Root
		err    string
	}{
		{"an artifact at mounts/isos/IsoFile comes before a repository", upload, Root{Source: resource.EnvFromISO, At: boot, ISO: resource.EnvISO{File: "debian-12.iso", Digest: "sha256:aa"}}, ""},
		{"otherwise a repository, from its boot location", func(*resource.EnvBundle) {}, Root{Source: resource.EnvFromProxy, At: boot, Repository: "profile global: package-repositories[0]", Proxies: []Proxy{{boot, "http://m/boot/amd64/"}, {install, "http://m/debian/"}}}, ""},
		{"from its url if bootloc is not set", func(b *resource.EnvBundle) { b.Machine.Architecture = "arm64" }, Root{Source: resource.EnvFromProxy, At: boot, Repository: "profile global: package-repositories[1]", Proxies: []Proxy{{boot, "http://m/debian/"}}}, ""},
		{"if neither can happen, refuse", func(b *resource.EnvBundle) { delete(b.Params[4].Values, "package-repositories") }, Root{}, "neither the file nor an install repository is there"},
		{"a repository of another system is none", func(b *resource.EnvBundle) { b.Spec.OS.Name = "debian-13" }, Root{}, "neither the file nor an install repository is there"},
		{"a file of another content is refused", func(b *resource.EnvBundle) {
			upload(b)
			arch(b, resource.EnvArch{IsoFile: "debian-12.iso", Sha256: strings.Repeat("0", 64), Kernel: "k"})
		}, Root{}, "another file of that name was uploaded"},
		{"a file of the right content", func(b *resource.EnvBundle) {
			b.ISOs = []resource.EnvISO{{File: "debian-12.iso", Digest: "sha256:" + strings.Repeat("a", 64)}}
			arch(b, resource.EnvArch{IsoFile: "debian-12.iso", Sha256: strings.Repeat("A", 64), Kernel: "k"})
		}, Root{Source: resource.EnvFromISO, At: boot, ISO: resource.EnvISO{File: "debian-12.iso", Digest: "sha256:" + strings.Repeat("a", 64)}}, ""},
		{"a tar that was packed again has the checksum of what was uploaded", func(b *resource.EnvBundle) {
			b.ISOs = []resource.EnvISO{{File: "a.tar.gz", Digest: "sha256:" + strings.Repeat("a", 64), Uploaded: "sha256:" + strings.Repeat("b", 64)}}
			arch(b, resource.EnvArch{IsoFile: "a.tar.gz", Sha256: strings.Repeat("b", 64), Kernel: "k"})
		}, Root{Source: resource.EnvFromISO, At: boot, ISO: resource.EnvISO{File: "a.tar.gz", Digest: "sha256:" + strings.Repeat("a", 64), Uploaded: "sha256:" + strings.Repeat("b", 64)}}, ""},
		{"and not that of what is served", func(b *resource.EnvBundle) {
			b.ISOs = []resource.EnvISO{{File: "a.tar.gz", Digest: "sha256:" + strings.Repeat("a", 64), Uploaded: "sha256:" + strings.Repeat("b", 64)}}
			arch(b, resource.EnvArch{IsoFile: "a.tar.gz", Sha256: strings.Repeat("a", 64), Kernel: "k"})
		}, Root{}, "another file of that name was uploaded"},
		{"an image", func(b *resource.EnvBundle) {
			arch(b, resource.EnvArch{Image: "r/os:1"})
			b.Images = []resource.Image{{Reference: "r/os:1", Architecture: "arm64"}, image}
		}, Root{Source: resource.EnvFromImage, At: boot, Image: image}, ""},
		{"an image that was not resolved", func(b *resource.EnvBundle) {
			arch(b, resource.EnvArch{Image: "r/os:1"})
			delete(b.Params[4].Values, "package-repositories")
		}, Root{}, "neither the image nor an install repository is there"},
		{"a kernel of nowhere", func(b *resource.EnvBundle) {
			arch(b, resource.EnvArch{Kernel: "k"})
			b.Spec.OS.Name = "none-1"
		}, Root{}, "it names no file, and no install repository is there"},
		{"rendered files alone", func(b *resource.EnvBundle) {
			b.Spec.OS = resource.EnvOS{}
		}, Root{Source: resource.EnvFromNone, At: boot}, ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			b := remote(t, "x")
			row.change(&b)
			got, err := merged(t, b).Root()
			if row.err != "" {
				if protocol.CodeOf(err) != protocol.CodeUnavailable || !strings.Contains(err.Error(), row.err) || protocol.HintOf(err) == "" {
					t.Errorf("%v, want %s", err, row.err)
				}
				return
			}
			if d := cmp.Diff(row.want, got, cmpopts.IgnoreUnexported(Root{})); d != "" || err != nil {
				t.Errorf("%v %s", err, d)
			}
		})
	}
}
