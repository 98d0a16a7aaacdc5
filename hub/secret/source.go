package secret

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"rackboot/protocol"
)

// The bounds of getting a key.
const (
	// commandTimeout is how long a command may take.
	commandTimeout = 10 * time.Second
	// commandGrace is how long its output may stay open after it was killed.
	commandGrace = time.Second
	// maxKeyText bounds what a file, a variable or a command gives, in bytes.
	maxKeyText = 4096
)

// Source says where a key-encryption key comes from: exactly one of its fields is set.
type Source struct {
	File    string   // readable by the hub's user only
	Env     string   // name of an environment variable
	Command []string // program and arguments; it prints the key
}

// Check says what is wrong with the source itself.
func (s Source) Check() error {
	n := 0
	for _, given := range []bool{s.File != "", s.Env != "", len(s.Command) > 0} {
		if given {
			n++
		}
	}
	if n != 1 {
		return protocol.Errorf(protocol.CodeInvalid, "", "give exactly one of keyFile, keyEnv and keyCommand")
	}
	return nil
}

// String says which source it is, without the arguments of a command.
func (s Source) String() string {
	switch {
	case s.File != "":
		return "keyFile " + s.File
	case s.Env != "":
		return "keyEnv " + s.Env
	case len(s.Command) > 0:
		return "keyCommand " + s.Command[0]
	}
	return "no key"
}

// read gets the key. No error quotes what was read. The codes are invalid, denied,
// unavailable and timeout.
func (s Source) read(ctx context.Context, getenv func(string) string) (key, error) {
	var text []byte
	var err error
	switch {
	case s.File != "":
		text, err = readFile(s.File)
	case s.Env != "":
		text = []byte(getenv(s.Env))
		if len(text) == 0 {
			err = protocol.Errorf(protocol.CodeUnavailable, "", "the variable is not set").WithHint("set it in the hub's unit: EnvironmentFile=")
		}
	default:
		text, err = runFor(ctx, s.Command, commandTimeout)
	}
	if err != nil {
		return key{}, s.failed(err)
	}
	k, ok := parseKey(text)
	if !ok {
		return key{}, s.failed(protocol.Errorf(protocol.CodeInvalid, "", "it is not 32 bytes in hex or base64").
			WithHint("(umask 077; openssl rand -hex 32 >FILE) makes one"))
	}
	return k, nil
}

func (s Source) failed(err error) error {
	return protocol.Errorf(protocol.CodeOf(err), "get the key-encryption key", "%s: %w", s, err).WithHint("%s", protocol.HintOf(err))
}

func parseKey(text []byte) (key, bool) {
	if len(text) > maxKeyText {
		return key{}, false
	}
	word := strings.TrimSpace(string(text))
	raw, err := hex.DecodeString(word)
	if err != nil {
		raw, err = base64.StdEncoding.DecodeString(word)
	}
	if err != nil || len(raw) != keySize {
		return key{}, false
	}
	return newKey(raw), true
}

func readFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeUnavailable, "", "%w", err).WithHint("make it: (umask 077; openssl rand -hex 32 >%s), readable by the hub's user", path)
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, protocol.Errorf(protocol.CodeUnavailable, "", "%w", err)
	case !info.Mode().IsRegular():
		return nil, protocol.Errorf(protocol.CodeInvalid, "", "it is not a file")
	case info.Mode().Perm()&0o077 != 0:
		return nil, protocol.Errorf(protocol.CodeDenied, "", "it may be read by others (mode %04o)", info.Mode().Perm()).
			WithHint("chmod 600 %s; if others had access, rotate to a new key", path)
	}
	text, err := io.ReadAll(io.LimitReader(f, maxKeyText+1))
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeUnavailable, "", "%w", err)
	}
	return text, nil
}

// runFor runs a program without a shell, in a process group of its own that is
// killed when the time is over. What it writes to its error output is not kept: it may
// have anything in it.
func runFor(ctx context.Context, argv []string, most time.Duration) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = commandGrace
	out := &bounded{}
	cmd.Stdout = out
	err := cmd.Run()
	switch {
	case ctx.Err() != nil:
		return nil, protocol.Errorf(protocol.CodeTimeout, "", "it gave no key within %s", most).
			WithHint("run it by hand as the hub's user; it must print the key and end")
	case out.full:
		return nil, protocol.Errorf(protocol.CodeInvalid, "", "it prints more than %d bytes", maxKeyText).
			WithHint("it must print the key and nothing else")
	case err != nil:
		return nil, protocol.Errorf(protocol.CodeUnavailable, "", "it failed: %w", err).
			WithHint("run it by hand as the hub's user to see what it says")
	}
	return out.text, nil
}

// bounded keeps the first maxKeyText bytes. The rest is an error, which ends the copy and
// breaks the program's pipe.
type bounded struct {
	text []byte
	full bool
}

// Write implements io.Writer.
func (b *bounded) Write(p []byte) (int, error) {
	if len(b.text)+len(p) > maxKeyText {
		b.full = true
		return 0, io.ErrShortWrite
	}
	b.text = append(b.text, p...)
	return len(p), nil
}
