package guard

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	agent "rackboot/agent/daemon"
	hub "rackboot/hub/daemon"
	"rackboot/integration/fleet"
	"rackboot/protocol/resource"
)

// Every file of configs/ is read by what will read it, or by rules of its kind;
// a file of no kind fails.
func TestConfigs(t *testing.T) {
	kinds := map[string]func(*testing.T, string){
		"agent.yaml": func(t *testing.T, p string) {
			if _, err := agent.LoadConfig(p); err != nil {
				t.Error(err)
			}
		},
		"hub.yaml": func(t *testing.T, p string) {
			if _, err := hub.LoadConfig(p); err != nil {
				t.Error(err)
			}
		},
		"bmc/*.yaml":           checkManifest,
		"segments/*.yaml":      checkManifest,
		"discovery/*.yaml":     checkManifest,
		"userdata/*.yaml":      checkManifest,
		"maintenance/*.yaml":   checkManifest,
		"freeze/*.yaml":        checkManifest,
		"agentupgrades/*.yaml": checkManifest,
		"inrush/*.yaml":        checkManifest,
		"firmware/*.yaml":      checkManifest,
		"groups/*.yaml":        checkManifest,
		"images/*.yaml":        checkManifest,
		// The simulator itself reads both, in integration/sim.
		"sim/*.yaml": func(t *testing.T, p string) { yamlFile[any](t, p) },
		"sim/*.json": func(t *testing.T, p string) { yamlFile[any](t, p) },
		"sim/*.script": func(t *testing.T, p string) {
			if _, err := fleet.ParseScript([]byte(read(t, p))); err != nil {
				t.Error(err)
			}
		},
		// What reads manifests reads them too, in cmd/internal/manifest.
		"schemas/*.json": func(t *testing.T, p string) { yamlFile[any](t, p) },
		"demo/*/*.yaml":  func(t *testing.T, p string) { yamlFile[any](t, p) },
		"demo/*.yaml":    func(t *testing.T, p string) { yamlFile[any](t, p) },
		"credentials/*": func(t *testing.T, p string) {
			for _, c := range yamlFile[struct{ Username, Password string }](t, p) {
				if c.Username == "" || c.Password == "" {
					t.Error("no username or password")
				}
			}
		},
		// The brokers themselves read them, in integration/brokers.
		"brokers/*":              checkBroker,
		"prometheus/scrape.yaml": func(t *testing.T, p string) { yamlFile[scrape](t, p) },
		"prometheus/rules.yaml":  func(t *testing.T, p string) { checkRules(t, yamlFile[rules](t, p)) },
		// Prometheus reads them, in integration/site.
		"prometheus/remote-write.yaml": func(t *testing.T, p string) { yamlFile[any](t, p) },
		"prometheus/rules_test.yaml":   func(t *testing.T, p string) { yamlFile[any](t, p) },
		"grafana/*.json":               checkDashboard,
		"systemd/*.service":            checkUnit,
		"sysusers.d/*.conf":            checkSysusers,
		"tmpfiles.d/*.conf":            checkTmpfiles,
		"report/*":                     checkReport,
		"bootenvs/*.yaml":              checkManifest,
		"bootenvs/testdata/*.txt": func(t *testing.T, p string) {
			if _, err := os.Stat("configs/bootenvs/" + strings.TrimSuffix(filepath.Base(p), ".txt") + ".yaml"); err != nil {
				t.Errorf("it is of no environment: %v", err)
			}
		},
	}
	matched := map[string]int{}
	for p := range files(t, func(p string) bool { return strings.HasPrefix(p, "configs/") && path.Ext(p) != ".go" }) {
		found := ""
		for pattern := range kinds {
			if ok, err := path.Match("configs/"+pattern, p); err != nil {
				t.Fatal(err)
			} else if ok {
				found = pattern
			}
		}
		if found == "" {
			t.Errorf("%s: nothing reads it", p)
			continue
		}
		matched[found]++
		t.Run(strings.TrimPrefix(p, "configs/"), func(t *testing.T) { kinds[found](t, p) })
	}
	for pattern := range kinds {
		if matched[pattern] == 0 {
			t.Errorf("configs/%s matches nothing", pattern)
		}
	}
}

