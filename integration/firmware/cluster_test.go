package firmware

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"rackboot/integration/netns"
	"rackboot/integration/sim"
	"rackboot/netboot/bootcert"
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
)

const (
	hubPort       = "8443" // of its API
	reference     = hubAddress + ":5000/os:1"
	diskMediaType = "application/vnd.rackboot.test.disk+gzip"
	diskA         = 64 << 20

	explainTimeout = 20 * time.Second
)

// rack is what differs between the racks.
type rack struct {
	letter string
	mac    string
	agent  *netns.Namespace
	bmc    *netns.Namespace // where the BMC, and a simulated server, are
}

func (s *site) racks() []rack {
	if s.alone {
		return []rack{{"a", macA, s.rackA, s.rackA}}
	}
	return []rack{{"a", macA, s.rackA, s.rackA}, {"b", macB, s.rackB, s.serverB}}
}

// expand writes a file of testdata into the run's folder with its values, and
// returns its path.
func (s *site) expand(t *testing.T, from, to string, values map[string]string) string {
	t.Helper()
	raw, err := os.ReadFile("testdata/" + from)
	if err != nil {
		t.Fatal(err)
	}
	s.write(t, to, os.Expand(string(raw), func(key string) string {
		if key == "DIR" {
			return s.dir
		}
		value, ok := values[key]
		if !ok {
			t.Fatalf("%s: no value for %s", from, key)
		}
		return value
	}))
	return s.path(to)
}

// buildPrograms builds the real programs.
func (s *site) buildPrograms(ctx context.Context, t *testing.T) {
	t.Helper()
	cmd := exec.CommandContext(ctx, "go", "build", "-o", s.dir+"/",
		"rackboot/cmd/rackboot-hub", "rackboot/cmd/rackboot-agent", "rackboot/cmd/rackctl", "rackboot/cmd/rackboot-sim")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("build the programs: %v\n%s", err, out)
	}
}

// startRegistry starts a registry on the hub's network and pushes the image.
func (s *site) startRegistry(ctx context.Context, t *testing.T, p payload) {
	t.Helper()
	// A layer that is no boot artefact goes along, as images have them.
	s.serveImages(ctx, t, map[string]string{reference: p.installer}, sim.Layer{MediaType: diskMediaType, Content: p.disk})
}

// serveImages starts a registry with the images of UKIs, whose paths are by reference.
func (s *site) serveImages(ctx context.Context, t *testing.T, ukis map[string]string, more ...sim.Layer) {
	t.Helper()
	images := map[string][]sim.Layer{}
	for ref, path := range ukis {
		images[ref] = append([]sim.Layer{layer(t, sim.UKIMediaType, path)}, more...)
	}
	s.serveLayers(ctx, t, images)
}

// layer is a file as a layer of an image.
func layer(t *testing.T, mediaType, path string) sim.Layer {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return sim.Layer{MediaType: mediaType, Content: content}
}

// serveLayers starts a registry with images, whose layers are by reference.
func (s *site) serveLayers(ctx context.Context, t *testing.T, images map[string][]sim.Layer) {
	t.Helper()
	config := s.expand(t, "registry.yaml", "registry.yaml", nil)
	s.start(t, s.hub, "registry", false, unpacked(t, "usr/bin/docker-registry"), "serve", config)
	transport := s.atHub()
	defer transport.CloseIdleConnections()
	client := http.Client{Transport: transport}
	s.until(ctx, t, time.Minute, "registry serves", func(ctx context.Context) (bool, error) {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+hubAddress+":5000/v2/", nil)
		if err != nil {
			return false, err
		}
		answer, err := client.Do(r)
		if err != nil {
			return false, nil // not listening yet
		}
		return answer.StatusCode == http.StatusOK, answer.Body.Close()
	})
	for ref, layers := range images {
		if err := sim.Push(ctx, ref, transport, layers...); err != nil {
			t.Fatalf("push %s: %v", ref, err)
		}
	}
	s.logf(t, "images pushed")
}

// atHub dials from the hub's network.
func (s *site) atHub() *http.Transport {
	return &http.Transport{DialContext: func(ctx context.Context, network, address string) (c net.Conn, err error) {
		err = s.hub.Do(func() error {
			c, err = (&net.Dialer{}).DialContext(ctx, network, address)
			return err
		})
		return c, err
	}}
}

