package control

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"rackboot/hub/store"
	"rackboot/hub/store/storetest"
	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
	"rackboot/protocol/sealbox"
)

func envObject[T resource.Object](o T, name string) T {
	o.Head().Metadata.Name = name
	o.Default()
	return o
}

// debianEnv boots a kernel of an uploaded file, with a preseed that has a secret in it.
func debianEnv(name string, change func(*resource.BootEnvSpec)) *resource.BootEnv {
	e := &resource.BootEnv{Spec: resource.BootEnvSpec{
		OS: resource.EnvOS{Name: "debian-12", SupportedArchitectures: map[string]resource.EnvArch{
			"amd64": {IsoFile: "debian.iso", Kernel: "linux", Initrds: []string{"initrd.gz"}, BootParams: "auto"},
		}},
		Templates: []resource.EnvTemplate{{Name: "seed", Path: "{{.Machine.Path}}/seed", ID: "preseed"}},
	}}
	if change != nil {
		change(&e.Spec)
	}
	return envObject(e, name)
}

func preseed(text string) *resource.Template {
	return envObject(&resource.Template{Spec: resource.TemplateSpec{Contents: text + ` {{.Param "root/password"}}`}}, "preseed")
}

func rootPassword(value string) *resource.Secret {
	s := &resource.Secret{Spec: resource.SecretSpec{Type: resource.SecretParams, Data: resource.SecretData{"root/password": resource.Plain(value)}}}
	return envObject(s, "root")
}

func envClaim(env string) *resource.Claim {
	c := storetest.Claim("c1", "n1")
	c.Spec.Image, c.Spec.BootEnv = "", &resource.Ref{Name: env}
	return c
}

// envSite is a site with a boot environment, whose agent makes such and has a key.
func envSite(t *testing.T) (*bench, *modern, *sealbox.Key) {
	t.Helper()
	b := newBench(t, &movingTag{})
	b.kek = strings.Repeat("5e", 32)
	b.restart()
	global := envObject(&resource.Profile{Spec: resource.ProfileSpec{ParamsSecretRef: &resource.Ref{Name: "root"}}}, resource.GlobalProfile)
	b.apply(append(storetest.Site(), rootPassword(canary), preseed("first"), global, debianEnv("debian", nil))...)
	b.upload("debian.iso", "1")
	m, key := b.modern(b.join("r1")), sealKey(t)
	m.caps = append(slices.Clone(m.caps), message.CapBootEnv)
	m.sealKey = key.Public()
	m.connects()
	b.settles(m)
	return b, m, key
}

func (b *bench) upload(file, digit string) {
	b.t.Helper()
	iso, _ := b.store.ISOs.Get(file) // none the first time
	iso.ISOFile = resource.ISOFile{File: file, Digest: "sha256:" + strings.Repeat(digit, 64), Size: 3, UploadedAt: b.now}
	if err := b.store.ISOs.Put(ctx(b.t), &iso); err != nil {
		b.t.Fatal(err)
	}
}

// boot is what the documents say that server n1 boots; nil is nothing.
func (b *bench) boot(m *modern) *message.BootIntent {
	b.t.Helper()
	for _, s := range b.rack(m).Servers {
		if s.Server == "n1" {
			return s.Boot
		}
	}
	return nil
}

// bundle is what an agent fetches of an environment, and opens.
func (b *bench) bundle(m *modern, key *sealbox.Key, claim string, agent string) (out resource.EnvBundle, err error) {
	b.t.Helper()
	boot := b.boot(m)
	if boot == nil || boot.Env == nil {
		b.t.Fatal("no environment in the document")
	}
	got, err := b.control.Env.EnvBundle(ctx(b.t), api.EnvBundleRequest{Sealed: boot.Env.Sealed}, agent)
	if err != nil {
		return out, err
	}
	if sealbox.Digest(got.Body) != boot.Env.Sealed || int64(len(got.Body)) != boot.Env.Size {
		b.t.Error("what is given is not what the document says")
	}
	plain, err := key.OpenEnv(sealbox.EnvBinding{Agent: m.name, Server: "n1", OwnerUID: claim, Bundle: boot.Env.Bundle}, got.Body)
	if err != nil {
		return out, err
	}
	return out, json.Unmarshal(plain, &out)
}