// checkManifest wants resources that the hub would take, one by one.
func checkManifest(t *testing.T, p string) {
	for _, doc := range yamlFile[map[string]any](t, p) {
		kind, _ := resource.ParseKind(fmt.Sprint(doc["kind"]))
		obj := resource.NewObject(kind)
		raw, err := json.Marshal(doc)
		if err != nil || obj == nil {
			t.Fatalf("a document of kind %v: %v", doc["kind"], err)
		}
		d := json.NewDecoder(bytes.NewReader(raw))
		d.DisallowUnknownFields()
		if err := d.Decode(obj); err != nil {
			t.Fatal(err)
		}
		obj.Default()
		if wrong := obj.Validate(); len(wrong) > 0 {
			t.Errorf("%s %s: %v", kind, obj.Head().Metadata.Name, wrong)
		}
	}
}

// checkBroker wants what keeps strangers out: a broker that lacks it runs as well.
func checkBroker(t *testing.T, p string) {
	raw, err := os.ReadFile(p)
	if err != nil {
		t.Fatal(err)
	}
	text := string(raw)
	wanted := map[string][]string{
		"mosquitto.conf": {"\nrequire_certificate true\n", "\nallow_anonymous false\n", "\nacl_file "},
		"mosquitto.acl":  {"\nuser rackboot.hub\n", "\npattern write rb/v1/a/%u/u/#\n"},
		"nats.conf":      {`accounts { include "rackboot-accounts.conf" }`, "verify_and_map: true", "stream_replicas: 3", "default_max_consumers: -1"},
		// hub/accounts has it the same as what is printed.
		"rackboot-accounts.conf": {`user: "CN=rackboot.hub"`, `allowed_connection_types: ["MQTT"]`},
	}[filepath.Base(p)]
	if len(wanted) == 0 {
		t.Error("no test says what it must have")
	}
	for _, want := range wanted {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing", want)
		}
	}
}

// yamlFile reads the documents of a file; an unknown field is an error.
func yamlFile[T any](t *testing.T, p string) []T {
	t.Helper()
	f, err := os.Open(p)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var all []T
	for d := yaml.NewDecoder(f, yaml.Strict()); ; {
		var v T
		if err := d.Decode(&v); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, v)
	}
	if len(all) == 0 {
		t.Error("no document")
	}
	return all
}

type scrape struct {
	ScrapeConfigs []struct {
		JobName       string `yaml:"job_name"`
		StaticConfigs []struct {
			Targets []string
			Labels  map[string]string
		} `yaml:"static_configs"`
		HTTPSDConfigs []struct{ URL string } `yaml:"http_sd_configs"`
	} `yaml:"scrape_configs"`
}

type rules struct {
	Groups []struct {
		Name  string
		Rules []struct {
			Alert, Expr, For    string
			Labels, Annotations map[string]string
		}
	}
}

// checkRules judges the metrics and the condition codes that rules name.
func checkRules(t *testing.T, all []rules) {
	t.Helper()
	var code strings.Builder
	for _, s := range sources(t, func(p string) bool { return !isTest(p) }) {
		code.Write(s.text)
	}
	var codes []string
	for _, c := range resource.Conditions() {
		codes = append(codes, string(c.Code))
	}
	alerts := 0
	for _, group := range all[0].Groups {
		for _, r := range group.Rules {
			alerts++
			if r.Annotations["summary"] == "" || r.Annotations["description"] == "" || r.Labels["severity"] == "" {
				t.Errorf("%s: say what is so, what to do and how bad it is", r.Alert)
			}
			for _, m := range metricsIn(r.Expr) {
				if !madeIn(code.String(), m) {
					t.Errorf("%s: no code makes %s", r.Alert, m)
				}
			}
			checkOutcomes(t, r.Alert, r.Expr)
			for _, m := range regexp.MustCompile(`code="(\w+)"`).FindAllStringSubmatch(r.Expr, -1) {
				if !slices.Contains(codes, m[1]) {
					t.Errorf("%s: no condition has the code %s", r.Alert, m[1])
				}
			}
		}
	}
	if alerts == 0 {
		t.Error("no rule")
	}
}

