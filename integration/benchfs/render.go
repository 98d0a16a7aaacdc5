package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"rackboot/integration/benchreport"
	"rackboot/netboot/bootenv"
	"rackboot/protocol/resource"
)

// preseed is as long as those of people are, with what they ask for: params, lists,
// conditions, another template and URLs.
const preseed = `#_preseed_V1
d-i debian-installer/locale string {{.Param "locale"}}
d-i keyboard-configuration/xkb-keymap select us
d-i netcfg/get_hostname string {{.Machine.ShortName}}
d-i netcfg/get_domain string
d-i mirror/country string manual
d-i mirror/protocol string {{.ParseURL "scheme" (.Param "mirror")}}
d-i mirror/http/hostname string {{.ParseURL "host" (.Param "mirror")}}
d-i mirror/http/directory string {{.ParseURL "path" (.Param "mirror")}}
d-i mirror/http/proxy string
d-i mirror/suite string {{.Env.OS.Codename}}
d-i passwd/root-login boolean false
d-i passwd/user-fullname string {{.Param "user"}}
d-i passwd/username string {{.Param "user"}}
d-i passwd/user-password-crypted password {{.Param "password"}}
d-i clock-setup/utc boolean true
d-i time/zone string {{.Param "timezone"}}
{{with .Param "disk"}}d-i partman-auto/disk string {{.}}
d-i grub-installer/bootdev string {{.}}
{{else}}d-i grub-installer/bootdev string default
{{end}}d-i partman-auto/method string regular
d-i partman-auto/choose_recipe select atomic
d-i partman-lvm/device_remove_lvm boolean true
d-i partman-md/device_remove_md boolean true
d-i partman-partitioning/confirm_write_new_label boolean true
d-i partman/choose_partition select finish
d-i partman/confirm boolean true
d-i partman/confirm_nooverwrite boolean true
d-i apt-setup/cdrom/set-first boolean false
tasksel tasksel/first multiselect standard, ssh-server
d-i pkgsel/include string {{join " " (.Param "packages")}}
d-i pkgsel/upgrade select full-upgrade
popularity-contest popularity-contest/participate boolean false
d-i grub-installer/only_debian boolean true
d-i finish-install/reboot_in_progress note
{{template "late" .}}`

const late = `d-i preseed/late_command string \
{{range .Param "keys"}}  echo '{{.}}' >> /target/etc/ssh/authorized_keys; \
{{end}}  wget -q -O /target/etc/apt/sources.list '{{.Machine.Url}}/sources.list'; \
  wget -q -O /dev/null --post-data='' '{{.ReportURL}}report/installed'
`

// debian is the environment of one server.
func debian(n int) resource.EnvBundle {
	return resource.EnvBundle{
		BootEnv: "debian-12-install", UID: "env-uid", Purpose: resource.PurposeClaim, Owner: "claim",
		ISOs: []resource.EnvISO{{File: "debian-12.iso", Digest: "sha256:" + strings.Repeat("0", 64), Size: 1}},
		Spec: resource.BootEnvSpec{
			OS: resource.EnvOS{Name: "debian-12", Family: "debian", Codename: "bookworm", SupportedArchitectures: map[string]resource.EnvArch{"amd64": {
				IsoFile: "debian-12.iso", Kernel: "linux", Initrds: []string{"initrd.gz"},
				BootParams: `auto=true priority=critical url={{.Machine.Url}}/preseed.cfg hostname={{.Machine.ShortName}} {{.Param "console"}}`,
			}}},
			Templates: []resource.EnvTemplate{
				{Name: "preseed", Path: "{{.Machine.Path}}/preseed.cfg", Contents: preseed},
				{Name: "sources", Path: "{{.Machine.Path}}/sources.list", Contents: "deb {{.Param \"mirror\"}} {{.Env.OS.Codename}} main\n"},
			},
		},
		Templates: map[string]string{"late": late},
		Params: []resource.EnvParams{
			{Source: resource.SourceServer, Values: map[string]any{"disk": "/dev/sda", "console": "console=ttyS0,115200n8"}},
			{Source: resource.SourceProfile + resource.GlobalProfile, Values: map[string]any{
				"locale": "en_US.UTF-8", "mirror": "http://mirror.example/debian", "user": "admin", "password": "!", "timezone": "Etc/UTC",
				"packages": []any{"sudo", "curl", "lldpd"}, "keys": []any{"ssh-ed25519 AAAA first", "ssh-ed25519 AAAA second"},
			}},
		},
		Schemas: map[string]resource.ParamSpec{
			"disk":     {Name: "disk", Schema: map[string]any{"type": "string", "pattern": "^(/dev/[a-z0-9/-]+)?$"}},
			"packages": {Name: "packages", Schema: map[string]any{"type": "array", "items": map[string]any{"type": "string"}}},
		},
		Machine: resource.EnvMachine{
			Name: fmt.Sprintf("server-%04d", n), UID: fmt.Sprintf("00000000-0000-4000-8000-%012d", n), BootMAC: fmt.Sprintf("52:54:00:00:%02x:%02x", n>>8&0xff, n&0xff),
			Architecture: "amd64", Rack: "rack-a", Segment: "boot-a",
		},
	}
}

// made is all that rendering makes for one server.
func made(ctx context.Context, b resource.EnvBundle) (bytes int, err error) {
	e, err := bootenv.Merge(b)
	if err != nil {
		return 0, err
	}
	boot, err := e.Boot(ctx, "amd64-uefi-http", bootenv.Sample())
	if err != nil {
		return 0, err
	}
	tree, err := e.Render(ctx, bootenv.Sample())
	if err != nil {
		return 0, err
	}
	bytes = len(boot.CommandLine)
	for _, f := range tree.Files {
		bytes += len(f.Content)
	}
	return bytes, nil
}

// measureRender merges and renders an environment for each server, one after the other as
// an agent does that has one core for it.
func measureRender(ctx context.Context, p plan, r *benchreport.Report) error {
	var rates []float64
	var bytes int
	for range p.rounds {
		begun := time.Now()
		bytes = 0
		for n := range p.servers {
			one, err := made(ctx, debian(n))
			if err != nil {
				return err
			}
			bytes += one
		}
		rates = append(rates, float64(p.servers)/time.Since(begun).Seconds())
	}
	rate := benchreport.Median(rates)
	r.Add(
		benchreport.Figure{What: fmt.Sprintf("render for %d servers", p.servers), Subject: benchreport.Ours, Value: rate, Unit: "servers/s", Detail: fmt.Sprintf("%d bytes each", bytes/p.servers)},
		benchreport.Figure{What: fmt.Sprintf("render for %d servers", p.servers), Subject: benchreport.Ours, Value: 1000 * float64(p.servers) / rate, Unit: "ms for all"},
	)
	return nil
}
