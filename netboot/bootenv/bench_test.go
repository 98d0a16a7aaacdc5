package bootenv

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"rackboot/protocol/resource"
)

// preseeded is an environment of the size of a Debian one: a preseed of 300 lines, GRUB's
// and iPXE's configurations and a script.
func preseeded(n int) resource.EnvBundle {
	b := bundle()
	var seed strings.Builder
	for i := range 60 {
		fmt.Fprintf(&seed, "### %d\nd-i netcfg/get_hostname string {{.Machine.ShortName}}\nd-i partman/disk%d string {{.Param \"disk\"}}\n", i, i)
		seed.WriteString("{{if .ParamExists \"proxy\"}}d-i mirror/http/proxy string {{.Param \"proxy\"}}{{else}}d-i mirror/http/proxy string{{end}}\nd-i time/zone string {{.Param \"zone\" | default \"UTC\" | quote}}\n")
	}
	seed.WriteString("{{range .InstallRepos}}{{.Install}}{{end}}{{range .MachineRepos}}{{.Lines}}{{end}}{{template \"late.tmpl\" .}}\n")
	b.Templates["debian-seed.tmpl"] = seed.String()
	b.Spec.Templates = append(b.Spec.Templates,
		resource.EnvTemplate{Name: "ipxe2", Path: "machines/ipxe/{{.Machine.MacAddr \"pxelinux\"}}", Contents: "#!ipxe\nkernel {{.Env.PathFor \"http\" .Env.Kernel}} {{.BootParams}}\n{{range .Env.Initrds}}initrd {{$.Env.PathFor \"http\" .}}\n{{end}}boot\n"},
		resource.EnvTemplate{Name: "late", Path: "{{.Machine.Path}}/late.sh", Contents: strings.Repeat("echo {{.Machine.Name}} {{.Param \"zone\"}}\n", 50)},
	)
	b.Params[0].Values["disk"], b.Params[1].Values["zone"] = "/dev/sda", "Europe/Berlin"
	b.Machine.Name = fmt.Sprintf("node%d.example", n)
	b.Schemas = map[string]resource.ParamSpec{"disk": {Name: "disk", Schema: map[string]any{"type": "string"}}}
	return b
}

// BenchmarkRender is what a rack of 1,000 servers does when a shared template changes:
// each of them is merged and rendered once.
func BenchmarkRender(b *testing.B) {
	bundles := make([]resource.EnvBundle, 1000)
	for i := range bundles {
		bundles[i] = preseeded(i)
	}
	b.ReportAllocs()
	bytes := 0
	for b.Loop() {
		bytes = 0
		for _, bundle := range bundles {
			for _, f := range rendered(b, bundle).Files {
				bytes += len(f.Content)
			}
		}
	}
	b.SetBytes(int64(bytes))
	b.ReportMetric(1000*float64(b.N)/b.Elapsed().Seconds(), "servers/s")
}

// BenchmarkRenderAttempt is what a request for a rendered file costs at most: the tree of
// one attempt, of an environment that was merged before.
func BenchmarkRenderAttempt(b *testing.B) {
	e := merged(b, preseeded(1))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := e.Render(context.Background(), Sample()); err != nil {
			b.Fatal(err)
		}
	}
}
