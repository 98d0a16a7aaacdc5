package hub

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rackboot/protocol"
)

func TestBrokerConfig(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	data := filepath.Join(dir, "data")
	if err := os.Mkdir(data, 0o700); err != nil {
		t.Fatal(err)
	}
	config := write("hub.yaml", fmt.Sprintf("dataDir: %s\napi: 127.0.0.1:8443\nnames: [hub.example]\nbroker: {url: mqtts://mqtt.example:8883}\n", data))
	own := write("own.yaml", fmt.Sprintf("dataDir: %s\napi: 127.0.0.1:8443\nmqtt: 127.0.0.1:8883\nnames: [hub.example]\n", data))
	run := func(args ...string) (exit int, out, says string) {
		var stdout, stderr bytes.Buffer
		exit = Main(append([]string{"broker-config"}, args...), "test", &stdout, &stderr)
		return exit, stdout.String(), stderr.String()
	}
	exit, printed, says := run("--config", config, "nats", "--first")
	if exit != 0 || !strings.Contains(printed, `"CN=rackboot.hub"`) || says != "" {
		t.Fatalf("exit %d, %s\n%s", exit, says, printed)
	}
	same, other := write("same.conf", printed), write("other.conf", printed+"\n")
	for _, row := range []struct {
		name string
		args []string
		exit int
		says string
	}{
		{"what is there", []string{"--config", config, "nats", "--first", "--check", same}, 0, ""},
		{"another", []string{"--config", config, "nats", "--first", "--check", other}, protocol.CodeConflict.ExitCode(), "hint: print it anew"},
		{"of the other broker", []string{"--config", config, "mosquitto", "--first", "--check", same}, protocol.CodeConflict.ExitCode(), same},
		{"no file", []string{"--config", config, "nats", "--first", "--check", filepath.Join(dir, "x")}, protocol.CodeInvalid.ExitCode(), "no such file"},
		{"another broker", []string{"--config", config, "emqx", "--first"}, protocol.CodeInvalid.ExitCode(), "emqx"},
		{"the hub's own", []string{"--config", own, "nats", "--first"}, protocol.CodeInvalid.ExitCode(), "hint: set broker.url"},
		{"no broker", []string{"--config", config}, protocol.CodeInvalid.ExitCode(), "accepts 1 arg"},
	} {
		if exit, out, says := run(row.args...); exit != row.exit || !strings.Contains(says, row.says) || out != "" || row.exit == 0 && says != "" {
			t.Errorf("%s: exit %d, %s\n%s", row.name, exit, says, out)
		}
	}
}
