package approval

import (
	"context"
	"crypto/ed25519"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"rackboot/protocol"
	"rackboot/protocol/resource"
	"rackboot/protocol/wire"
)

// The command of the tests is this program; its first argument says what it does.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "sign-as" {
		os.Exit(signAs(os.Args[2], os.Args[3:]))
	}
	os.Exit(m.Run())
}

func keyFile(t *testing.T, seed byte) (private, public string, key ed25519.PrivateKey) {
	t.Helper()
	key = ed25519.NewKeyFromSeed([]byte(strings.Repeat(string(rune(seed)), ed25519.SeedSize)))
	priv, pub, err := wire.EncodeKey(key)
	if err != nil {
		t.Fatal(err)
	}
	private = filepath.Join(t.TempDir(), "destructive.pem")
	public = private + ".pub"
	for path, text := range map[string][]byte{private: priv, public: pub} {
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return private, public, key
}

func theApproval() resource.Approval {
	at := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	return resource.Approval{
		ID: "a1", Class: resource.ApproveBulkStop, Rack: "r1", AgentKey: make([]byte, 32), Targets: []string{"n1", "n2"}, By: []string{"alice"},
		NotBefore: at, NotAfter: at.Add(time.Hour),
	}
}

func TestKeyOfFile(t *testing.T) {
	private, public, key := keyFile(t, 'a')
	k, err := ReadPrivate(private)
	if err != nil {
		t.Fatal(err)
	}
	sealed, err := k.Seal(t.Context(), theApproval())
	if err != nil || !k.Signs() || !k.Public().Equal(key.Public()) {
		t.Fatalf("%v", err)
	}
	p, err := ReadPublic(public, nil)
	if err != nil || p.Signs() {
		t.Fatalf("%v", err)
	}
	if err := p.Check(sealed, theApproval()); err != nil {
		t.Error(err)
	}
	if _, err := p.Seal(t.Context(), theApproval()); protocol.CodeOf(err) != protocol.CodeUnsupported {
		t.Errorf("a person signs: %v", err)
	}
	other := theApproval()
	other.Targets = []string{"n1", "n2", "n3"}
	if err := p.Check(sealed, other); protocol.CodeOf(err) != protocol.CodeDenied {
		t.Errorf("another approval: %v", err)
	}
	_, strange, _ := keyFile(t, 'b')
	if s, err := ReadPublic(strange, nil); err != nil || protocol.CodeOf(s.Check(sealed, theApproval())) != protocol.CodeDenied {
		t.Errorf("another key: %v", err)
	}
	if err := os.Chmod(private, 0o640); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadPrivate(private); protocol.CodeOf(err) != protocol.CodeDenied {
		t.Errorf("a file that others may read: %v", err)
	}
	if _, err := ReadPublic(private, nil); protocol.CodeOf(err) != protocol.CodeInvalid {
		t.Errorf("the private half for the public: %v", err)
	}
	if _, err := ReadPublic(public, []string{"signer"}); protocol.CodeOf(err) != protocol.CodeInvalid {
		t.Errorf("a command without a path: %v", err)
	}
}

// signAs is the command: it does as it is told, and the hub must not believe it.
func signAs(what string, args []string) int {
	switch what {
	case "file":
		return signWith(args[0])
	case "garbage":
		fmt.Println("sorry?")
	case "zeros":
		fmt.Println(strings.Repeat("A", 86) + "==")
	case "flood":
		for range 1000 {
			fmt.Println(strings.Repeat("x", 1000))
		}
	case "fail":
		fmt.Fprintln(os.Stderr, "canary-secret")
		return 3
	case "env":
		if os.Getenv("RACKBOOT_CANARY") != "" {
			return 4
		}
		return signWith(args[0])
	case "hang":
		time.Sleep(time.Hour)
	}
	return 0
}

func TestKeyBehindCommand(t *testing.T) {
	t.Setenv("RACKBOOT_CANARY", "secret")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	private, public, _ := keyFile(t, 'a')
	strange, _, _ := keyFile(t, 'b')
	for name, tt := range map[string]struct {
		args []string
		want protocol.Code
	}{
		"signs":                     {[]string{"file", private}, ""},
		"does not see the hub's":    {[]string{"env", private}, ""},
		"signs with another key":    {[]string{"file", strange}, protocol.CodeDenied},
		"prints garbage":            {[]string{"garbage"}, protocol.CodeDenied},
		"prints a false signature":  {[]string{"zeros"}, protocol.CodeDenied},
		"prints nothing":            {[]string{"nothing"}, protocol.CodeDenied},
		"prints without end":        {[]string{"flood"}, protocol.CodeDenied},
		"fails":                     {[]string{"fail"}, protocol.CodeUnavailable},
		"signs nothing it can read": {[]string{"file", private + ".none"}, protocol.CodeUnavailable},
	} {
		k, err := ReadPublic(public, append([]string{self, "sign-as"}, tt.args...))
		if err != nil {
			t.Fatal(err)
		}
		sealed, err := k.Seal(t.Context(), theApproval())
		if protocol.CodeOf(err) != tt.want {
			t.Errorf("%s: %v", name, err)
		}
		if err != nil && strings.Contains(err.Error(), "canary") {
			t.Errorf("%s: what it says to its log is in the error: %v", name, err)
		}
		if tt.want == "" {
			if err := k.Check(sealed, theApproval()); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

// A command that hangs is ended with the caller's patience, and at the latest after
// CommandTimeout.
func TestCommandHangs(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	_, public, _ := keyFile(t, 'a')
	k, err := ReadPublic(public, []string{self, "sign-as", "hang"})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := withDeadline(t)
	defer cancel()
	if _, err := k.Seal(ctx, theApproval()); protocol.CodeOf(err) != protocol.CodeTimeout {
		t.Errorf("%v", err)
	}
}

// What a command has started ends with it: a token's tool that hangs would keep the token from the next one.
func TestCommandLeavesNothing(t *testing.T) {
	fifo := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	_, public, _ := keyFile(t, 'a')
	k, err := ReadPublic(public, []string{"/bin/sh", "-c", `{ echo; exec sleep 60; } >"$0" & wait`, fifo})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		f, err := os.Open(fifo)
		if err != nil {
			ended <- err
			return
		}
		defer f.Close()
		_, err = f.Read(make([]byte, 1)) // it runs
		cancel()
		if err == nil {
			_, err = io.Copy(io.Discard, f) // until nobody has it open
		}
		ended <- err
	}()
	if _, err := k.Seal(ctx, theApproval()); protocol.CodeOf(err) != protocol.CodeTimeout {
		t.Error(err)
	}
	select {
	case err := <-ended:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(30 * time.Second):
		t.Error("what the command started still runs")
	}
}
