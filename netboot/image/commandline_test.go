package image

import (
	"strings"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// The command line comes from the configurations of ironcore-image (facts on boot
// policy, section 2.1), which boot-operator does not read; of other types nothing is
// read, and what no kernel takes is refused when the image is resolved.
func TestResolveCommandLine(t *testing.T) {
	const v1type, alpha = "application/vnd.ironcore.image.config.v1+json", "application/vnd.ironcore.image.config.v1alpha1+json"
	for _, row := range []struct {
		name, mediaType, config, want, err string
	}{
		{"v1", v1type, `{"commandLine":"console=ttyS0 quiet","other":1}`, "console=ttyS0 quiet", ""},
		{"v1alpha1", alpha, `{"commandLine":" ro\n"}`, "ro", ""},
		{"direct", typeConfigDirect, `{"cmdline":"quiet","osRelease":"ID=x"}`, "quiet", ""},
		{"direct has no commandLine", typeConfigDirect, `{"commandLine":"quiet"}`, "", ""},
		{"of an EFI executable", typeConfigEFI, `{"cmdline":"quiet"}`, "", ""},
		{"no text", v1type, `{"commandLine":["quiet"]}`, "", "image configuration"},
		{"none", v1type, `{}`, "", ""},
		{"a container image", string(types.OCIConfigJSON), `{"commandLine":"no"}`, "", ""},
		{"no JSON", v1type, `commandLine`, "", "image configuration"},
		{"two lines", v1type, `{"commandLine":"a\nb"}`, "", "byte 1 is 0x0a"},
		{"not ASCII", v1type, `{"commandLine":"ä"}`, "", "printable ASCII"},
		{"too long", v1type, `{"commandLine":"` + strings.Repeat("a", resource.MaxCommandLine+1) + `"}`, "", "may have 1536"},
		{"too large", v1type, `{"x":"` + strings.Repeat("a", maxConfig) + `"}`, "", "at most 65536 bytes"},
	} {
		t.Run(row.name, func(t *testing.T) {
			r := newRegistry(t)
			r.push("v1", manifest(r.blob(row.mediaType, row.config), r.blob(typeKernel, "kernel"), r.blob(typeInitramfs, "initramfs")), types.OCIManifestSchema1)
			img, err := Resolve(t.Context(), r.ref("v1"), "amd64", Options{})
			if row.err == "" {
				if err != nil || img.CommandLine != row.want {
					t.Errorf("%q, %v; want %q", img.CommandLine, err, row.want)
				}
				return
			}
			if protocol.CodeOf(err) != protocol.CodeInvalid || !strings.Contains(err.Error(), row.err) {
				t.Errorf("%v, want %q", err, row.err)
			}
		})
	}
}

// What a registry gives in place of a configuration is not believed.
func TestResolveSpoiltConfiguration(t *testing.T) {
	r := newRegistry(t)
	config := r.blob(typeConfig, `{"commandLine":"quiet"}`)
	other := r.blob(typeConfig, `{"commandLine":"debug"}`)
	wrong := v1.Descriptor{MediaType: config.MediaType, Digest: other.Digest, Size: config.Size - 1}
	r.push("v1", manifest(wrong, r.blob(typeUKI, "uki")), types.OCIManifestSchema1)
	if img, err := Resolve(t.Context(), r.ref("v1"), "amd64", Options{}); protocol.CodeOf(err) != protocol.CodeInvalid {
		t.Errorf("%+v, %v", img, err)
	}
}

// FuzzParseConfig: what is read is a line that can be handed to a kernel.
func FuzzParseConfig(f *testing.F) {
	f.Add([]byte(`{"commandLine":"console=ttyS0"}`), "commandLine")
	f.Add([]byte(`{"commandLine":"a\u0000b"}`), "commandLine")
	f.Add([]byte(`[]`), "commandLine")
	f.Fuzz(func(t *testing.T, raw []byte, key string) {
		line, err := parseConfig(raw, key)
		if err == nil && (strings.TrimSpace(line) != line || resource.CheckCommandLine(line) != nil) {
			t.Errorf("%q", line)
		}
	})
}
