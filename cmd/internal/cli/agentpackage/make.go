package agentpackage

import (
	"crypto/sha256"
	"debug/elf"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"rackboot/cmd/internal/cli/printer"
	"rackboot/protocol"
	"rackboot/protocol/agentpackage"
	"rackboot/protocol/wire"
)

// making is what a package is made of.
type making struct {
	key, version, from, out string
	binaries                []string // architecture=file
	date                    string   // SOURCE_DATE_EPOCH
}

func makeCmd(getenv func(string) string, pr *printer.Printer) *cobra.Command {
	m := &making{date: getenv("SOURCE_DATE_EPOCH")}
	cmd := &cobra.Command{
		Use: "make --key KEY --version VERSION --binary ARCH=FILE -o OUT", Short: "Make a package of agents and sign it", Args: cobra.NoArgs,
		Long: "Make a package of agents and sign it. It has one rackboot-agent for each architecture, and a manifest\n" +
			"that names them, signed by the key. Nothing is sent anywhere. With SOURCE_DATE_EPOCH the same programs\n" +
			"make the same package.\n\n" +
			"--from is the lowest version that may be upgraded to this one; agents below it refuse it.",
		Example: "  rackctl agent-package make --key publisher.pem --version 1.4.0 --binary amd64=bin/amd64/rackboot-agent \\\n" +
			"    --binary arm64=bin/arm64/rackboot-agent -o rackboot-agent-1.4.0.tar",
	}
	f := cmd.Flags()
	f.StringVar(&m.key, "key", "", "publisher's key, as agent-package keygen makes it")
	f.StringVar(&m.version, "version", "", "version of the programs")
	f.StringVar(&m.from, "from", "", "lowest version that may be upgraded to it (default: any)")
	f.StringArrayVar(&m.binaries, "binary", nil, "ARCH=FILE, for amd64 and arm64; may be repeated")
	f.StringVarP(&m.out, "output", "o", "", "file to write")
	cmd.RunE = func(*cobra.Command, []string) error {
		manifest, signed, err := m.run()
		if err != nil {
			return err
		}
		return pr.Text(map[string]any{"file": m.out, "version": manifest.Version, "digest": wire.Digest(signed), "binaries": manifest.Binaries},
			[]string{m.out}, fmt.Sprintf("%s made: version %s, package %s", m.out, manifest.Version, wire.Digest(signed)))
	}
	return cmd
}

// run writes the package, whole or not at all, and replaces no file.
func (m *making) run() (manifest agentpackage.Manifest, signed []byte, err error) {
	const op = "make a package"
	if m.key == "" || m.version == "" || len(m.binaries) == 0 || m.out == "" {
		return manifest, nil, protocol.Errorf(protocol.CodeInvalid, op, "--key, --version, --binary and -o are needed").
			WithHint("rackctl agent-package make --help has an example")
	}
	key, err := wire.ReadPrivateKey(m.key)
	if err != nil {
		return manifest, nil, err
	}
	files := map[string]string{}
	manifest = agentpackage.Manifest{Version: m.version, Protocol: protocol.Version, From: m.from}
	if manifest.MadeAt, err = m.madeAt(); err != nil {
		return manifest, nil, err
	}
	for _, text := range m.binaries {
		b, file, err := binary(text)
		if err != nil {
			return manifest, nil, err
		}
		manifest.Binaries, files[b.Architecture] = append(manifest.Binaries, b), file
	}
	slices.SortStableFunc(manifest.Binaries, func(a, b agentpackage.Binary) int { return strings.Compare(a.Architecture, b.Architecture) })
	if signed, err = agentpackage.Sign(manifest, key); err != nil {
		return manifest, nil, err
	}
	return manifest, signed, writeNew(m.out, func(w io.Writer) error {
		return agentpackage.Write(w, signed, func(b agentpackage.Binary) (io.ReadCloser, error) { return os.Open(files[b.Architecture]) })
	})
}

func (m *making) madeAt() (time.Time, error) {
	if m.date == "" {
		return time.Now().UTC().Truncate(time.Second), nil
	}
	seconds, err := strconv.ParseInt(m.date, 10, 64)
	if err != nil {
		return time.Time{}, protocol.Errorf(protocol.CodeInvalid, "make a package", "SOURCE_DATE_EPOCH is not a number of seconds: %w", err)
	}
	return time.Unix(seconds, 0).UTC(), nil
}

// machines are what programs say of their architecture.
var machines = map[string]elf.Machine{"amd64": elf.EM_X86_64, "arm64": elf.EM_AARCH64}

// binary reads a program that --binary names.
func binary(text string) (b agentpackage.Binary, file string, err error) {
	const op = "read a program"
	architecture, file, ok := strings.Cut(text, "=")
	machine, known := machines[architecture]
	if !ok || !known || file == "" {
		return b, "", protocol.Errorf(protocol.CodeInvalid, op, "--binary %q is not amd64=FILE or arm64=FILE", text)
	}
	f, err := os.Open(file)
	if err != nil {
		return b, "", protocol.Errorf(protocol.CodeNotFound, op, "%w", err).WithHint("check the path %s", file)
	}
	defer f.Close()
	program, err := elf.NewFile(f)
	if err != nil {
		return b, "", protocol.Errorf(protocol.CodeInvalid, op, "%s is no program for Linux: %w", file, err)
	}
	if program.Machine != machine {
		return b, "", protocol.Errorf(protocol.CodeInvalid, op, "%s is for %s, not for %s", file, program.Machine, architecture)
	}
	h := sha256.New()
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return b, "", protocol.Errorf(protocol.CodeUnavailable, op, "%w", err)
	}
	n, err := io.Copy(h, f)
	if err != nil {
		return b, "", protocol.Errorf(protocol.CodeUnavailable, op, "%w", err)
	}
	return agentpackage.Binary{Architecture: architecture, SHA256: "sha256:" + hex.EncodeToString(h.Sum(nil)), Size: n}, file, nil
}

// writeNew writes a file whole, or not at all, and replaces none.
func writeNew(path string, write func(io.Writer) error) error {
	const op = "write"
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		return protocol.Errorf(protocol.CodeConflict, op, "%s is there already", path).WithHint("give another name")
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".package-*")
	if err != nil {
		return protocol.Errorf(protocol.CodeUnavailable, op, "%w", err).WithHint("check the folder of %s", path)
	}
	defer os.Remove(f.Name())
	err = write(f)
	if err == nil {
		err = f.Sync()
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	if err := os.Chmod(f.Name(), 0o644); err != nil { // #nosec G302 -- a package is for everybody
		return protocol.Errorf(protocol.CodeUnavailable, op, "%w", err)
	}
	if err := os.Link(f.Name(), path); err != nil {
		return protocol.Errorf(protocol.CodeUnavailable, op, "%w", err).WithHint("check the folder of %s", path)
	}
	return nil
}
