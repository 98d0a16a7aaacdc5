package plan

import (
	"testing"

	"rackboot/protocol/resource"
)

// TestFormerOf: what is returned to is the last configuration that was booted well.
func TestFormerOf(t *testing.T) {
	cfg := func(generation uint64, booted bool, former *resource.FormerBoot) *resource.BootConfiguration {
		b := &resource.BootConfiguration{Spec: resource.BootConfigurationSpec{Revision: int(generation), BootSpec: resource.BootSpec{Grant: []byte("grant")}, Former: former}}
		b.Metadata.Generation, b.Status.GrantFor = generation, "disk-1"
		if booted {
			b.Status.SignedProvisioned = []byte("signed")
		}
		return b
	}
	older := &resource.FormerBoot{After: 2, GrantedBoot: resource.GrantedBoot{Generation: 1}, Revision: 1}
	env := cfg(2, true, nil)
	env.Spec.BootEnv = "debian"
	for name, tt := range map[string]struct {
		was        *resource.BootConfiguration
		after      int
		generation uint64 // 0 is nothing
	}{
		"the first one":                {after: 3},
		"never":                        {was: cfg(2, true, older)},
		"it was booted well":           {was: cfg(2, true, older), after: 3, generation: 2},
		"it was not":                   {was: cfg(2, false, older), after: 3, generation: 1},
		"nothing was":                  {was: cfg(2, false, nil), after: 3},
		"a boot environment is no way": {was: env, after: 3},
	} {
		t.Run(name, func(t *testing.T) {
			f := FormerOf(tt.was, tt.after)
			switch {
			case tt.generation == 0 && f != nil:
				t.Errorf("%+v", f)
			case tt.generation != 0 && (f == nil || f.Generation != tt.generation || f.After != tt.after):
				t.Errorf("%+v, want generation %d after %d", f, tt.generation, tt.after)
			}
			if older.After != 2 {
				t.Error("it was changed in place")
			}
		})
	}
}
