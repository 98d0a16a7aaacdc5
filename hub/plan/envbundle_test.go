package plan

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// update rewrites testdata/envbundle.json.
var update = flag.Bool("update", false, "update testdata/envbundle.json")

const envCanary = "canary-secret-77"

// envFleet is a server with all that an environment is made from.
func envFleet() (Fleet, *resource.Server, *resource.BootEnv, map[string]EnvSecret) {
	f := makeFleet(1, 1)
	srv := f.Servers[0]
	srv.Spec.UUID, srv.Spec.Architecture = "", "amd64"
	srv.Spec.Profiles = []string{"p1", "p2", "gone"}
	srv.Spec.Params = map[string]any{
		"who": "server", "expand": `{{.CallTemplate "from-param" .}}`,
		resource.ParamBootEnvCustomize: map[string]any{"debian": map[string]any{
			"os":        map[string]any{"supportedArchitectures": map[string]any{"amd64": map[string]any{"isoFile": "mine.iso"}}},
			"templates": []any{map[string]any{"name": "x", "path": "x", "id": "from-override"}},
		}, "other": map[string]any{"templates": []any{map[string]any{"id": "unused"}}}},
	}
	srv.Spec.ParamsSecretRef = &resource.Ref{Name: "s1"}
	profile := func(name string, params map[string]any) *resource.Profile {
		return named(&resource.Profile{Spec: resource.ProfileSpec{Params: params}}, name)
	}
	f.Env.Profiles = []*resource.Profile{
		profile(resource.GlobalProfile, map[string]any{"who": "global", "n": 1.0}), profile("p1", map[string]any{"who": "p1"}),
		profile("p2", map[string]any{"who": "p2"}), profile("unused", map[string]any{"who": "unused"}),
	}
	for _, name := range []string{"common", "from-override", "from-param", "inner", "loop", "preseed", "unused"} {
		text := "text of " + name
		switch name {
		case "preseed":
			text = "{{ (.CallTemplate \"common\" .) }} {{ $.CallTemplate `inner` . }} {{ .CallTemplate .Name . }}"
		case "inner":
			text = `{{.CallTemplate "loop" .}}`
		case "loop":
			text = `{{.CallTemplate "inner" .}} {{.CallTemplate "missing" .}}`
		}
		f.Env.Templates = append(f.Env.Templates, named(&resource.Template{Spec: resource.TemplateSpec{Contents: text}}, name))
	}
	f.Env.Params = []*resource.Param{named(&resource.Param{Spec: resource.ParamSpec{Name: "kernel/console", Schema: map[string]any{"type": "string", "default": "ttyS0"}}}, "console")}
	env := named(&resource.BootEnv{Spec: resource.BootEnvSpec{
		OS: resource.EnvOS{Name: "debian-12", IsoFile: "legacy.iso", SupportedArchitectures: map[string]resource.EnvArch{
			"x86_64": {IsoFile: "debian.iso", Kernel: "linux", Image: "r.example/os:1"}, "arm64": {IsoFile: "arm.iso"},
		}},
		Templates: []resource.EnvTemplate{{Name: "seed", Path: "seed", ID: "preseed"}},
	}}, "debian")
	f.Env.BootEnvs = []*resource.BootEnv{env}
	f.Env.ISOs = map[string]resource.EnvISO{}
	for _, file := range []string{"legacy.iso", "debian.iso", "mine.iso", "arm.iso", "unused.iso"} {
		f.Env.ISOs[file] = resource.EnvISO{File: file, Digest: "sha256:" + file, Size: 1}
	}
	f.Env.Images = map[EnvImageKey]resource.Image{
		{"r.example/os:1", "amd64"}: {Reference: "r.example/os:1", Digest: "sha256:1", Architecture: "amd64"},
		{"r.example/os:1", "arm64"}: {Reference: "r.example/os:1", Digest: "sha256:2", Architecture: "arm64"},
	}
	f.Env.SecretVersions = map[string]string{"s1": "uid digest"}
	return f, srv, env, map[string]EnvSecret{"s1": {Values: map[string]string{"root/password": envCanary}, Version: "digest"}}
}

func envOwner() EnvFor {
	return EnvFor{Purpose: resource.PurposeClaim, Owner: "c1", KernelArgs: "console=ttyS0", Ignition: true}
}

