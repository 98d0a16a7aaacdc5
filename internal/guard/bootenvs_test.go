package guard

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"

	"rackboot/netboot/bootenv"
	"rackboot/netboot/ignition"
	"rackboot/protocol/resource"
)

var update = flag.Bool("update", false, "write the golden files")

// shipped is one file of configs/bootenvs.
type shipped struct {
	env       resource.BootEnv
	templates map[string]string
	schemas   map[string]resource.ParamSpec
	profiles  []resource.Profile
}

// readShipped reads a file, which checkManifest judges besides.
func readShipped(t *testing.T, p string) (s shipped) {
	t.Helper()
	s.templates, s.schemas = map[string]string{}, map[string]resource.ParamSpec{}
	for _, doc := range yamlFile[map[string]any](t, p) {
		raw, err := json.Marshal(doc)
		if err != nil {
			t.Fatal(err)
		}
		kind, _ := resource.ParseKind(fmt.Sprint(doc["kind"]))
		obj := resource.NewObject(kind)
		if obj == nil {
			t.Fatalf("a document of kind %v", doc["kind"])
		}
		if err := json.Unmarshal(raw, obj); err != nil {
			t.Fatal(err)
		}
		switch o := obj.(type) {
		case *resource.BootEnv:
			s.env = *o
		case *resource.Template:
			s.templates[o.Metadata.Name] = o.Spec.Contents
		case *resource.Param:
			s.schemas[o.Spec.Name] = o.Spec
		case *resource.Profile:
			s.profiles = append(s.profiles, *o)
		default:
			t.Errorf("%s: a %s is not of an environment", p, kind)
		}
	}
	if want := strings.TrimSuffix(filepath.Base(p), ".yaml"); s.env.Metadata.Name != want {
		t.Errorf("%s describes the environment %q", p, s.env.Metadata.Name)
	}
	return s
}

// bundle is what a hub makes of the file for one server. Of the sources iso, image and
// proxy the server has one.
func (s shipped) bundle(arch, source string) resource.EnvBundle {
	b := resource.EnvBundle{
		BootEnv: s.env.Metadata.Name, UID: "01J000000000000000000000ZZ", Spec: s.env.Spec, Templates: s.templates, Schemas: s.schemas,
		Machine: resource.EnvMachine{
			Name: "node1.example", UID: "01J00000000000000000000001", UUID: "4c4c4544-0042-4810-8035-b4c04f4e4d31",
			BootMAC: "52:54:00:12:34:56", MACs: []string{"52:54:00:12:34:56"}, Architecture: arch, Rack: "rack-a", Segment: "boot",
		},
		Purpose: resource.PurposeClaim, Owner: "claim/node-1", KernelArgs: "quiet",
		Params: []resource.EnvParams{
			{Source: resource.SourceServer, Values: map[string]any{}, Secret: []string{"install/password-crypted", "talos/machine-config"}},
		},
	}
	for name, v := range map[string]any{
		"install/authorized-keys": []any{"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIFfI ops@example", "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIDd1 dev@example"},
		"install/disk":            "/dev/sda", "install/password-crypted": "$6$salt$4hLk/x0.", "kernel/console": "console=ttyS0,115200n8",
		"coreos/install-disk": "/dev/sda", "talos/machine-config": "version: v1alpha1\nmachine: {type: worker}\n",
	} {
		if _, ok := s.schemas[name]; ok {
			b.Params[0].Values[name] = v
		}
	}
	switch {
	case s.env.Spec.OnlyUnknown:
		b.Purpose, b.Owner = resource.PurposeDiscovery, ""
	case s.env.Spec.Destructive, !strings.HasSuffix(b.BootEnv, "-install"):
		b.Purpose, b.Owner = resource.PurposeMaintenance, "maintenance/m-1"
	}
	a := s.env.Spec.OS.SupportedArchitectures[arch]
	b.Ignition = strings.Contains(a.BootParams, "gnition") || strings.Contains(a.BootParams, "flatcar")
	switch source {
	case "iso":
		b.ISOs = []resource.EnvISO{{File: a.IsoFile, Digest: "sha256:" + strings.Repeat("a", 64), Size: 1 << 30}}
		if _, ok := s.schemas["debian/mirror"]; ok {
			b.Params[0].Values["debian/mirror"] = "http://mirror.example/debian"
		}
	case "image":
		i := resource.Image{Reference: a.Image, Architecture: arch, Digest: "sha256:" + strings.Repeat("b", 64), CommandLine: "root=/dev/ram0"}
		kinds := []resource.ArtefactKind{resource.ArtefactKernel, resource.ArtefactInitramfs}
		if strings.Contains(b.BootEnv, "uki") {
			kinds = []resource.ArtefactKind{resource.ArtefactUKI}
			b.KernelArgs = ""
		}
		for _, k := range kinds {
			i.Artefacts = append(i.Artefacts, resource.Artefact{Kind: k, Digest: i.Digest, Size: 1})
		}
		b.Images = []resource.Image{i}
	case "proxy":
		for _, p := range s.profiles {
			b.Params = append(b.Params, resource.EnvParams{Source: resource.SourceProfile + p.Metadata.Name, Values: p.Spec.Params})
		}
	}
	return b
}

