package hub

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"rackboot/hub/daemon"
	"rackboot/protocol"
	"rackboot/protocol/backupfile"
)

const (
	backupKey    = "AGE-SECRET-KEY-1LLQD26TRP8LVZQL9JAD43AN06DKFM68EFY6MM42PAESAF7JN68YSCF54JH"
	backupPublic = "age1fvj2axm0rjp6ygd4s5mfrarytx722m7q8s0jy2yqythskfnqccdqtjaaxe"
)

// A hub makes a backup by itself as soon as it runs, for whom its file says; restore makes a hub's folder
// of it, in the place of one that was emptied or of the one that is there.
func TestRestoreCommand(t *testing.T) {
	dir := t.TempDir()
	data, copies := filepath.Join(dir, "data"), filepath.Join(dir, "copies")
	if err := os.Mkdir(copies, 0o700); err != nil {
		t.Fatal(err)
	}
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	config := write("hub.yaml", fmt.Sprintf("dataDir: %s\napi: 127.0.0.1:0\nmqtt: 127.0.0.1:0\nnames: [127.0.0.1]\nbackup:\n  recipients: [%s]\n  folder: %s\n", data, backupPublic, copies))
	key, other := write("key", backupKey+"\n"), write("other", "AGE-SECRET-KEY-1WKAP3EEN7LH4QFDWEVGAV02ZA282J7KM52573G7V7ZCEK60F0G0Q87J4CE\n")
	cfg, err := daemon.LoadConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() {
		done <- daemon.Run(ctx, cfg, daemon.Options{Version: "test", Logger: slog.New(slog.DiscardHandler), Ready: func() {}})
	}()
	var made []string
	noted := func() error { // after the copy is made
		_, err := os.Stat(filepath.Join(data, "backup.json"))
		return err
	}
	for deadline := time.Now().Add(time.Minute); (len(made) == 0 || noted() != nil) && time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		made, _ = filepath.Glob(filepath.Join(copies, "rackboot-hub-*.backup"))
	}
	if len(made) != 1 {
		t.Fatalf("%q", made)
	}
	restore := func(args ...string) (exit int, out, err string) {
		t.Helper()
		var o, e bytes.Buffer
		exit = Main(append([]string{"restore", "--config", config}, args...), "test", &o, &e)
		return exit, o.String(), e.String()
	}
	if exit, _, err := restore(copies, "--identity", key, "--replace"); exit != protocol.CodeConflict.ExitCode() || !strings.Contains(err, "hint: stop the hub first") {
		t.Errorf("while it runs: %d %s", exit, err)
	}
	cancel()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if err := noted(); err != nil {
		t.Error(err)
	}
	raw, err := os.ReadFile(made[0])
	if err != nil || bytes.Contains(raw, []byte("PRIVATE KEY")) {
		t.Errorf("%v", err)
	}
	if h, err := backupfile.Whole(bytes.NewReader(raw)); err != nil || h.Sealed != backupfile.SealedAge || h.Release != "test" {
		t.Errorf("%+v, %v", h, err)
	}
	for _, row := range []struct {
		name string
		args []string
		exit int
		says string
	}{
		{"a folder that has something", []string{copies, "--identity", key}, protocol.CodeConflict.ExitCode(), "hint: with --replace it is moved aside"},
		{"no key", []string{copies, "--replace"}, protocol.CodeInvalid.ExitCode(), "hint: give the identity"},
		{"another key", []string{made[0], "--replace", "--identity", other}, protocol.CodeInvalid.ExitCode(), "hint: give the identity"},
		{"no backup", []string{config, "--replace"}, protocol.CodeInvalid.ExitCode(), "foreign at byte 0"},
		{"nothing there", []string{filepath.Join(dir, "no"), "--replace"}, protocol.CodeNotFound.ExitCode(), "no such file"},
		{"a bucket without an account", []string{"s3://copies/hub/", "--replace", "--s3-endpoint", "https://127.0.0.1:1", "--s3-credentials", key}, protocol.CodeInvalid.ExitCode(), "has no account"},
	} {
		if exit, out, err := restore(row.args...); exit != row.exit || !strings.Contains(err, row.says) || out != "" {
			t.Errorf("%s: %d %s%s", row.name, exit, out, err)
		}
	}
	exit, out, said := restore(copies, "--identity", key, "--replace")
	if exit != 0 || !strings.Contains(out, "is restored; epoch 2; start the hub now") || !strings.Contains(said, "what was there is in "+data+".before-") {
		t.Fatalf("%d %s%s", exit, out, said)
	}
	if err := os.RemoveAll(data); err != nil {
		t.Fatal(err)
	}
	stdin, err := os.Open(made[0])
	if err != nil {
		t.Fatal(err)
	}
	defer stdin.Close()
	defer func(old *os.File) { os.Stdin = old }(os.Stdin)
	os.Stdin = stdin
	if exit, out, said := restore("-", "--identity", key); exit != 0 || !strings.Contains(out, "standard input of ") {
		t.Fatalf("%d %s%s", exit, out, said)
	}
	left, err := filepath.Glob(data + ".restoring*")
	if err != nil || len(left) > 0 {
		t.Errorf("left: %q, %v", left, err)
	}
}
