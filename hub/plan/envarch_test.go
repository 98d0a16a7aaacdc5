package plan

import (
	"testing"

	"rackboot/protocol/resource"
)

// An environment's files are for the server's architecture, and where that is not known, for the one that
// the environment has; fields outside of os.supportedArchitectures are of amd64.
func TestEnvArchitecture(t *testing.T) {
	for _, row := range []struct {
		name, server, kernel, iso string
		archs                     []string
		want                      string
	}{
		{"known", "arm64", "", "", []string{"amd64"}, "arm64"},
		{"the only one, as dr-provision spells it", "", "", "", []string{"aarch64"}, "arm64"},
		{"one in two spellings", "", "", "", []string{"x86_64", "amd64"}, "amd64"},
		{"several", "", "", "", []string{"amd64", "arm64"}, ""},
		{"fields outside", "", "linux", "", nil, "amd64"},
		{"a kernel outside, and another one's", "", "linux", "", []string{"arm64"}, ""},
		{"an ISO outside, and another one's", "", "", "x.iso", []string{"arm64"}, ""},
		{"nothing of its own", "", "", "", nil, "amd64"},
	} {
		srv, env := &resource.Server{}, &resource.BootEnv{}
		srv.Spec.Architecture, env.Spec.Kernel, env.Spec.OS.IsoFile = row.server, row.kernel, row.iso
		env.Spec.OS.SupportedArchitectures = map[string]resource.EnvArch{}
		for _, a := range row.archs {
			env.Spec.OS.SupportedArchitectures[a] = resource.EnvArch{}
		}
		if got := EnvArchitecture(srv, env); got != row.want {
			t.Errorf("%s: %q, want %q", row.name, got, row.want)
		}
	}
}