func (b *bench) configOf(name string) *resource.BootConfiguration {
	cfg, err := store.Get[*resource.BootConfiguration](b.store.Objects, name)
	if err != nil {
		return nil
	}
	return cfg
}

// A claim of an environment has a configuration whose image stands for it, and its bundle
// is given to the agent of its server alone.
func TestEnvSealed(t *testing.T) {
	b, m, key := envSite(t)
	b.apply(envClaim("debian"))
	b.settles(m)
	b.settles(m)
	cfg, cl := b.configOf("c1"), b.claim("c1")
	env, err := store.Get[*resource.BootEnv](b.store.Objects, "debian")
	if err != nil || cfg == nil || cfg.Spec.BootEnv != "debian" || cfg.Spec.Image.Digest != resource.EnvImage("debian", env.Metadata.UID, "amd64").Digest {
		t.Fatalf("%+v, %v; %v", cfg, err, cl.Status.Conditions)
	}
	in := b.boot(m).Env
	if in.Name != "debian" || len(in.ISOs) != 1 || in.ISOs[0].File != "debian.iso" {
		t.Errorf("%+v", in)
	}
	got, err := b.bundle(m, key, cl.Metadata.UID, m.name)
	if err != nil || got.BootEnv != "debian" || got.Owner != "c1" || got.Params[0].Values["root/password"] != canary || !slices.Equal(got.Params[0].Secret, []string{"root/password"}) {
		t.Errorf("%+v, %v", got, err)
	}
	for _, who := range []string{"", "r2-1", "hub", "admin", "r1-2"} {
		if _, err := b.bundle(m, key, cl.Metadata.UID, who); protocol.CodeOf(err) != protocol.CodeDenied {
			t.Errorf("given to %q: %v", who, err)
		}
	}
	if _, err := b.control.Env.EnvBundle(ctx(t), api.EnvBundleRequest{}, m.name); protocol.CodeOf(err) != protocol.CodeDenied {
		t.Errorf("given without a digest: %v", err)
	}
	if v := b.store.Envs.Peek("c1"); bytes.Contains(v.Body, []byte(canary)) {
		t.Error("the store has the secret")
	}
	b.settles(m)
	if again := b.boot(m).Env; again.Sealed != in.Sealed {
		t.Error("sealed again without a change")
	}
}

// Whatever the bundle is made from changes: another bundle travels, for the same grant.
// What does not concern the server changes nothing.
func TestEnvFollows(t *testing.T) {
	b, m, key := envSite(t)
	b.apply(envClaim("debian"))
	b.settles(m)
	b.settles(m)
	cl := b.claim("c1")
	for _, row := range []struct {
		name  string
		does  func()
		moves bool
		has   string
	}{
		{"template", func() { b.apply(preseed("second")) }, true, "second"},
		{"secret", func() { b.apply(rootPassword("other-" + canary)) }, true, "other-" + canary},
		{"upload", func() { b.upload("debian.iso", "2") }, true, strings.Repeat("2", 64)},
		{"another environment", func() { b.apply(debianEnv("else", nil)) }, false, ""},
		{"param", func() {
			b.apply(envObject(&resource.Param{Spec: resource.ParamSpec{Name: "x", Schema: true}}, "x"))
		}, true, `"x"`},
		{"server", func() {
			s := storetest.Server("n1", "b1", "boot", "52:54:00:00:00:01")
			s.Spec.Params = map[string]any{"who": "me"}
			b.apply(s)
		}, true, "me"},
		{"another key", func() {
			key = sealKey(t)
			m.sealKey = key.Public()
			m.connects()
		}, true, ""},
	} {
		was := *b.boot(m).Env
		row.does()
		b.settles(m)
		now := b.boot(m)
		if (now.Env.Sealed != was.Sealed) != row.moves || now.Generation != 1 || now.Grant == nil {
			t.Errorf("%s: %+v, generation %d", row.name, now.Env, now.Generation)
		}
		got, err := b.bundle(m, key, cl.Metadata.UID, m.name)
		if raw, _, _ := got.Encode(); err != nil || !strings.Contains(string(raw), row.has) {
			t.Errorf("%s: %s, %v", row.name, raw, err)
		}
	}
}

