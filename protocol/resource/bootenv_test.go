package resource

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

func validEnv() *BootEnv {
	e := &BootEnv{Spec: BootEnvSpec{
		OS: EnvOS{Name: "debian-12", SupportedArchitectures: map[string]EnvArch{
			"amd64": {
				IsoFile: "debian-12.iso", Sha256: strings.Repeat("0a", 32), IsoURL: "https://mirror.example/debian-12.iso",
				Kernel: "install.amd/vmlinuz", Initrds: []string{"install.amd/initrd.gz"}, BootParams: "auto url={{.Env.PathFor \"http\" \"x\"}}",
			},
			"arm64": {Image: "r.example/os:1", UKI: "boot.efi", Loader: "EFI/BOOT/grubaa64.efi"},
		}},
		Loaders: map[LoaderKey]string{LoaderAMD64: "EFI/BOOT/BOOTX64.EFI"},
		Templates: []EnvTemplate{
			{Name: "grub", Path: "grub/{{.Machine.MacAddr \"grub\"}}.cfg", Contents: "x"},
			{Name: "seed", Path: "{{.Machine.Path}}/seed", ID: "preseed"},
			{Name: "link", Path: "a", Link: "b"},
		},
		RequiredParams: []string{"kernel/console"},
	}}
	e.Metadata.Name = "debian-12-install"
	e.Default()
	return e
}