// The bundle is what the golden file says, to the byte, and the same each time.
func TestEnvBundle(t *testing.T) {
	f, srv, env, secrets := envFleet()
	b := EnvBundle(f, srv, env, envOwner(), secrets)
	content, digest, err := b.Encode()
	if err != nil {
		t.Fatal(err)
	}
	again, second, err := EnvBundle(f.Indexed(), srv, env, envOwner(), secrets).Encode()
	if err != nil || !bytes.Equal(content, again) || digest != second {
		t.Errorf("made again it differs: %v", err)
	}
	var pretty bytes.Buffer
	if err := json.Indent(&pretty, content, "", "\t"); err != nil {
		t.Fatal(err)
	}
	const file = "testdata/envbundle.json"
	if *update {
		if err := os.WriteFile(file, append(pretty.Bytes(), '\n'), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if want, err := os.ReadFile(file); err != nil || string(want) != pretty.String()+"\n" {
		t.Errorf("%s is not the bundle (%v): go test ./hub/plan -run TestEnvBundle -update\n%s", file, err, &pretty)
	}
}

// Seed 004 and facts boot-environments 1.6: which source comes first.
func TestEnvSources(t *testing.T) {
	f, srv, env, secrets := envFleet()
	b := EnvBundle(f, srv, env, envOwner(), secrets)
	var got []string
	for _, p := range b.Params {
		got = append(got, fmt.Sprintf("%s: %v", p.Source, p.Values["who"]))
	}
	if want := []string{"server: server", "profile p1: p1", "profile p2: p2", "profile global: global"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if p := b.Params[0]; !slices.Equal(p.Secret, []string{"root/password"}) || p.Values["root/password"] != envCanary || p.Version != "digest" {
		t.Errorf("%+v", p)
	}
	if _, leaked := srv.Spec.Params["root/password"]; leaked {
		t.Error("the Secret's value is in the Server")
	}
}

// The UUID is the server's, else the one that a discovery found, else the UID.
func TestEnvMachineUUID(t *testing.T) {
	f, srv, _, _ := envFleet()
	if got := envMachine(f, srv, "amd64").UUID; got != srv.Metadata.UID {
		t.Errorf("%q without one", got)
	}
	found := &protocol.HostInventory{}
	found.Board.UUID = "11111111-1111-4111-8111-111111111111"
	srv.Status.Discovered = &resource.Discovered{Inventory: found}
	if got := envMachine(f, srv, "amd64").UUID; got != found.Board.UUID {
		t.Errorf("%q of a discovery", got)
	}
	srv.Spec.UUID = "22222222-2222-4222-8222-222222222222"
	if got := envMachine(f, srv, "amd64").UUID; got != srv.Spec.UUID {
		t.Errorf("%q of its own", got)
	}
}

// What is read changes the inputs, and nothing else does.
func TestEnvInputs(t *testing.T) {
	inputs := func(change func(f *Fleet, srv *resource.Server, env *resource.BootEnv, w *EnvFor)) string {
		f, srv, env, _ := envFleet()
		w := envOwner()
		change(&f, srv, env, &w)
		return EnvInputs(f, EnvShared(f.Env), srv, env, w)
	}
	type fn = func(*Fleet, *resource.Server, *resource.BootEnv, *EnvFor)
	was := inputs(func(*Fleet, *resource.Server, *resource.BootEnv, *EnvFor) {})
	for name, c := range map[string]struct {
		change fn
		same   bool
	}{
		"server":      {func(_ *Fleet, s *resource.Server, _ *resource.BootEnv, _ *EnvFor) { s.Metadata.Revision++ }, false},
		"environment": {func(_ *Fleet, _ *resource.Server, e *resource.BootEnv, _ *EnvFor) { e.Metadata.Revision++ }, false},
		"template": {func(f *Fleet, _ *resource.Server, _ *resource.BootEnv, _ *EnvFor) {
			f.Env.Templates[0].Metadata.Revision++
		}, false},
		"param": {func(f *Fleet, _ *resource.Server, _ *resource.BootEnv, _ *EnvFor) {
			f.Env.Params[0].Metadata.Revision++
		}, false},
		"profile": {func(f *Fleet, _ *resource.Server, _ *resource.BootEnv, _ *EnvFor) {
			f.Env.Profiles[1].Metadata.Revision++
		}, false},
		"global": {func(f *Fleet, _ *resource.Server, _ *resource.BootEnv, _ *EnvFor) {
			f.Env.Profiles[0].Metadata.Revision++
		}, false},
		"another profile": {func(f *Fleet, _ *resource.Server, _ *resource.BootEnv, _ *EnvFor) {
			f.Env.Profiles[3].Metadata.Revision++
		}, true},
		"secret": {func(f *Fleet, _ *resource.Server, _ *resource.BootEnv, _ *EnvFor) {
			f.Env.SecretVersions["s1"] = "uid other"
		}, false},
		"another secret": {func(f *Fleet, _ *resource.Server, _ *resource.BootEnv, _ *EnvFor) { f.Env.SecretVersions["s2"] = "x" }, true},
		"ISO":            {func(f *Fleet, _ *resource.Server, _ *resource.BootEnv, _ *EnvFor) { delete(f.Env.ISOs, "debian.iso") }, false},
		"image":          {func(f *Fleet, _ *resource.Server, _ *resource.BootEnv, _ *EnvFor) { clear(f.Env.Images) }, false},
		"owner":          {func(_ *Fleet, _ *resource.Server, _ *resource.BootEnv, w *EnvFor) { w.Owner = "c2" }, false},
		"arguments":      {func(_ *Fleet, _ *resource.Server, _ *resource.BootEnv, w *EnvFor) { w.KernelArgs = "" }, false},
	} {
		if got := inputs(c.change); (got == was) != c.same {
			t.Errorf("%s: same %v", name, !c.same)
		}
	}
	if strings.Contains(was, envCanary) {
		t.Error("a secret is in the inputs")
	}
}