func metricsIn(expr string) []string {
	return regexp.MustCompile(`rackboot_[a-z_]+`).FindAllString(expr, -1)
}

// madeIn reports whether code names a metric, in full or after the prefix that
// its package puts before it.
func madeIn(code, metric string) bool {
	for _, prefix := range []string{"", "rackboot_", "rackboot_agent_", "rackboot_broker_"} {
		if rest, ok := strings.CutPrefix(metric, prefix); ok && strings.Contains(code, `"`+rest+`"`) {
			return true
		}
	}
	return false
}

// checkUnit judges a systemd unit: it starts one of our programs with a flag that
// the program has, and with few rights.
func checkUnit(t *testing.T, p string) {
	text, err := os.ReadFile(p)
	if err != nil {
		t.Fatal(err)
	}
	values := map[string]string{}
	for i, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		if strings.HasPrefix(line, "#") {
			continue
		}
		key, value, ok := strings.Cut(line, "=")
		if !ok && line != "" && !strings.HasPrefix(line, "[") {
			t.Errorf("line %d: %q is not key=value", i+1, line)
		}
		values[key] = value
	}
	name := strings.TrimSuffix(filepath.Base(p), ".service")
	if _, err := os.Stat(filepath.Join("cmd", name)); err != nil {
		t.Errorf("no program has the unit's name: %v", err)
	}
	file := strings.TrimPrefix(name, "rackboot-") + ".yaml"
	program := name
	if name == "rackboot-agent" {
		program = "rackboot-launcher" // which starts it with the same arguments
	}
	if want := "/usr/bin/" + program + " run --config /etc/rackboot/" + file + " "; !strings.HasPrefix(values["ExecStart"], want) {
		t.Errorf("ExecStart is %q, want %q", values["ExecStart"], want)
	}
	if raw, err := os.ReadFile(filepath.Join("configs", file)); err != nil || !strings.Contains(string(raw), "dataDir: /var/lib/"+values["StateDirectory"]+"\n") {
		t.Errorf("StateDirectory %q is not the dataDir of configs/%s (%v)", values["StateDirectory"], file, err)
	}
	for capability := range strings.FieldsSeq(values["CapabilityBoundingSet"]) {
		if capability != "CAP_NET_BIND_SERVICE" && capability != "CAP_NET_RAW" {
			t.Errorf("%s is not needed", capability)
		}
	}
	for _, key := range []string{"NoNewPrivileges", "ProtectSystem", "ProtectHome", "CapabilityBoundingSet", "SystemCallFilter", "User", "LimitCORE", "LimitNOFILE"} {
		if values[key] == "" {
			t.Errorf("%s is missing", key)
		}
	}
}

// checkSysusers wants the user that the unit of the same name runs as, with the folder of
// its state as home.
func checkSysusers(t *testing.T, p string) {
	name := strings.TrimSuffix(filepath.Base(p), ".conf")
	want := regexp.MustCompile(`(?m)^u ` + name + ` - "[^"]+" /var/lib/` + name + `$`)
	if text := read(t, p); !want.MatchString(text) {
		t.Errorf("%q has no %s", text, want)
	}
	if unit := read(t, "configs/systemd/"+name+".service"); !strings.Contains(unit, "\nUser="+name+"\nGroup="+name+"\n") {
		t.Errorf("the unit runs as another user than %s", name)
	}
}

// checkTmpfiles wants folders, and that of the daemon's state for the daemon only.
func checkTmpfiles(t *testing.T, p string) {
	name := strings.TrimSuffix(filepath.Base(p), ".conf")
	text := read(t, p)
	for line := range strings.Lines(text) {
		if fields := strings.Fields(line); fields[0] != "#" && (len(fields) != 6 || fields[0] != "d" || !strings.HasPrefix(fields[1], "/")) {
			t.Errorf("%q is no folder", line)
		}
	}
	if want := "\nd /var/lib/" + name + " 0700 " + name + " " + name + " -\n"; !strings.Contains(text, want) {
		t.Errorf("%q is missing", want)
	}
}