// The rules of seed 004 (BootEnv) and of facts boot-environments 1.1 to 1.3.
func TestBootEnvValidate(t *testing.T) {
	arch := func(change func(*EnvArch)) func(*BootEnvSpec) {
		return func(s *BootEnvSpec) {
			a := s.OS.SupportedArchitectures["amd64"]
			change(&a)
			s.OS.SupportedArchitectures["amd64"] = a
		}
	}
	tmpl := func(change func(*EnvTemplate)) func(*BootEnvSpec) {
		return func(s *BootEnvSpec) { change(&s.Templates[0]) }
	}
	const amd64 = "spec.os.supportedArchitectures.amd64."
	for name, c := range map[string]struct {
		change func(*BootEnvSpec)
		want   string
	}{
		"as it is":                    {func(*BootEnvSpec) {}, ""},
		"no OS name":                  {func(s *BootEnvSpec) { s.OS.Name = "" }, "spec.os.name: is missing"},
		"OS name with space":          {func(s *BootEnvSpec) { s.OS.Name = "debian 12" }, "spec.os.name"},
		"loader of another kind":      {func(s *BootEnvSpec) { s.Loaders["ppc"] = "x" }, `spec.loaders: "ppc" is not one of 386-pcbios, amd64-uefi`},
		"loader outside":              {func(s *BootEnvSpec) { s.Loaders[LoaderAMD64] = "/EFI/x" }, "spec.loaders.amd64-uefi: \"/EFI/x\" begins with a slash"},
		"kernel with a slash":         {arch(func(a *EnvArch) { a.Kernel = "/vmlinuz" }), amd64 + "kernel"},
		"kernel with ..":              {arch(func(a *EnvArch) { a.Kernel = "a/../../vmlinuz" }), amd64 + "kernel: \"a/../../vmlinuz\" has .. in it"},
		"kernel with dots in names":   {arch(func(a *EnvArch) { a.Kernel = "a..b/vmlinuz-6.1..2" }), ""},
		"legacy kernel":               {func(s *BootEnvSpec) { s.Kernel = "/vmlinuz" }, "spec.kernel"},
		"legacy initrd":               {func(s *BootEnvSpec) { s.Initrds = []string{"a", ""} }, "spec.initrds[1]: is empty"},
		"initrd":                      {arch(func(a *EnvArch) { a.Initrds = []string{"a", "../b"} }), amd64 + "initrds[1]"},
		"two slashes":                 {arch(func(a *EnvArch) { a.Kernel = "a//b" }), "the shortest spelling"},
		"backslash":                   {arch(func(a *EnvArch) { a.Kernel = `a\b` }), "a backslash"},
		"UKI and kernel":              {arch(func(a *EnvArch) { a.UKI = "boot.efi" }), amd64 + "uki"},
		"image and ISO":               {arch(func(a *EnvArch) { a.Image = "r.example/os:1" }), amd64 + "image: is in place of isoFile"},
		"ISO in a folder":             {arch(func(a *EnvArch) { a.IsoFile = "a/b.iso" }), amd64 + "isoFile"},
		"digest":                      {arch(func(a *EnvArch) { a.Sha256 = "zz" }), amd64 + "sha256"},
		"legacy digest":               {func(s *BootEnvSpec) { s.OS.IsoSha256 = "00" }, "spec.os.isoSha256"},
		"no URL":                      {arch(func(a *EnvArch) { a.IsoURL = "mirror/debian.iso" }), amd64 + "isoUrl"},
		"URL with a password":         {arch(func(a *EnvArch) { a.IsoURL = "https://u:hunter2@m.example/x" }), "everybody can read here"},
		"template without a name":     {tmpl(func(x *EnvTemplate) { x.Name = "" }), "spec.templates[0].name: is missing"},
		"template without a path":     {tmpl(func(x *EnvTemplate) { x.Path = "" }), "spec.templates[0].path: is empty"},
		"template at the root":        {tmpl(func(x *EnvTemplate) { x.Path = "/etc/x" }), "spec.templates[0].path"},
		"template outside":            {tmpl(func(x *EnvTemplate) { x.Path = "a/../b" }), "spec.templates[0].path"},
		"two templates of one name":   {tmpl(func(x *EnvTemplate) { x.Name = "seed" }), "spec.templates[1].name: \"seed\" is the name of template 0 too"},
		"nothing of id, link, text":   {tmpl(func(x *EnvTemplate) { x.Contents = "" }), "spec.templates[0]: give exactly one"},
		"contents and id":             {tmpl(func(x *EnvTemplate) { x.ID = "a" }), "spec.templates[0]: give exactly one"},
		"long template":               {tmpl(func(x *EnvTemplate) { x.Contents = strings.Repeat("x", MaxTemplate+1) }), "spec.templates[0].contents: has"},
		"template that is no text":    {tmpl(func(x *EnvTemplate) { x.Contents = "\xff" }), "is not UTF-8"},
		"id that is no name":          {tmpl(func(x *EnvTemplate) { x.Contents, x.ID = "", "A.tmpl" }), "spec.templates[0].id"},
		"param that is no name":       {func(s *BootEnvSpec) { s.RequiredParams = []string{"/a"} }, "spec.requiredParams[0]"},
		"optional, likewise":          {func(s *BootEnvSpec) { s.OptionalParams = []string{"a b"} }, "spec.optionalParams[0]"},
		"discovery that discards":     {func(s *BootEnvSpec) { s.OnlyUnknown, s.Destructive = true, true }, "spec.destructive"},
		"too long":                    {func(s *BootEnvSpec) { s.Documentation = strings.Repeat("x", MaxBootEnv) }, "spec: has"},
		"legacy BIOS is taken":        {func(s *BootEnvSpec) { s.Loaders[LoaderBIOS] = "lpxelinux.0" }, ""},
		"architecture not known here": {func(s *BootEnvSpec) { s.OS.SupportedArchitectures["ppc64le"] = EnvArch{Kernel: "k"} }, ""},
	} {
		e := validEnv()
		c.change(&e.Spec)
		got := e.Validate()
		if (c.want == "") != (len(got) == 0) || !strings.Contains(got.Error(), c.want) {
			t.Errorf("%s: %v; want %q", name, got, c.want)
		}
		if strings.Contains(got.Error(), "hunter2") {
			t.Errorf("%s: the password is in %v", name, got)
		}
	}
}

func TestParamNames(t *testing.T) {
	for name, want := range map[string]bool{
		"package-repositories": true, "kernel/console": true, "a": true, "A_b.c-1": true, strings.Repeat("x", MaxParamName): true,
		"": false, "/a": false, "a/": false, ".a": false, "a b": false, "a\n": false, "ä": false, strings.Repeat("x", MaxParamName+1): false,
	} {
		if validParamName(name) != want {
			t.Errorf("%q: %v", name, !want)
		}
	}
}

