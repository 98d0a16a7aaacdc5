package sim

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// demoKey encrypts the demo's secrets, of which there are none.
const demoKey = "0101010101010101010101010101010101010101010101010101010101010101"

func (d *Demo) writeFiles() error {
	files := map[string]string{
		"hub.yaml": fmt.Sprintf("dataDir: %s\napi: %s\nmqtt: %s\nnames: [127.0.0.1]\nmetrics: %s\nsecrets: {keyFile: %s}\n%s",
			d.site.path("hub"), d.site.ports.api, d.site.ports.mqtt, d.site.ports.hubMetrics, d.site.path("secrets.key"), d.play.hub),
		"secrets.key": demoKey + "\n",
		"agent.yaml": fmt.Sprintf("dataDir: %s\ncredentialsDir: %s\nmetrics: %s\nlink:\n  firstDelay: 0s\nsegments:\n  - name: demo-boot\n    dhcp: %s\n    http: %s\n",
			d.site.path("agent"), d.site.path("credentials"), d.site.ports.agentMetrics, d.site.ports.dhcp, d.site.ports.http),
		"credentials/demo-bmc": "username: demo\npassword: demo\n",
	}
	for name, text := range files {
		if err := os.MkdirAll(filepath.Dir(d.site.path(name)), 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(d.site.path(name), []byte(text), 0o600); err != nil {
			return err
		}
	}
	return d.writeManifests()
}

// claimFile is the manifest that is not applied with the others.
const claimFile = "claim.yaml"

// writeManifests fills in what is only known now: ports and fingerprints. What stands in the
// folder of a scenario takes the place of what has its name above.
func (d *Demo) writeManifests() error {
	written := false
	for _, folder := range []string{".", d.cfg.Scenario} {
		if folder == "" {
			continue
		}
		names, err := fs.Glob(d.cfg.Manifests, path.Join(folder, "*.yaml"))
		if err != nil {
			return err
		}
		for _, name := range names {
			text, err := d.manifest(name)
			if err != nil {
				return err
			}
			dir := "manifests"
			switch {
			case path.Base(name) == claimFile:
				dir = "claim"
			case folder != ".":
				dir = "scenario"
			}
			if err := os.MkdirAll(d.site.path(dir), 0o700); err != nil {
				return err
			}
			if err := os.WriteFile(d.site.path(dir, path.Base(name)), []byte(text), 0o600); err != nil {
				return err
			}
			written = true
		}
	}
	if !written {
		return fmt.Errorf("there is no manifest (*.yaml) in the folder")
	}
	return nil
}

// manifest is a manifest with its values. One that has ${SERVER} is of each server.
func (d *Demo) manifest(name string) (string, error) {
	raw, err := fs.ReadFile(d.cfg.Manifests, name)
	if err != nil {
		return "", err
	}
	values := map[string]string{"BASE_URL": "http://" + d.site.ports.http, "IMAGE": d.image, "REGISTRY": d.rack.reg.Addr}
	expand := func() string { return os.Expand(string(raw), func(key string) string { return values[key] }) }
	if !strings.Contains(string(raw), "${SERVER}") {
		return expand(), nil
	}
	var each []string
	for i, s := range d.rack.servers {
		values["SERVER"], values["MAC"] = s.Name, s.MAC
		values["BMC"] = fmt.Sprintf("bmc-%d", i+1)
		values["BMC_ADDRESS"], values["BMC_FINGERPRINT"] = s.BMC.Address(), s.BMC.Fingerprint()
		each = append(each, expand())
	}
	return strings.Join(each, "---\n"), nil
}
