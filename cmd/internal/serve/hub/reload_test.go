package hub

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"rackboot/protocol"
	"rackboot/protocol/api"
)

// hubChild is the variable that has the test's program be a hub with the file that it names.
const hubChild = "RACKBOOT_TEST_HUB"

func TestMain(m *testing.M) {
	if file := os.Getenv(hubChild); file != "" {
		os.Exit(Main([]string{"run", "--config", file}, "test", os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}

// A hub that gets SIGHUP goes on with the clients, and the log, of its file, and ends with 0 at SIGTERM.
func TestReloadBySignal(t *testing.T) {
	dir := t.TempDir()
	file, token := filepath.Join(dir, "hub.yaml"), filepath.Join(dir, "ops.token")
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := ln.Addr().String()
	if err := ln.Close(); err != nil {
		t.Fatal(err)
	}
	write := func(more string) {
		text := fmt.Sprintf("dataDir: %s/hub\napi: %s\nmqtt: 127.0.0.1:0\nnames: [127.0.0.1]\n%s", dir, address, more)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("")
	cmd := exec.CommandContext(t.Context(), "/proc/self/exe")
	cmd.Env = append(os.Environ(), hubChild+"="+file)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	out, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := make(chan string, 1000)
	go func() {
		defer close(lines)
		for s := bufio.NewScanner(out); s.Scan(); {
			lines <- s.Text()
		}
	}()
	await := func(word string) string {
		limit, said := time.After(time.Minute), ""
		for {
			select {
			case line, more := <-lines:
				if !more {
					t.Fatalf("it has ended: %s", said)
				}
				if said += line + "\n"; strings.Contains(line, word) {
					return line
				}
			case <-limit:
				t.Fatalf("it does not say %q: %s", word, said)
			}
		}
	}
	await("msg=ready")
	ca, err := os.ReadFile(filepath.Join(dir, "hub/ca.pem"))
	if err != nil {
		t.Fatal(err)
	}
	word := strings.Repeat("0123456789abcdef", 2)
	if err := os.WriteFile(token, []byte(word), 0o600); err != nil {
		t.Fatal(err)
	}
	ops, err := api.NewClient(api.Config{BaseURL: "https://" + address, CA: ca, Token: word})
	if err != nil {
		t.Fatal(err)
	}
	defer ops.CloseIdle()
	hup := func(more, word string) string {
		write(more)
		if err := cmd.Process.Signal(syscall.SIGHUP); err != nil {
			t.Fatal(err)
		}
		return await(word)
	}
	hup("clients: [{name: ops, tokenFile: "+token+"}]\nlog: {format: json}\n", "was reloaded")
	if me, err := ops.Whoami(t.Context()); err != nil || me.Name != "ops" {
		t.Errorf("%+v, %v", me, err)
	}
	if line := hup("clients: [\n", "was not reloaded"); !strings.HasPrefix(line, "{") || !strings.Contains(line, file) {
		t.Errorf("%s", line)
	}
	hup("", "was reloaded")
	if _, err := ops.Whoami(t.Context()); protocol.CodeOf(err) != protocol.CodeDenied {
		t.Errorf("taken away: %v", err)
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	for range lines { // to its end
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}