// What is secret is in no message.
func TestParamsValidate(t *testing.T) {
	const canary = "canary-81f7"
	p := &Profile{Spec: ProfileSpec{Params: map[string]any{"a b": canary, "ok": strings.Repeat(canary, MaxParams/len(canary))}, ParamsSecretRef: &Ref{"No"}}}
	p.Metadata.Name = GlobalProfile
	p.Default()
	got := p.Validate()
	if len(got) != 3 || strings.Contains(got.Error(), canary) {
		t.Errorf("%v", got)
	}
	for name, c := range map[string]struct {
		spec ParamSpec
		want string
	}{
		"object":  {ParamSpec{Name: "a/b", Schema: map[string]any{"type": "string"}}, ""},
		"true":    {ParamSpec{Name: "a", Schema: true}, ""},
		"none":    {ParamSpec{Name: "a"}, "spec.schema: is missing"},
		"text":    {ParamSpec{Name: "a", Schema: "string"}, "spec.schema: is neither"},
		"name":    {ParamSpec{Name: "a b", Schema: true}, "spec.name"},
		"too big": {ParamSpec{Name: "a", Schema: map[string]any{"x": strings.Repeat("x", MaxSchema)}}, "spec.schema: has"},
	} {
		p := &Param{Spec: c.spec}
		p.Metadata.Name = "a"
		p.Default()
		if got := p.Validate(); (c.want == "") != (len(got) == 0) || !strings.Contains(got.Error(), c.want) {
			t.Errorf("%s: %v; want %q", name, got, c.want)
		}
	}
}

// Each name in a spec is one that must exist.
func TestEnvReferences(t *testing.T) {
	srv := &Server{Spec: ServerSpec{Profiles: []string{"p1", "p2"}, ParamsSecretRef: &Ref{"s1"}}}
	for name, c := range map[string]struct {
		obj  Referrer
		want []string
	}{
		"environment": {validEnv(), []string{"spec.templates[1].id Template/preseed"}},
		"profile":     {&Profile{Spec: ProfileSpec{ParamsSecretRef: &Ref{"s1"}}}, []string{"spec.paramsSecretRef.name Secret/s1"}},
		"server":      {srv, []string{"spec.paramsSecretRef.name Secret/s1", "spec.profiles[0] Profile/p1", "spec.profiles[1] Profile/p2"}},
		"rack":        {&Rack{Spec: RackSpec{Discovery: &RackDiscovery{BootEnv: &Ref{"e1"}}}}, []string{"spec.discovery.bootEnv.name BootEnv/e1"}},
		"claim":       {&Claim{Spec: ClaimSpec{BootEnv: &Ref{"e1"}}}, []string{"spec.bootEnv.name BootEnv/e1"}},
		"maintenance": {&Maintenance{Spec: MaintenanceSpec{Boot: MaintenanceBoot{BootEnv: &Ref{"e1"}}}}, []string{"spec.boot.bootEnv.name BootEnv/e1"}},
	} {
		got := map[string]bool{}
		for _, r := range c.obj.References() {
			if r.Name != "" {
				got[r.Path+" "+string(r.Kind)+"/"+r.Name] = true
			}
		}
		if list := slices.Sorted(maps.Keys(got)); !slices.Equal(list, c.want) {
			t.Errorf("%s: %q; want %q", name, list, c.want)
		}
	}
}

func TestServerProfiles(t *testing.T) {
	for name, c := range map[string]struct {
		profiles []string
		want     string
	}{
		"two":    {[]string{"a", "b"}, ""},
		"global": {[]string{"a", GlobalProfile}, "spec.profiles[1]: every server has"},
		"twice":  {[]string{"a", "a"}, "spec.profiles[1]: \"a\" is named twice"},
		"name":   {[]string{"A b"}, "spec.profiles[0]"},
	} {
		var f fields
		(&Server{Spec: ServerSpec{Profiles: c.profiles}}).checkParams(&f)
		if (c.want == "") != (len(f.FieldErrors) == 0) || !strings.Contains(f.Error(), c.want) {
			t.Errorf("%s: %v; want %q", name, f.FieldErrors, c.want)
		}
	}
}
