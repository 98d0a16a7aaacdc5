package hub

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rackboot/protocol"
)

// The commands say one line for each finding, or JSON, and their exit code tells whether there are any.
func TestCheckCommand(t *testing.T) {
	dir := t.TempDir()
	data := filepath.Join(dir, "data")
	if err := os.MkdirAll(filepath.Join(data, "pki"), 0o700); err != nil {
		t.Fatal(err)
	}
	config := filepath.Join(dir, "hub.yaml")
	if err := os.WriteFile(config, fmt.Appendf(nil, "dataDir: %s\napi: 127.0.0.1:8443\nmqtt: 127.0.0.1:8883\nnames: [hub.example]\n", data), 0o600); err != nil {
		t.Fatal(err)
	}
	left := filepath.Join(data, ".new-ca.pem-7")
	run := func(args ...string) (int, string, string) {
		var out, errs bytes.Buffer
		exit := Main(append(args, "--config", config), "test", &out, &errs)
		return exit, out.String(), errs.String()
	}
	if exit, out, errs := run("check"); exit != 0 || out != "" {
		t.Errorf("an empty folder: exit %d, %s%s", exit, out, errs)
	}
	if err := os.WriteFile(left, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if exit, out, _ := run("check"); exit != 1 || !strings.HasPrefix(out, "unfinished-file .new-ca.pem-7: ") || strings.Count(out, "\n") != 1 {
		t.Errorf("exit %d, %q", exit, out)
	}
	var said struct {
		Findings []struct{ Code, What, Where, Do string }
	}
	if exit, out, _ := run("check", "-o", "json"); exit != 1 || json.Unmarshal([]byte(out), &said) != nil || len(said.Findings) != 1 || said.Findings[0].Do == "" {
		t.Errorf("exit %d, %q", exit, out)
	}
	if exit, out, _ := run("repair"); exit != 1 || !strings.Contains(out, "--yes does it") {
		t.Errorf("exit %d, %q", exit, out)
	}
	if exit, _, _ := run("repair", "--yes", "--dry-run"); exit != protocol.CodeInvalid.ExitCode() {
		t.Errorf("both: exit %d", exit)
	}
	if exit, _, _ := run("check", "-o", "yaml"); exit != protocol.CodeInvalid.ExitCode() {
		t.Errorf("yaml: exit %d", exit)
	}
	if exit, out, _ := run("repair", "--yes"); exit != 0 || !strings.HasPrefix(out, "remove ") {
		t.Errorf("exit %d, %q", exit, out)
	}
	if _, err := os.Stat(left); !os.IsNotExist(err) {
		t.Errorf("it is there: %v", err)
	}
}
