package daemon

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"rackboot/hub/iso"
	"rackboot/hub/store"
	"rackboot/hub/store/storetest"
	"rackboot/netboot/iso/isotest"
	"rackboot/protocol"
	protoapi "rackboot/protocol/api"
	"rackboot/protocol/resource"
)

// What is wrong with a description is said where it is, before anything uses it.
func TestEnvRules(t *testing.T) {
	env := func(change func(*resource.BootEnvSpec)) *resource.BootEnv {
		e := &resource.BootEnv{Spec: resource.BootEnvSpec{OS: resource.EnvOS{Name: "debian-12", SupportedArchitectures: map[string]resource.EnvArch{"amd64": {Kernel: "linux"}}}}}
		e.Metadata.Name = "debian-install"
		change(&e.Spec)
		return e
	}
	texts := func(name string) (string, bool) {
		text, ok := map[string]string{"good": `{{.Machine.Name}} {{.CallTemplate "inner" .}}`, "inner": "x", "bad": "\n{{.Machine.Name"}[name]
		return text, ok
	}
	named := func(id string) func(*resource.BootEnvSpec) {
		return func(s *resource.BootEnvSpec) {
			s.Templates = []resource.EnvTemplate{{Name: "a", Path: "a", ID: id}}
		}
	}
	for name, row := range map[string]struct {
		change func(*resource.BootEnvSpec)
		want   string
	}{
		"fine":   {named("good"), ""},
		"syntax": {named("bad"), "line 2"},
		"own syntax": {func(s *resource.BootEnvSpec) {
			s.Templates = []resource.EnvTemplate{{Name: "a", Path: "{{", Contents: "x"}}
		}, "spec.templates[0].path"},
		"boot params": {func(s *resource.BootEnvSpec) {
			s.OS.SupportedArchitectures["amd64"] = resource.EnvArch{Kernel: "k", BootParams: "{{end}}"}
		}, "bootParams"},
		"nothing": {func(s *resource.BootEnvSpec) { s.OS.SupportedArchitectures["amd64"] = resource.EnvArch{} }, "nothing to boot for amd64"},
		"host function": {func(s *resource.BootEnvSpec) {
			s.Templates = []resource.EnvTemplate{{Name: "a", Path: "a", Contents: `{{env "HOME"}}`}}
		}, "spec.templates[0]"},
	} {
		if got := (envRules{}).BootEnv(env(row.change), texts); (row.want == "") != (len(got) == 0) || !strings.Contains(got.Error(), row.want) {
			t.Errorf("%s: %v, want %q", name, got, row.want)
		}
	}
	if err := (envRules{}).Template("x", `{{.CallTemplate "later" .}}`); err != nil {
		t.Errorf("a template that calls another: %v", err)
	}
	if err := (envRules{}).Template("x", "a\n{{if}}"); err == nil || !strings.Contains(err.Error(), "line 2") {
		t.Errorf("%v", err)
	}
	text := resource.ParamSpec{Name: "a", Schema: map[string]any{"type": "string"}}
	if err := (envRules{}).Value(text, 1.0); err == nil {
		t.Error("a number was taken for text")
	}
	if err := (envRules{}).Param(resource.ParamSpec{Name: "a", Schema: map[string]any{"type": "word"}}); err == nil {
		t.Error("word was taken for a type")
	}
}

// An environment that names what an uploaded file does not have is refused when it is
// applied, and says so of itself if the file was there later.
func TestEnvRulesRead(t *testing.T) {
	mem, rules := storetest.NewMemory(), newEnvRules()
	st, err := store.Open(t.Context(), store.Config{KV: mem, Log: mem, Clock: time.Now, NewID: func() string { return fmt.Sprint(time.Now().UnixNano()) }, EnvRules: rules})
	if err != nil {
		t.Fatal(err)
	}
	shelf, err := iso.Open(iso.Config{Dir: t.TempDir(), Quota: 1 << 20, Store: st, Clock: time.Now, Registerer: prometheus.NewRegistry(), Needed: func() (map[string]bool, error) { return nil, nil }})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := shelf.Close(); err != nil {
			t.Error(err)
		}
	}()
	rules.shelf.Store(shelf)
	content := isotest.Tree{RockRidge: true, Entries: []isotest.Entry{{Path: "vmlinuz", Content: []byte("kernel")}}}.Bytes()
	u, err := shelf.Begin(t.Context(), protoapi.ISOUploadRequest{File: "x.iso", Digest: fmt.Sprintf("sha256:%x", sha256.Sum256(content)), Size: int64(len(content))}, "ann")
	if err == nil {
		_, err = shelf.Append(t.Context(), u.ID, 0, bytes.NewReader(content))
	}
	if err == nil {
		_, err = shelf.Finish(t.Context(), u.ID, protoapi.ISOFinishRequest{File: "x.iso"})
	}
	if err != nil {
		t.Fatal(err)
	}
	env := func(kernel string) *resource.BootEnv {
		e := &resource.BootEnv{Spec: resource.BootEnvSpec{OS: resource.EnvOS{Name: "x-1", SupportedArchitectures: map[string]resource.EnvArch{"amd64": {IsoFile: "x.iso", Kernel: kernel}}}}}
		e.Metadata.Name = "x"
		e.Default()
		return e
	}
	apply := func(e *resource.BootEnv, dry bool) error {
		_, err := st.Sets.Apply(context.Background(), []resource.Object{e}, store.ApplyOptions{By: "ann", DryRun: dry})
		return err
	}
	for _, dry := range []bool{true, false} {
		err := apply(env("bzImage"), dry)
		if protocol.CodeOf(err) != protocol.CodeInvalid || !strings.Contains(err.Error(), "spec.os.supportedArchitectures.amd64.kernel: the kernel bzImage in x.iso") {
			t.Errorf("dry run %v: %v", dry, err)
		}
		if err := apply(env("vmlinuz"), dry); err != nil {
			t.Errorf("dry run %v: %v", dry, err)
		}
	}
	if wrong := st.Sets.CheckBootEnv(env("bzImage")); len(wrong) != 1 {
		t.Errorf("%v", wrong)
	}
}