// What cannot be booted has no effect but its condition and one event (seed 004: refuse to
// change the bootenv and return an error).
func TestEnvRefused(t *testing.T) {
	for name, row := range map[string]struct {
		change func(*resource.BootEnvSpec)
		want   string
	}{
		"no file, no repository": {func(s *resource.BootEnvSpec) { arch(s, func(a *resource.EnvArch) { a.IsoFile = "gone.iso" }) }, "gone.iso"},
		"another architecture": {func(s *resource.BootEnvSpec) {
			s.OS.SupportedArchitectures = map[string]resource.EnvArch{"arm64": {Kernel: "linux"}}
		}, "has nothing for amd64"},
		"param without a value": {func(s *resource.BootEnvSpec) { s.RequiredParams = []string{"domain"} }, "needs a value for domain"},
		"nothing to boot":       {func(s *resource.BootEnvSpec) { arch(s, func(a *resource.EnvArch) { a.Kernel, a.Initrds = "", nil }) }, "no kernel, no UKI and no loader"},
		"template that fails": {func(s *resource.BootEnvSpec) {
			s.Templates = []resource.EnvTemplate{{Name: "a", Path: "a", Contents: `{{.Param "nobody"}}`}}
		}, "nobody"},
	} {
		b, m, _ := envSite(t)
		b.apply(debianEnv("wrong", row.change))
		b.apply(envClaim("wrong"))
		b.settles(m)
		b.settles(m)
		b.settles(m)
		cl, said := b.claim("c1"), ""
		for _, c := range cl.Status.Conditions {
			if c.Code == resource.CondBootEnvInvalid {
				said += c.Message
			}
		}
		if cfg := b.configOf("c1"); cfg != nil || !strings.Contains(said, row.want) || strings.Contains(said, canary) {
			t.Errorf("%s: %q, configuration %v", name, said, cfg)
		}
		events := 0
		for _, e := range b.control.Events.After(0, 100) {
			if e.Code == resource.EventBootEnv {
				events++
			}
		}
		if boot := b.boot(m); boot != nil || events != 1 {
			t.Errorf("%s: boots %+v, %d events", name, boot, events)
		}
	}
}

func arch(s *resource.BootEnvSpec, change func(*resource.EnvArch)) {
	a := s.OS.SupportedArchitectures["amd64"]
	change(&a)
	s.OS.SupportedArchitectures["amd64"] = a
}

// A missing file is uploaded: the claim goes on by itself.
func TestEnvUploadedLater(t *testing.T) {
	b, m, _ := envSite(t)
	b.apply(debianEnv("late", func(s *resource.BootEnvSpec) { arch(s, func(a *resource.EnvArch) { a.IsoFile = "late.iso" }) }), envClaim("late"))
	b.settles(m)
	b.settles(m)
	if b.configOf("c1") != nil {
		t.Fatal("configured without the file")
	}
	b.upload("late.iso", "3")
	b.settles(m)
	b.settles(m)
	if cfg := b.configOf("c1"); cfg == nil || cfg.Spec.BootEnv != "late" {
		t.Errorf("%+v: %v", cfg, b.claim("c1").Status.Conditions)
	}
}