// variants are the ways to boot an environment: architecture and source of its files.
func (s shipped) variants() (out [][2]string) {
	all := s.env.Spec.OS.SupportedArchitectures
	for _, arch := range slices.Sorted(maps.Keys(all)) {
		switch a := all[arch]; {
		case a.Image != "":
			out = append(out, [2]string{arch, "image"})
		case a.IsoFile != "":
			out = append(out, [2]string{arch, "iso"})
		}
		if len(s.profiles) > 0 {
			out = append(out, [2]string{arch, "proxy"})
		}
	}
	return out
}

// TestShippedEnvironments: every environment of configs/bootenvs is linted and rendered for
// each architecture and source of its files, as one that is there. What comes out, and how
// each kind of machine boots it, is in a golden file.
func TestShippedEnvironments(t *testing.T) {
	paths, err := filepath.Glob("configs/bootenvs/*.yaml")
	if err != nil || len(paths) < 10 {
		t.Fatalf("%d environments, %v", len(paths), err)
	}
	params := map[string]resource.ParamSpec{}
	for _, p := range paths {
		s := readShipped(t, p)
		for name, spec := range s.schemas {
			if other, ok := params[name]; ok && !reflect.DeepEqual(other, spec) {
				t.Errorf("%s describes param %s in other words than another file: whoever applies both has the last", p, name)
			}
			params[name] = spec
		}
		for _, f := range bootenv.Lint(resource.EnvBundle{BootEnv: s.env.Metadata.Name, Spec: s.env.Spec, Templates: s.templates, Schemas: s.schemas}, nil) {
			t.Errorf("%s: %s", p, f)
		}
		if len(s.variants()) == 0 {
			t.Errorf("%s: nothing is booted", p)
		}
		t.Run(s.env.Metadata.Name, func(t *testing.T) {
			var got bytes.Buffer
			for _, v := range s.variants() {
				tree(t, &got, s, v[0], v[1])
			}
			golden := "configs/bootenvs/testdata/" + s.env.Metadata.Name + ".txt"
			if *update {
				if err := os.WriteFile(golden, got.Bytes(), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if d := cmp.Diff(string(want), got.String()); err != nil || d != "" {
				t.Errorf("%v\n%s", err, d)
			}
		})
	}
}

// tree writes what one server would get.
func tree(t *testing.T, w *bytes.Buffer, s shipped, arch, source string) {
	t.Helper()
	b := s.bundle(arch, source)
	for _, f := range bootenv.Lint(b, nil) {
		t.Errorf("%s, %s: %s", arch, source, f)
	}
	e, err := bootenv.Merge(b)
	if err != nil {
		t.Fatal(err)
	}
	root, err := e.Root()
	if err != nil {
		t.Fatal(err)
	}
	if string(root.Source) != source {
		t.Errorf("%s: files come from %s, want %s", arch, root.Source, source)
	}
	fmt.Fprintf(w, "==== %s, %s: %s", arch, source, root.At)
	for _, p := range root.Proxies {
		fmt.Fprintf(w, "\nproxy %s = %s", p.At, p.URL)
	}
	w.WriteString("\n")
	ways := map[string][]string{} // kinds of machines by how they boot
	for _, key := range resource.LoaderKeys() {
		if strings.HasPrefix(string(key), arch+"-") {
			way := bootOf(t, e, key)
			ways[way] = append(ways[way], string(key))
		}
	}
	for _, way := range slices.SortedFunc(maps.Keys(ways), func(a, b string) int { return strings.Compare(ways[a][0], ways[b][0]) }) {
		fmt.Fprintf(w, "boot %s from %s", strings.Join(ways[way], ", "), way)
	}
	made, err := e.Render(t.Context(), bootenv.Sample())
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range made.Paths() {
		if to, ok := made.Links[p]; ok {
			fmt.Fprintf(w, "---- %s -> %s\n", p, to)
			continue
		}
		text := string(made.Files[p].Content)
		fmt.Fprintf(w, "---- %s\n%s", p, text)
		if !strings.HasSuffix(text, "\n") {
			w.WriteString("\n")
		}
		checkRendered(t, p, made.Files[p].Content)
	}
}

// bootOf is how a kind of machine boots an environment.
func bootOf(t *testing.T, e *bootenv.Effective, key resource.LoaderKey) string {
	t.Helper()
	boot, err := e.Boot(t.Context(), key, bootenv.Sample())
	if err != nil {
		t.Errorf("%s: %v", key, err)
	}
	way := string(boot.LoaderFrom) + "\n"
	for what, p := range boot.Files() {
		way += "  " + what + " " + p + "\n"
	}
	if boot.CommandLine != "" {
		way += "  " + boot.CommandLine + "\n"
	}
	return way
}

// checkRendered judges a rendered file as its reader would, as far as that can be done
// without it: shell, YAML, JSON, states of reports, and what was left over of a template.
func checkRendered(t *testing.T, p string, content []byte) {
	t.Helper()
	text := string(content)
	for _, left := range []string{"{{", "<no value>", "%!"} {
		if strings.Contains(text, left) {
			t.Errorf("%s: %q is left over", p, left)
		}
	}
	switch name := filepath.Base(p); name {
	case "preseed.cfg":
		checkShell(t, p, preseedScripts(t, p, text))
		report(t, reportProblems(text))
	case "kickstart.cfg":
		checkShell(t, p, kickstartScripts(t, p, text))
		report(t, reportProblems(text))
	case "user-data", "meta-data", "vendor-data", "machine.yaml":
		var v map[string]any
		if err := yaml.UnmarshalWithOptions(content, &v, yaml.Strict()); err != nil {
			t.Errorf("%s: %v", p, err)
		}
		if name == "user-data" {
			checkAutoinstall(t, p, content)
			report(t, reportProblems(text))
		}
	case "live.ign":
		var d struct{ Systemd struct{ Units []unit } }
		if err := json.Unmarshal(content, &d); err != nil {
			t.Errorf("%s: %v", p, err)
		}
		if _, wrong := ignition.Check(content); len(wrong) > 0 {
			t.Errorf("%s: %v", p, wrong)
		}
		checkShell(t, p, unitScripts(t, d.Systemd.Units))
		report(t, reportProblems(text))
	}
}

// checkShell wants scripts that a shell reads.
func checkShell(t *testing.T, p string, scripts []string) {
	t.Helper()
	for _, script := range scripts {
		cmd := exec.CommandContext(t.Context(), "sh", "-n")
		cmd.Stdin = strings.NewReader(script)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s: %v: %s\n%s", p, err, out, script)
		}
	}
}

// checkAutoinstall wants the fields of Ubuntu's autoinstall reference, with their types, and
// shell in the commands.
func checkAutoinstall(t *testing.T, p string, content []byte) {
	t.Helper()
	var d struct {
		Autoinstall struct {
			Version                             int
			Locale, Timezone, Updates, Shutdown string
			Keyboard                            struct{ Layout string }
			Identity                            struct{ Hostname, Username, Password string }
			SSH                                 struct {
				InstallServer  bool     `yaml:"install-server"`
				AllowPassword  bool     `yaml:"allow-pw"`
				AuthorizedKeys []string `yaml:"authorized-keys"`
			} `yaml:"ssh"`
			Storage struct {
				Layout struct {
					Name  string
					Match map[string]string
				}
			}
			Apt struct {
				Geoip    bool
				Fallback string
			}
			Late  []string `yaml:"late-commands"`
			Error []string `yaml:"error-commands"`
		}
	}
	if !bytes.HasPrefix(content, []byte("#cloud-config\n")) {
		t.Errorf("%s: cloud-init passes it over: the first line is not #cloud-config", p)
	}
	if err := yaml.UnmarshalWithOptions(content, &d, yaml.Strict()); err != nil {
		t.Errorf("%s: %v", p, err)
	}
	if a := d.Autoinstall; a.Version != 1 || a.Identity.Username == "" || a.Identity.Password == "" || len(a.SSH.AuthorizedKeys) == 0 {
		t.Errorf("%s: %+v", p, a)
	}
	checkShell(t, p, append(d.Autoinstall.Late, d.Autoinstall.Error...))
}

// preseedScripts are the commands of a preseed file, whose other lines are owner, question,
// type and value (debconf-set-selections(1)).
func preseedScripts(t *testing.T, p, text string) (scripts []string) {
	t.Helper()
	types := []string{"string", "boolean", "select", "multiselect", "note", "text", "password", "error"}
	for line := range strings.SplitSeq(strings.ReplaceAll(text, "\\\n", ""), "\n") {
		fields := strings.Fields(line)
		if len(fields) == 0 || strings.HasPrefix(line, "#") {
			continue
		}
		if len(fields) < 3 || !slices.Contains(types, fields[2]) {
			t.Errorf("%s: %q is not owner, question, type and value", p, line)
		}
		if _, script, ok := strings.Cut(line, "_command string "); ok {
			scripts = append(scripts, script)
		}
	}
	if len(scripts) == 0 {
		t.Errorf("%s: it reports nothing", p)
	}
	return scripts
}

// kickstartScripts are the scripts of a kickstart file, whose sections end with %end.
func kickstartScripts(t *testing.T, p, text string) (scripts []string) {
	t.Helper()
	section, body := "", ""
	for line := range strings.Lines(text) {
		switch name, isSection := strings.CutPrefix(strings.TrimSpace(line), "%"); {
		case isSection && section == "" && name != "end":
			section, body = strings.Fields(name)[0], ""
		case isSection && section != "" && name == "end":
			if section != "packages" {
				scripts = append(scripts, body)
			}
			section = ""
		case isSection:
			t.Errorf("%s: %%%s within %%%s", p, name, section)
		case section != "":
			body += line
		}
	}
	if section != "" || len(scripts) == 0 {
		t.Errorf("%s: section %q has no end, or it does nothing", p, section)
	}
	return scripts
}
