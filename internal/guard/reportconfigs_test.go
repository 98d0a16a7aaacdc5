package guard

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"rackboot/netboot/probe"
	"rackboot/protocol"
)

// checkReport judges a snippet by which an image reports: it is what its reader reads,
// its shell is shell, it reports a state that there is, and the probe takes its flags.
func checkReport(t *testing.T, p string) {
	raw, err := os.ReadFile(p)
	if err != nil {
		t.Fatal(err)
	}
	for _, script := range scriptsOf(t, p, raw) {
		cmd := exec.CommandContext(t.Context(), "sh", "-n")
		cmd.Stdin = strings.NewReader(script)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%v: %s\n%s", err, out, script)
		}
	}
	report(t, reportProblems(string(raw)))
}

// reportProblems judges what a snippet reports.
func reportProblems(text string) (problems []string) {
	states := regexp.MustCompile(`\breport/([a-z]+)`).FindAllStringSubmatch(text, -1)
	for _, m := range states {
		if _, ok := protocol.ParseProbeState(m[1]); !ok {
			problems = append(problems, m[1]+" is no state of a report")
		}
	}
	calls := regexp.MustCompile(`/rackboot-probe\b(.*)`).FindAllStringSubmatch(text, -1)
	for _, m := range calls {
		args := strings.Fields(strings.NewReplacer(",", " ", "]", " ").Replace(m[1]))
		if cfg, err := probe.Parse(args, io.Discard); err != nil {
			problems = append(problems, err.Error())
		} else if cfg.State == "" {
			problems = append(problems, "rackboot-probe has no mode")
		}
	}
	if len(states)+len(calls) == 0 {
		problems = append(problems, "it reports nothing")
	}
	for _, m := range regexp.MustCompile(`-d '([^']*)'`).FindAllStringSubmatch(text, -1) {
		if _, err := protocol.DecodeProbeReport([]byte(m[1]), protocol.ProbeFailed); err != nil {
			problems = append(problems, err.Error())
		}
	}
	return problems
}

// unit is what Butane and Ignition have of systemd.
type unit struct {
	Name     string
	Enabled  bool
	Contents string
}

// scriptsOf reads a snippet as its reader does, and returns the shell in it.
func scriptsOf(t *testing.T, p string, raw []byte) (scripts []string) {
	t.Helper()
	switch name := filepath.Base(p); name {
	case "report.bu":
		for _, d := range yamlFile[struct {
			Variant, Version string
			Systemd          struct{ Units []unit }
		}](t, p) {
			return unitScripts(t, d.Systemd.Units)
		}
	case "report.ign":
		var d struct {
			Ignition struct{ Version string }
			Systemd  struct{ Units []unit }
		}
		r := json.NewDecoder(bytes.NewReader(raw))
		r.DisallowUnknownFields()
		if err := r.Decode(&d); err != nil || !strings.HasPrefix(d.Ignition.Version, "3.") {
			t.Fatalf("version %q, %v", d.Ignition.Version, err)
		}
		return unitScripts(t, d.Systemd.Units)
	case "autoinstall.yaml":
		for _, d := range yamlFile[struct {
			Autoinstall struct {
				Version int
				Late    []string `yaml:"late-commands"`
				Error   []string `yaml:"error-commands"`
			}
		}](t, p) {
			return append(d.Autoinstall.Late, d.Autoinstall.Error...)
		}
	case "cloud-init.yaml":
		if !bytes.HasPrefix(raw, []byte("#cloud-config\n")) {
			t.Error("cloud-init passes it over: the first line is not #cloud-config")
		}
		for _, d := range yamlFile[struct{ Runcmd [][]string }](t, p) {
			for _, c := range d.Runcmd {
				scripts = append(scripts, strings.Join(c, " "))
			}
		}
	case "preseed.cfg":
		text := strings.ReplaceAll(string(raw), "\\\n", "")
		for line := range strings.SplitSeq(text, "\n") {
			if _, script, ok := strings.Cut(line, "late_command string "); ok {
				scripts = append(scripts, script)
			} else if line != "" && !strings.HasPrefix(line, "#") && len(strings.Fields(line)) < 4 {
				t.Errorf("%q is not owner, question, type, value", line)
			}
		}
	case "kickstart.cfg":
		sections := regexp.MustCompile(`(?ms)^%(post|onerror)[^\n]*\n(.*?)^%end$`).FindAllStringSubmatch(string(raw), -1)
		for _, m := range sections {
			scripts = append(scripts, m[2])
		}
		if n := strings.Count(string(raw), "\n%end"); n != len(sections) {
			t.Errorf("%d sections, %d ends", len(sections), n)
		}
	}
	if len(scripts) == 0 {
		t.Error("no test knows what reads it, or it does nothing")
	}
	return scripts
}

// unitScripts are the commands of units, as a shell would have them.
func unitScripts(t *testing.T, units []unit) (scripts []string) {
	t.Helper()
	for _, u := range units {
		if !u.Enabled || !strings.HasSuffix(u.Name, ".service") || !strings.Contains(u.Contents, "[Install]\n") {
			t.Errorf("%s would never start", u.Name)
		}
		for line := range strings.SplitSeq(u.Contents, "\n") {
			command, ok := strings.CutPrefix(line, "ExecStart=")
			if !ok {
				continue
			}
			if strings.Contains(strings.ReplaceAll(command, "$$", ""), "$") {
				t.Errorf("%s: systemd would replace a dollar sign in %q", u.Name, command)
			}
			command = strings.ReplaceAll(command, "$$", "$")
			scripts = append(scripts, command)
			if _, inner, ok := strings.Cut(command, "sh -c '"); ok {
				scripts = append(scripts, strings.TrimSuffix(inner, "'"))
			}
		}
	}
	return scripts
}

func TestReportProblemsCanFail(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{`curl "${url}report/installed"`, ""},
		{`ExecStart=/usr/local/bin/rackboot-probe booted --inventory`, ""},
		{`[/bin/rackboot-probe, installed, --deadline, 5m]`, ""},
		{`curl "${url}report/burnt"`, "burnt"},
		{`/bin/rackboot-probe burn`, "burn"},
		{`/bin/rackboot-probe`, "no mode"},
		{`/bin/rackboot-probe booted --colour`, "colour"},
		{`curl -d '{"message":}' "${url}report/failed"`, "invalid"},
		{`echo`, "reports nothing"},
	} {
		expect(t, reportProblems(c.text), c.want)
	}
}
