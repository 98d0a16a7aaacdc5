package approval

import (
	"bytes"
	"context"
	"crypto"
	"crypto/ed25519"
	"encoding/base64"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"rackboot/protocol"
	"rackboot/protocol/resource"
	"rackboot/protocol/wire"
)

// The limits of the command that signs.
const (
	// CommandTimeout is how long it may take.
	CommandTimeout = 10 * time.Second
	// commandGrace is how long its pipes may stay open after it was ended.
	commandGrace = time.Second
	// maxAnswer bounds what it prints, in bytes; a signature has 88.
	maxAnswer = 1 << 10
)

// Key is the destructive key as the hub knows it: always its public half, and where the
// hub can have something signed, how. It is safe for concurrent use.
type Key struct {
	public  ed25519.PublicKey
	private ed25519.PrivateKey // nil without a file
	command []string           // nil without a command
}

// ReadPrivate is a key whose private half is a file at the hub, for its user only. The
// code is invalid or denied.
func ReadPrivate(path string) (*Key, error) {
	private, err := wire.ReadPrivateKey(path)
	if err != nil {
		return nil, err
	}
	return &Key{public: private.Public().(ed25519.PublicKey), private: private}, nil
}

// ReadPublic is a key whose private half is with a person, or behind a command. The
// command is run as it is, without a shell; its first word is an absolute path.
func ReadPublic(path string, command []string) (*Key, error) {
	const op = "read the destructive key"
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeInvalid, op, "%w", err).WithHint("give the .pub file that rackctl key make-destructive wrote")
	}
	public, err := wire.ParsePublicKey(raw)
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeInvalid, op, "%s: %w", path, err).WithHint("give the .pub file that rackctl key make-destructive wrote")
	}
	if len(command) > 0 && !filepath.IsAbs(command[0]) {
		return nil, protocol.Errorf(protocol.CodeInvalid, op, "command: %q is not an absolute path", command[0])
	}
	return &Key{public: public, command: command}, nil
}

// KeyOf is a key that a person has: the hub can check what it signed.
func KeyOf(public ed25519.PublicKey) *Key { return &Key{public: public} }

// Public is the public half.
func (k *Key) Public() ed25519.PublicKey { return k.public }

// Signs says whether the hub can have an approval signed by itself; else a person does.
func (k *Key) Signs() bool { return k.private != nil || len(k.command) > 0 }

// Seal has an approval signed. It takes CommandTimeout at most, and what it returns
// opens with Public. The codes are unsupported (a person signs), unavailable, timeout
// and denied (the command signs with another key).
func (k *Key) Seal(ctx context.Context, a resource.Approval) ([]byte, error) {
	const op = "sign the approval"
	var key crypto.Signer = k.private
	switch {
	case !k.Signs():
		return nil, protocol.Errorf(protocol.CodeUnsupported, op, "the private half of the destructive key is not here").
			WithHint("rackctl approve sign %s --key FILE", a.ID)
	case k.private == nil:
		key = &remote{ctx: ctx, key: k}
	}
	sealed, err := wire.Seal(wire.NewSignerOf(key), wire.FactApproval, a)
	if r, ok := key.(*remote); ok && r.err != nil {
		return nil, r.err
	}
	if err != nil {
		return nil, err
	}
	return sealed, k.Check(sealed, a)
}

// Check says whether sealed is the approval, signed by the key. The code is denied.
func (k *Key) Check(sealed []byte, a resource.Approval) error {
	const op = "sign the approval"
	var got resource.Approval
	if err := wire.Open(wire.NewVerifier(k.public), wire.FactApproval, sealed, &got); err != nil {
		return protocol.Errorf(protocol.CodeDenied, op, "the destructive key of this hub did not sign it: %w", err).
			WithHint("compare the key that signs with destructiveKey of hub.yaml")
	}
	want, err := wire.Seal(wire.NewSigner(ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))), wire.FactApproval, a)
	if err != nil {
		return err
	}
	have, err := wire.Seal(wire.NewSigner(ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))), wire.FactApproval, got)
	if err != nil {
		return err
	}
	if !bytes.Equal(want, have) {
		return protocol.Errorf(protocol.CodeDenied, op, "something else than the approval was signed").
			WithHint("read it again: rackctl approve show %s", a.ID)
	}
	return nil
}

// remote is the private half behind a command: it gets the bytes to sign on its
// standard input, in base64, and prints the signature, in base64.
type remote struct {
	ctx context.Context
	key *Key
	err error // of the last Sign
}

// Public is the public half.
func (r *remote) Public() crypto.PublicKey { return r.key.public }

// Sign runs the command once.
func (r *remote) Sign(_ io.Reader, message []byte, _ crypto.SignerOpts) ([]byte, error) {
	sig, err := r.run(message)
	if err == nil && (len(sig) != ed25519.SignatureSize || !ed25519.Verify(r.key.public, message, sig)) {
		err = protocol.Errorf(protocol.CodeDenied, "sign the approval", "what %s printed is no signature of the destructive key", r.key.command[0]).
			WithHint("it signs with another key than destructiveKey.public of hub.yaml, or prints something besides the signature in base64")
	}
	r.err = err
	return sig, err
}

func (r *remote) run(message []byte) ([]byte, error) {
	const op = "sign the approval"
	ctx, cancel := context.WithTimeout(r.ctx, CommandTimeout)
	defer cancel()
	name := r.key.command[0]
	cmd := exec.CommandContext(ctx, name, r.key.command[1:]...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) } // with what it has started
	cmd.Env = []string{"PATH=" + os.Getenv("PATH")}                                      // the hub's own variables may hold secrets
	cmd.Stdin = bytes.NewReader(append([]byte(base64.StdEncoding.EncodeToString(message)), '\n'))
	out := &bounded{}
	cmd.Stdout, cmd.WaitDelay = out, commandGrace
	err := cmd.Run()
	switch {
	case ctx.Err() != nil:
		return nil, protocol.Errorf(protocol.CodeTimeout, op, "%s did not answer within %s", name, CommandTimeout).
			WithHint("the grant is kept: rackctl approve grant again asks it again")
	case out.over:
		return nil, protocol.Errorf(protocol.CodeDenied, op, "%s printed more than %d bytes", name, maxAnswer)
	case err != nil:
		return nil, protocol.Errorf(protocol.CodeUnavailable, op, "%s: %w", name, err).
			WithHint("the grant is kept: rackctl approve grant again asks it again")
	}
	sig, err := base64.StdEncoding.DecodeString(string(bytes.TrimSpace(out.text)))
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeDenied, op, "what %s printed is not base64", name)
	}
	return sig, nil
}

// bounded takes maxAnswer bytes, and then ends the command by refusing more.
type bounded struct {
	text []byte
	over bool
}

func (b *bounded) Write(p []byte) (int, error) {
	if len(b.text)+len(p) > maxAnswer {
		b.over = true
		return 0, fmt.Errorf("more than %d bytes", maxAnswer)
	}
	b.text = append(b.text, p...)
	return len(p), nil
}
