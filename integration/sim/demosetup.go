package sim

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"rackboot/protocol/api"
)

// demoKey encrypts the demo's secrets, of which there are none.
const demoKey = "0101010101010101010101010101010101010101010101010101010101010101"

func (d *Demo) writeFiles() error {
	files := map[string]string{
		"hub.yaml": fmt.Sprintf("dataDir: %s\napi: %s\nmqtt: %s\nnames: [127.0.0.1]\nmetrics: %s\nsecrets: {keyFile: %s}\n%s",
			d.path("hub"), d.ports.api, d.ports.mqtt, d.ports.hubMetrics, d.path("secrets.key"), d.play.hub),
		"secrets.key": demoKey + "\n",
		"agent.yaml": fmt.Sprintf("dataDir: %s\ncredentialsDir: %s\nmetrics: %s\nlink:\n  firstDelay: 0s\nsegments:\n  - name: demo-boot\n    dhcp: %s\n    http: %s\n",
			d.path("agent"), d.path("credentials"), d.ports.agentMetrics, d.ports.dhcp, d.ports.http),
		"credentials/demo-bmc": "username: demo\npassword: demo\n",
	}
	for name, text := range files {
		if err := os.MkdirAll(filepath.Dir(d.path(name)), 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(d.path(name), []byte(text), 0o600); err != nil {
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
			if err := os.MkdirAll(d.path(dir), 0o700); err != nil {
				return err
			}
			if err := os.WriteFile(d.path(dir, path.Base(name)), []byte(text), 0o600); err != nil {
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
	values := map[string]string{"BASE_URL": "http://" + d.ports.http, "IMAGE": d.image, "REGISTRY": d.reg.Addr}
	expand := func() string { return os.Expand(string(raw), func(key string) string { return values[key] }) }
	if !strings.Contains(string(raw), "${SERVER}") {
		return expand(), nil
	}
	var each []string
	for i, s := range d.servers {
		values["SERVER"], values["MAC"] = s.Name, s.MAC
		values["BMC"] = fmt.Sprintf("bmc-%d", i+1)
		values["BMC_ADDRESS"], values["BMC_FINGERPRINT"] = s.BMC.Address(), s.BMC.Fingerprint()
		each = append(each, expand())
	}
	return strings.Join(each, "---\n"), nil
}

// startHub starts the hub and waits until it is ready.
func (d *Demo) startHub(ctx context.Context) (string, error) {
	p, err := StartProcess(d.path(fmt.Sprintf("hub-%d.log", time.Now().UnixNano())), filepath.Join(d.cfg.Bin, "rackboot-hub"), "run", "--config", d.path("hub.yaml"))
	if err != nil {
		return "", err
	}
	d.hub = p
	if err := until(ctx, func() (bool, error) {
		select {
		case <-p.Ended():
			return false, fmt.Errorf("the hub ended: %w", p.Stop())
		default:
		}
		if d.client == nil {
			ca, err := os.ReadFile(d.path("hub", "ca.pem"))
			if err != nil {
				return false, nil // not written yet
			}
			token, err := os.ReadFile(d.path("hub", "pki", "admin.token"))
			if err != nil {
				return false, nil // not written yet
			}
			if d.client, err = api.NewClient(api.Config{BaseURL: "https://" + d.ports.api, CA: ca, Token: strings.TrimSpace(string(token))}); err != nil {
				return false, err
			}
		}
		return d.client.Ready(ctx) == nil, nil
	}); err != nil {
		return "", err
	}
	return "https://" + d.ports.api, nil
}

// login makes a rackctl context of the demo's own.
func (d *Demo) login(ctx context.Context) (string, error) {
	_, err := d.rackctl(ctx, "context", "set", "demo", "--url", "https://"+d.ports.api, "--ca", d.path("hub", "ca.pem"), "--token-file", d.path("hub", "pki", "admin.token"))
	return "", err
}

// joinAgent runs the line that rackctl prints for joining, as it is but for the place of
// the agent's file, and starts the agent.
func (d *Demo) joinAgent(ctx context.Context) (string, error) {
	printed, err := d.rackctl(ctx, "rack", "join-token", "demo")
	if err != nil {
		return "", err
	}
	comment, line, ok := strings.Cut(strings.TrimSpace(printed), "\n")
	if !ok || !strings.HasPrefix(comment, "# ") {
		return "", fmt.Errorf("rackctl rack join-token printed no command: %q", printed)
	}
	script := fmt.Sprintf("PATH='%s':$PATH\n%s --config '%s'", d.cfg.Bin, line, d.path("agent.yaml"))
	if _, err := run(ctx, nil, "sh", "-c", script); err != nil {
		return "", err
	}
	return "agent demo-1", d.startAgent()
}

func (d *Demo) startAgent() (err error) {
	program := filepath.Join(d.cfg.Bin, "rackboot-agent")
	d.agent, err = StartProcess(d.path(fmt.Sprintf("agent-%d.log", time.Now().UnixNano())), program, "run", "--config", d.path("agent.yaml"))
	return err
}

// until looks at a condition until it is so, or ctx ends.
func until(ctx context.Context, so func() (bool, error)) error {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		ok, err := so()
		if ok || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}