// startHub starts the hub and gives rackctl its context.
func (s *site) startHub(ctx context.Context, t *testing.T) {
	t.Helper()
	s.startHubAt(ctx, t, "hub", hubPort, "8883")
	t.Cleanup(func() { s.explain(t) })
}

// startHubAt starts a hub in a folder of its name, whom rackctl talks to from then on.
func (s *site) startHubAt(ctx context.Context, t *testing.T, name, api, mqtt string) {
	t.Helper()
	s.write(t, "secrets.key", strings.Repeat("5e", 32)+"\n")
	config := s.expand(t, "hub.yaml", name+".yaml", map[string]string{"NAME": name, "API": api, "MQTT": mqtt, "HUB_MORE": s.hubMore})
	s.start(t, s.hub, name, false, s.path("rackboot-hub"), "run", "--config", config, "--log-level", "debug")
	s.until(ctx, t, time.Minute, name+" serves", func(context.Context) (bool, error) {
		return strings.Contains(s.read(name+".log"), "msg=ready"), nil
	})
	s.rackctl(ctx, t, "context", "set", name, "--url", "https://"+hubAddress+":"+api,
		"--ca", s.path(name, "ca.pem"), "--token-file", s.path(name, "pki", "admin.token"))
	s.rackctl(ctx, t, "context", "use-context", name)
}

// explain keeps what the hub knows when the test has failed.
func (s *site) explain(t *testing.T) {
	if !t.Failed() {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), explainTimeout)
	defer cancel()
	for file, args := range map[string][]string{
		"events.txt": {"events"}, "servers.yaml": {"get", "servers", "-o", "yaml"}, "claims.yaml": {"get", "claims", "-o", "yaml"},
	} {
		out, err := s.output(ctx, s.hub, s.path("rackctl"), args...)
		if err != nil {
			t.Logf("rackctl %s: %v", strings.Join(args, " "), err)
		}
		s.write(t, file, out)
	}
}

// startMachines starts the simulated BMCs and applies the racks' resources.
func (s *site) startMachines(ctx context.Context, t *testing.T) {
	t.Helper()
	s.write(t, "credentials/bmc", "username: admin\npassword: simulated\n")
	disk, err := os.Create(s.path("disk-a.raw"))
	if err != nil {
		t.Fatal(err)
	}
	if err := disk.Truncate(cmp.Or(s.disk, diskA)); err != nil {
		t.Fatal(err)
	}
	if err := disk.Close(); err != nil {
		t.Fatal(err)
	}
	for _, r := range s.racks() {
		values := map[string]string{"R": r.letter, "MAC": r.mac, "IMAGE": reference, "MEMORY": strconv.Itoa(s.memory), "SECURE": strconv.FormatBool(s.secure), "AUTHORITIES": "", "BASE": "http://" + bootAddress + ":8080"}
		if s.certs != "" {
			_, values["AUTHORITIES"], _ = bootcert.Folder(s.certs).Enrolled()
			values["BASE"] = "https://" + bootAddress + ":8443"
		}
		file := "machines-" + r.letter + ".yaml"
		// In a process namespace of its own, QEMU ends with it in any case.
		p := s.start(t, r.bmc, "sim-"+r.letter, true, s.path("rackboot-sim"), "rack", "--config", s.expand(t, file, file, values))
		var m sim.MachineAddress
		s.until(ctx, t, time.Minute, "BMC of rack "+r.letter+" serves", func(context.Context) (bool, error) {
			line, rest, whole := strings.Cut(s.read("sim-"+r.letter+".out"), "\n")
			if !whole {
				return false, nil
			}
			if rest != "" {
				return false, fmt.Errorf("%s says more than one line", p.name)
			}
			return true, json.Unmarshal([]byte(line), &m)
		})
		values["BMC_ADDRESS"], values["BMC_FINGERPRINT"] = m.Address, m.Fingerprint
		s.rackctl(ctx, t, "apply", "-f", s.expand(t, "rack.yaml", "rack-"+r.letter+".yaml", values))
		s.expand(t, "claim.yaml", "claim-"+r.letter+".yaml", values)
	}
}

