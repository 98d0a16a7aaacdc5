package env

import (
	"context"
	"strings"
	"testing"

	"rackboot/netboot/bootenv"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// shelf is an uploaded file that has some paths, or cannot be read.
type shelf struct {
	has    []string
	broken error
}

func (s shelf) Lacks(_ context.Context, _, _ string, needs []bootenv.Need) (wrong protocol.FieldErrors, err error) {
	for _, n := range needs {
		if !strings.Contains(strings.Join(s.has, " "), n.Path) {
			wrong = append(wrong, protocol.FieldError{Path: n.Field, Message: n.Path + " is not there"})
		}
	}
	return wrong, s.broken
}

// TestJudgeReads: an environment whose files are not in the uploaded file is refused by the
// hub, before anything is powered on (P7), with the code that says whether to try again.
func TestJudgeReads(t *testing.T) {
	b := resource.EnvBundle{BootEnv: "x", ISOs: []resource.EnvISO{{File: "x.iso", Digest: "sha256:1"}}, Machine: resource.EnvMachine{Name: "n1", UID: "u", Architecture: "amd64"}}
	b.Spec.OS = resource.EnvOS{Name: "x-1", SupportedArchitectures: map[string]resource.EnvArch{"amd64": {IsoFile: "x.iso", Kernel: "install/vmlinuz", Initrds: []string{"install/initrd"}}}}
	b.Spec.Templates = []resource.EnvTemplate{{Name: "i", Path: `{{.Env.PathFor "disk" "install/initrd"}}`, Contents: "made"}}
	for _, row := range []struct {
		name  string
		shelf Files
		want  protocol.Code
		says  string
	}{
		{"no uploaded files are kept", nil, "", ""},
		{"all there; what is rendered need not be", shelf{has: []string{"install/vmlinuz"}}, "", ""},
		{"no kernel", shelf{}, protocol.CodeNotFound, "spec.os.supportedArchitectures.amd64.kernel: install/vmlinuz is not there"},
		{"not readable now", shelf{broken: protocol.Errorf(protocol.CodeUnavailable, "", "the disk")}, protocol.CodeUnavailable, "the disk"},
	} {
		_, err := New(Config{Files: row.shelf}).judgeEnv(b)
		if protocol.CodeOf(err) != row.want || err != nil && !strings.Contains(err.Error(), row.says) {
			t.Errorf("%s: %v, want %q with %q", row.name, err, row.want, row.says)
		}
		if _, err := New(Config{Files: row.shelf}).rendered(t.Context(), b, ""); protocol.CodeOf(err) != row.want {
			t.Errorf("%s: rendered with %v, want %q", row.name, err, row.want)
		}
	}
}
