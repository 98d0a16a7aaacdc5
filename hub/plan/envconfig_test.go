package plan

import (
	"strings"
	"testing"

	"rackboot/internal/doctable"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

func TestEnvChangeTable(t *testing.T) {
	doctable.Of(t, "envconfig.go", "envChangeRule").Hold(t, [][]string{
		doctable.YesNo(), doctable.YesNo(), doctable.YesNo(), doctable.YesNo(),
	}, func(in []string) []string {
		return doctable.Words(envChangeRule(in[0] == "yes", in[1] == "yes", in[2] == "yes", in[3] == "yes"))
	})
}

func envClaim(image, env string) *resource.Claim {
	c := named(&resource.Claim{Spec: resource.ClaimSpec{Image: image}}, "c1")
	if env != "" {
		c.Spec.BootEnv = &resource.Ref{Name: env}
	}
	return c
}

func envConfig(env string) *resource.BootConfiguration {
	b := named(&resource.BootConfiguration{Spec: resource.BootConfigurationSpec{Server: "n1", Owner: resource.Owner{UID: "uid-c1"}, BootEnv: env, BootSpec: resource.BootSpec{Image: resource.EnvImage(env, "u", "amd64")}}}, "c1")
	if env == "" {
		b.Spec.Image = resource.Image{Reference: "r.example/os:1"}
	}
	return b
}

// What an agent says of a boot by the present grant decides whether it is replaced.
func TestEnvChange(t *testing.T) {
	report := func(uid string, state resource.AttemptState) *resource.ServerReport {
		r := &resource.ServerReport{OwnerUID: uid}
		if state != "" {
			r.Attempt = &resource.AttemptReport{State: state}
		}
		return r
	}
	for name, c := range map[string]struct {
		claim  *resource.Claim
		cfg    string
		change func(*resource.BootConfiguration)
		report *resource.ServerReport
		want   EnvThen
	}{
		"the same":               {envClaim("", "a"), "a", nil, nil, EnvKeep},
		"the same image":         {envClaim("r.example/os:1", ""), "", nil, nil, EnvKeep},
		"another image":          {envClaim("r.example/os:2", ""), "", nil, nil, EnvDiffers},
		"grant not given":        {envClaim("", "b"), "a", nil, nil, EnvReplace},
		"image to environment":   {envClaim("", "b"), "", nil, nil, EnvReplace},
		"environment to image":   {envClaim("r.example/os:1", ""), "a", nil, nil, EnvReplace},
		"given, nothing heard":   {envClaim("", "b"), "a", given, nil, EnvWait},
		"given, another claim":   {envClaim("", "b"), "a", given, report("x", resource.AttemptArmed), EnvReplace},
		"given, not begun":       {envClaim("", "b"), "a", given, report("uid-c1", ""), EnvReplace},
		"booting":                {envClaim("", "b"), "a", given, report("uid-c1", resource.AttemptFetched), EnvWait},
		"a boot that failed":     {envClaim("", "b"), "a", given, report("uid-c1", resource.AttemptFailed), EnvReplace},
		"installed":              {envClaim("", "b"), "a", installed, report("uid-c1", ""), EnvDiffers},
		"each boot from network": {envClaim("", "b"), "a", network, report("uid-c1", resource.AttemptSucceeded), EnvReplace},
	} {
		cfg := envConfig(c.cfg)
		if c.change != nil {
			c.change(cfg)
		}
		f := Fleet{}
		if c.report != nil {
			f.Reports = map[string]*resource.ServerReport{"n1": c.report}
		}
		if got := EnvChange(f, c.claim, cfg); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

func given(b *resource.BootConfiguration) { b.Status.GrantFor = "disk" }

func installed(b *resource.BootConfiguration) {
	given(b)
	b.Status.SignedProvisioned = []byte("signed")
}

func network(b *resource.BootConfiguration) {
	installed(b)
	b.Spec.BootPolicy.Boot = resource.BootNetwork
}

// An agent is told of an environment for as long as it makes the files of it.
func TestEnvTravels(t *testing.T) {
	sealed := map[string]message.EnvIntent{"c1": {Name: "a", Bundle: "sha256:b", Sealed: "sha256:s"}}
	for name, c := range map[string]struct {
		env    string
		change func(*resource.BootConfiguration)
		sealed map[string]message.EnvIntent
		want   string
	}{
		"an image":           {"", nil, sealed, "none"},
		"nothing sealed":     {"a", nil, nil, ""},
		"of another name":    {"b", nil, sealed, ""},
		"sealed":             {"a", nil, sealed, "sha256:s"},
		"installed":          {"a", installed, sealed, "none"},
		"booted by network":  {"a", network, sealed, "sha256:s"},
		"by somebody's word": {"a", func(b *resource.BootConfiguration) { b.Status.Adopted = &resource.Adopted{} }, sealed, "none"},
	} {
		cfg := envConfig(c.env)
		if c.change != nil {
			c.change(cfg)
		}
		got := envIntent(Fleet{Made: Made{Envs: c.sealed}}, cfg)
		switch {
		case got == nil && c.want == "none":
		case got == nil || c.want == "none" || got.Sealed != c.want || got.Name != c.env:
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// The condition names both sides.
func TestEnvDiffersCondition(t *testing.T) {
	for name, c := range map[string]struct {
		claim *resource.Claim
		cfg   string
		want  string
	}{
		"same":  {envClaim("", "a"), "a", ""},
		"other": {envClaim("", "b"), "a", "the claim says boot environment b, the server boots boot environment a"},
		"image": {envClaim("r.example/os:1", ""), "a", "the claim says image r.example/os:1, the server boots boot environment a"},
		"env":   {envClaim("", "b"), "", "the claim says boot environment b, the server boots image r.example/os:1"},
	} {
		got := ""
		for _, s := range Claimed(c.claim, nil, envConfig(c.cfg), nil, true) {
			got += s.Message
		}
		if (c.want == "") != (got == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q", name, got)
		}
	}
}
