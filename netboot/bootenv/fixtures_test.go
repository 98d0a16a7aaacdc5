package bootenv

import (
	"context"
	"testing"

	"rackboot/protocol/resource"
)

// debian is an environment as people write it, for amd64 and arm64.
func debian() resource.BootEnvSpec {
	return resource.BootEnvSpec{
		OS: resource.EnvOS{
			Name: "debian-12", Codename: "bookworm",
			SupportedArchitectures: map[string]resource.EnvArch{
				"amd64": {
					IsoFile: "debian-12.iso", Kernel: "install.amd/vmlinuz", Initrds: []string{"install.amd/initrd.gz"},
					BootParams: `auto=true url={{.Machine.Url}}/seed {{.Param "console"}} --- {{.Param "console"}}`,
				},
				"arm64": {IsoFile: "debian-12-arm64.iso", Kernel: "install.a64/vmlinuz", Initrds: []string{"install.a64/initrd.gz"}},
			},
		},
		Templates: []resource.EnvTemplate{
			{Name: "seed", Path: "{{.Machine.Path}}/seed", ID: "debian-seed.tmpl"},
			{Name: "grub", Path: `{{.Env.PathFor "disk" "EFI/BOOT"}}/grub.cfg`, Contents: "linux /{{.Env.PathFor \"tftp\" .Env.Kernel}} {{.BootParams}}\ninitrd {{.Env.JoinInitrds \"tftp\"}}\nboot\n"},
			{Name: "ipxe", Path: `{{.Machine.MacAddr "ipxe"}}.ipxe`, Link: "default.ipxe"},
		},
		Loaders:        map[resource.LoaderKey]string{resource.LoaderAMD64: "EFI/BOOT/BOOTX64.EFI"},
		RequiredParams: []string{"console"},
	}
}

// bundle is debian for one server, with its file uploaded.
func bundle() resource.EnvBundle {
	return resource.EnvBundle{
		BootEnv: "debian-12-install", UID: "01J", Spec: debian(),
		Templates: map[string]string{
			"debian-seed.tmpl": "d-i netcfg/get_hostname string {{.Machine.ShortName}}\n{{range .InstallRepos}}{{.Install}}{{end}}{{template \"late.tmpl\" .}}\n",
			"late.tmpl":        "d-i preseed/late_command string wget --post-data= {{.ReportURL}}report/installed",
		},
		Params: []resource.EnvParams{
			{Source: "server", Values: map[string]any{"console": "console=ttyS1"}},
			{Source: "profile global", Values: map[string]any{"console": "console=tty0", "password": "hunter2hunter2"}, Secret: []string{"password"}},
		},
		Machine: resource.EnvMachine{
			Name: "node1.example", UID: "01JSERVER", UUID: "4c4c4544-0042-4810-8035-b4c04f4e4d31", BootMAC: "52:54:00:AB:CD:EF",
			MACs: []string{"52:54:00:ab:cd:ef"}, Architecture: "amd64", Rack: "r1", Segment: "boot",
		},
		Purpose:    resource.PurposeClaim,
		Owner:      "claim/node1",
		KernelArgs: "quiet",
		ISOs:       []resource.EnvISO{{File: "debian-12.iso", Digest: "sha256:aa", Size: 1}},
	}
}

func merged(t testing.TB, b resource.EnvBundle) *Effective {
	t.Helper()
	e, err := Merge(b)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func rendered(t testing.TB, b resource.EnvBundle) Tree {
	t.Helper()
	tree, err := merged(t, b).Render(context.Background(), Sample())
	if err != nil {
		t.Fatal(err)
	}
	return tree
}