// startAgents joins and starts the agents.
func (s *site) startAgents(ctx context.Context, t *testing.T) {
	t.Helper()
	for _, r := range s.racks() {
		s.startAgent(ctx, t, r, "agent-"+r.letter, "hub", hubPort)
	}
	if s.discovers {
		return // its servers are Available later
	}
	for _, r := range s.racks() {
		s.rackctl(ctx, t, "wait", "server/server-"+r.letter, "--for", "phase=Available", "--timeout", "2m")
		s.logf(t, "server-%s is Available", r.letter)
	}
}

// startAgent joins an agent with a folder of its name to the rack of a hub, and starts it.
func (s *site) startAgent(ctx context.Context, t *testing.T, r rack, name, hub, api string) {
	t.Helper()
	config := s.expand(t, cmp.Or(s.agentFile, "agent.yaml"), name+".yaml", map[string]string{
		"R": r.letter, "NAME": name,
		"SHIM": loaderOf(t, "bookworm-amd64", "usr/lib/shim"), "GRUB": loaderOf(t, "trixie-amd64", "usr/lib/grub/x86_64-efi-signed"),
	})
	token := strings.TrimSpace(s.rackctl(ctx, t, "rack", "join-token", "rack-"+r.letter, "-o", "name"))
	if out, err := s.output(ctx, r.agent, s.path("rackboot-agent"), "join", "--config", config, "--hub", "https://"+hubAddress+":"+api,
		"--ca", s.path(hub, "ca.pem"), "--token", token); err != nil {
		t.Fatalf("agent of rack %s joins: %v\n%s", r.letter, err, out)
	}
	s.start(t, r.agent, name, false, s.path("rackboot-agent"), "run", "--config", config, "--log-level", "debug")
}

// rackctl runs rackctl at the hub, as a person would.
func (s *site) rackctl(ctx context.Context, t *testing.T, args ...string) string {
	t.Helper()
	out, err := s.output(ctx, s.hub, s.path("rackctl"), args...)
	if err != nil {
		t.Fatalf("rackctl %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return out
}

// failures are the events that must not happen.
func failures() []resource.EventCode {
	return []resource.EventCode{
		resource.EventAttemptFailed, resource.EventHoldViolated, resource.EventUnexpected, resource.EventMismatch, resource.EventLost,
	}
}

// event waits until a server has had an event so many times. A boot that failed or
// a hold that was broken ends the test.
func (s *site) event(ctx context.Context, t *testing.T, limit time.Duration, server string, code resource.EventCode, times int) {
	t.Helper()
	s.until(ctx, t, limit, fmt.Sprintf("%s: %s %d", server, code, times), func(ctx context.Context) (bool, error) {
		out, err := s.output(ctx, s.hub, s.path("rackctl"), "events", "-o", "json")
		if err != nil {
			return false, err
		}
		var list api.EventList
		if err := json.Unmarshal([]byte(out), &list); err != nil {
			return false, err
		}
		n := 0
		for _, e := range list.Items {
			// The probe is a boot from the network that nobody ordered, and noticed as such.
			if slices.Contains(failures(), e.Code) && (!s.probed || e.Code != resource.EventMismatch) && (!s.meddled || e.Code != resource.EventUnexpected) {
				return false, fmt.Errorf("%s of %s: %s", e.Code, e.Server, e.Message)
			}
			if e.Code == code && e.Server == server {
				n++
			}
		}
		if n > times {
			return false, fmt.Errorf("%s of %s %d times, want %d", code, server, n, times)
		}
		return n == times, nil
	})
}

// metric is a value of an agent's metrics page; 0 if it is not there.
func (s *site) metric(ctx context.Context, t *testing.T, ns *netns.Namespace, series string) string {
	t.Helper()
	var body strings.Builder
	err := ns.Do(func() error {
		c, err := (&net.Dialer{}).DialContext(ctx, "tcp4", "127.0.0.1:9100")
		if err != nil {
			return err
		}
		defer c.Close()
		if _, err := fmt.Fprint(c, "GET /metrics HTTP/1.0\r\nHost: localhost\r\n\r\n"); err != nil {
			return err
		}
		_, err = bufio.NewReader(c).WriteTo(&body)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(body.String()) {
		if value, ok := strings.CutPrefix(line, series+" "); ok {
			return strings.TrimSpace(value)
		}
	}
	return "0"
}
