package secret

import (
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"rackboot/hub/store"
	"rackboot/protocol"
)

func TestSources(t *testing.T) {
	good := strings.Repeat("5e", keySize)
	dir := t.TempDir()
	file := func(name, text string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	sh := func(script string) Source { return Source{Command: []string{"/bin/sh", "-c", script}} }
	for _, row := range []struct {
		name   string
		source Source
		code   protocol.Code
	}{
		{"a file", Source{File: file("good", good+"\n", 0o600)}, ""},
		{"base64", Source{File: file("base64", base64.StdEncoding.EncodeToString(make([]byte, keySize)), 0o600)}, ""},
		{"no file", Source{File: filepath.Join(dir, "none")}, protocol.CodeUnavailable},
		{"a folder", Source{File: dir}, protocol.CodeInvalid},
		{"a file that others read", Source{File: file("open", good, 0o644)}, protocol.CodeDenied},
		{"an empty file", Source{File: file("empty", "", 0o600)}, protocol.CodeInvalid},
		{"a short key", Source{File: file("short", good[2:], 0o600)}, protocol.CodeInvalid},
		{"a pass phrase", Source{File: file("phrase", canary, 0o600)}, protocol.CodeInvalid},
		{"a long file", Source{File: file("long", strings.Repeat(good, maxKeyText), 0o600)}, protocol.CodeInvalid},
		{"a variable", Source{Env: "KEY"}, ""},
		{"no variable", Source{Env: "NONE"}, protocol.CodeUnavailable},
		{"a command", sh("echo " + good), ""},
		{"a command that fails", sh("echo " + canary + " >&2; exit 1"), protocol.CodeUnavailable},
		{"a command that is not there", Source{Command: []string{filepath.Join(dir, "none")}}, protocol.CodeUnavailable},
		{"a command that prints something else", sh("echo " + canary), protocol.CodeInvalid},
		{"a command that prints nothing", sh("true"), protocol.CodeInvalid},
		{"a command that prints without end", sh("while true; do echo " + canary + "; done"), protocol.CodeInvalid},
		{"a command with a key and a failure", sh("echo " + good + "; exit 3"), protocol.CodeUnavailable},
	} {
		t.Run(row.name, func(t *testing.T) {
			k, err := row.source.read(t.Context(), func(name string) string {
				return map[string]string{"KEY": good}[name]
			})
			if protocol.CodeOf(err) != row.code || (err == nil) != (len(k.raw) == keySize) {
				t.Fatalf("%v, want %q", err, row.code)
			}
			if err == nil {
				return
			}
			if text := err.Error() + protocol.HintOf(err); strings.Contains(text, canary) || strings.Contains(text, good[2:]) || protocol.HintOf(err) == "" && row.name != "a folder" {
				t.Errorf("it says %q", text)
			}
			if !strings.Contains(err.Error(), row.source.String()) {
				t.Errorf("%q does not say which source it is, %s", err, row.source)
			}
		})
	}
}

// A command that hangs ends when its time is over.
func TestCommandThatHangs(t *testing.T) {
	_, err := runFor(t.Context(), []string{"/bin/sh", "-c", "while true; do sleep 60; done"}, 10*time.Millisecond)
	if protocol.CodeOf(err) != protocol.CodeTimeout || protocol.HintOf(err) == "" {
		t.Errorf("%v", err)
	}
}

// What the command started goes with it: the pipe that only they hold ends.
func TestCommandGoesWithWhatItStarted(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "alive")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, end := context.WithCancel(t.Context())
	defer end()
	ended := make(chan error, 1)
	go func() {
		f, err := os.Open(pipe) // waits until the other end is open
		if err == nil {
			defer f.Close()
			end()
			_, err = io.ReadAll(f)
		}
		ended <- err
	}()
	script := fmt.Sprintf("(exec 3>%s; while true; do sleep 60; done) & wait", pipe)
	if _, err := runFor(ctx, []string{"/bin/sh", "-c", script}, time.Hour); protocol.CodeOf(err) != protocol.CodeTimeout {
		t.Errorf("%v", err)
	}
	select {
	case err := <-ended:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(time.Minute):
		t.Error("what the command started is still there")
	}
}

func TestSourceCheck(t *testing.T) {
	for _, row := range []struct {
		source Source
		good   bool
	}{
		{Source{File: "/k"}, true},
		{Source{Env: "K"}, true},
		{Source{Command: []string{"k"}}, true},
		{Source{}, false},
		{Source{File: "/k", Env: "K"}, false},
		{Source{Env: "K", Command: []string{"k"}}, false},
	} {
		if err := row.source.Check(); (err == nil) != row.good {
			t.Errorf("%+v: %v", row.source, err)
		}
	}
	if s := (Source{Command: []string{"vault", canary}}).String(); strings.Contains(s, canary) {
		t.Errorf("%s: arguments are shown", s)
	}
}

func TestKeyIsNotPrinted(t *testing.T) {
	k := newKey([]byte(strings.Repeat("k", keySize)))
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%x", "%d"} {
		if got := fmt.Sprintf(verb, k); got != k.id {
			t.Errorf("%s prints %s", verb, got)
		}
	}
}

// Whatever is stored is refused with a code, or is what was encrypted.
func FuzzUnpack(f *testing.F) {
	keys := ring{current: newKey([]byte(strings.Repeat("k", keySize)))}
	f.Add([]byte(`{"format":1,"key":"00","sealed":"","data":""}`))
	f.Add([]byte(`{`))
	f.Add(fmt.Appendf(nil, `{"format":1,"key":%q,"sealed":"AAAA","data":"AAAA"}`, keys.current.id))
	f.Fuzz(func(t *testing.T, raw []byte) {
		if data, err := keys.unpack(store.SecretID{Name: "a", UID: "u", Version: 1}, raw); err == nil || protocol.CodeOf(err) == "" || data != nil {
			t.Errorf("opened without the key: %v", err)
		}
	})
}
