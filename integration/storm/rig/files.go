package rig

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
)

// RackName is the only rack.
const RackName = "storm"

// write writes the files of all programs.
func (s *Site) write() error {
	var agent strings.Builder
	fmt.Fprintf(&agent, "dataDir: %s\ncredentialsDir: %s\nsocket: %s\nlink:\n  firstDelay: 0s\nsegments:\n", s.AgentData(), s.path("credentials"), s.path("agent.sock"))
	files := map[string]string{
		"hub.yaml": fmt.Sprintf("dataDir: %s\napi: %s\nmqtt: %s\nnames: [127.0.0.1]\nendpoints:\n  brokers: [\"mqtts://%s\"]\n  api: [\"https://%s\"]\n",
			s.HubData(), s.ports["api"], s.ports["mqtt"], s.ports["mqtt-wire"], s.ports["api-wire"]),
		"credentials/bmc": "username: storm\npassword: storm-password\n",
		"site/rack.yaml": manifest(resource.KindRack, RackName, `
  softTimeout: 2s
  settleWindow: 1s
  pollInterval: 500ms`),
	}
	for _, v := range s.Servers {
		fmt.Fprintf(&agent, "  - name: boot-%s\n    dhcp: %s\n    http: %s\n", v.Name, v.dhcp, v.http)
		files[v.Name+".yaml"] = fmt.Sprintf(`machines:
  - name: %s
    kind: simulated
    mac: %s
    bmc: %s
    credentials: %s
    dhcp: %s
    log: %s
    speed: 20
    post: 300ms
    install: 200ms
    shutdown: 200ms
    live: %t
`, v.Name, v.MAC, v.bmc, s.path("credentials/bmc"), v.dhcp, v.log, v.grouped)
		files["site/"+v.Name+".yaml"] = s.server(v)
	}
	files["agent.yaml"] = agent.String()
	for name, text := range files {
		if err := os.MkdirAll(filepath.Dir(s.path(name)), 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(s.path(name), []byte(text), 0o600); err != nil {
			return err
		}
	}
	return nil
}

func manifest(kind resource.Kind, name, spec string) string {
	return fmt.Sprintf("apiVersion: %s\nkind: %s\nmetadata:\n  name: %s\nspec:%s\n", resource.APIVersion, kind, name, spec)
}

// labelled is a manifest with the group's label, where it is the group's.
func labelled(kind resource.Kind, name string, grouped bool, spec string) string {
	label := ""
	if grouped {
		label = "\n  labels: {group: " + GroupName + "}"
	}
	return fmt.Sprintf("apiVersion: %s\nkind: %s\nmetadata:\n  name: %s%s\nspec:%s\n", resource.APIVersion, kind, name, label, spec)
}

// GroupName is the only group.
const GroupName = "storm"

// Group writes the manifest of the group with one of the two images, and returns its path.
func (s *Site) Group(image int) (string, error) {
	path := s.path("group.yaml")
	return path, os.WriteFile(path, []byte(manifest(resource.KindServerGroup, GroupName, fmt.Sprintf(`
  selector: {matchLabels: {group: %s}}
  catalogue: none
  image: %s
  architectures: [amd64]
  bootPolicy: {firstBoot: UefiHttp, boot: Network}
  rollout: {strategy: Reboot, canary: {count: 1}, maxUnavailable: "1", maxFailures: 1, deadline: 1m, soak: 1s, onFailure: Pause}`,
		GroupName, s.images[image%len(s.images)]))), 0o600)
}

// server are the manifests of a server: its network, its BMC and itself.
func (s *Site) server(v *Server) string {
	return strings.Join([]string{
		manifest(resource.KindSegment, "boot-"+v.Name, fmt.Sprintf(`
  rackRef: {name: %s}
  prefix: 127.0.0.0/8
  pool: {from: 127.77.0.10, to: 127.77.0.99}
  address: 127.0.0.1
  baseURL: http://%s`, RackName, v.http)),
		manifest(resource.KindBMC, "bmc-"+v.Name, fmt.Sprintf(`
  rackRef: {name: %s}
  address: https://%s
  credentialsRef: local:bmc
  tls:
    fingerprint: %s`, RackName, v.Front.listener.Addr(), s.fingerprint)),
		labelled(resource.KindServer, v.Name, v.grouped, fmt.Sprintf(`
  bmcRef: {name: bmc-%s}
  segmentRef: {name: boot-%s}
  bootMAC: "%s"`, v.Name, v.Name, v.MAC)),
	}, "---\n")
}

// ClaimName is the name of a server's claim.
func ClaimName(server string) string { return "claim-" + server }

// Claim writes the manifest of a server's claim and returns its path.
func (s *Site) Claim(server string) (string, error) {
	boots := "image: " + s.images[0] + "\n  bootPolicy: {firstBoot: UefiHttp, boot: Hdd}"
	for _, v := range s.Servers {
		if v.Name == server && v.grouped {
			boots = "imageFrom: {group: " + GroupName + "}\n  bootPolicy: {firstBoot: UefiHttp, boot: Network}"
		}
	}
	path := s.path(ClaimName(server) + ".yaml")
	return path, os.WriteFile(path, []byte(manifest(resource.KindClaim, ClaimName(server), fmt.Sprintf(`
  serverRef: {name: %s}
  power: "On"
  %s`, server, boots))), 0o600)
}

// join makes the rack known, and the agent its agent.
func (s *Site) join(ctx context.Context) error {
	known := func(name, at string) []string {
		return []string{"context", "set", name, "--url", "https://" + at, "--ca", filepath.Join(s.HubData(), "ca.pem"), "--token-file", filepath.Join(s.HubData(), "pki", "admin.token")}
	}
	steps := [][]string{known("storm", s.ports["api"])} // the first is the one that is used
	if s.Several != nil {
		for _, h := range s.Several.Hubs {
			steps = append(steps, known(h.Name, h.api))
		}
	}
	steps = append(steps, [][]string{
		{"apply", "-f", s.path("site")},
		{"rack", "join-token", RackName, "-o", "name"},
	}...)
	token := ""
	for _, args := range steps {
		out, errs, code := s.Rackctl(ctx, args...)
		if code != 0 {
			return fmt.Errorf("rackctl %s: exit code %d: %s", strings.Join(args, " "), code, errs)
		}
		token = strings.TrimSpace(out)
	}
	out, errs, code := run(ctx, nil, s.program("rackboot-agent"), "join", "--config", s.path("agent.yaml"), "--hub", "https://"+s.ports["api-wire"],
		"--ca", filepath.Join(s.HubData(), "ca.pem"), "--token", token)
	if code != 0 {
		return fmt.Errorf("rackboot-agent join: exit code %d: %s%s", code, out, errs)
	}
	return nil
}

// allRead reports whether the agent has read every server.
func (s *Site) allRead(ctx context.Context) error {
	list, err := api.GetAll[*resource.Server](ctx, s.Client)
	if err != nil {
		return err
	}
	for _, v := range list {
		if v.Status.Phase != resource.PhaseAvailable || v.Status.Report == nil || v.Status.Report.Observation.Power != protocol.PowerOff {
			return fmt.Errorf("%s is not Available and Off", v.Metadata.Name)
		}
	}
	if len(list) != len(s.Servers) {
		return fmt.Errorf("%d servers, want %d", len(list), len(s.Servers))
	}
	return nil
}
