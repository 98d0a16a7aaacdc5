package initramfs

import (
	"compress/gzip"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"rackboot/protocol"
)

// Where the program looks, in the initramfs.
const (
	// ModuleList names the modules, in the order to load them in, a path in each line.
	ModuleList = "modules/list"
	// Authority is PEM of whom the certificate of an https report URL is from.
	Authority = "ca.pem"
)

// Config says what is put in.
type Config struct {
	Program string // path of the static program
	Modules []Module
	Files   map[string][]byte // more files, by name without a leading slash
}

// Write writes the initramfs, compressed by gzip, which every kernel reads. The same
// files give the same bytes.
func Write(w io.Writer, cfg Config) error {
	const op = "build initramfs"
	z, err := gzip.NewWriterLevel(w, gzip.BestCompression)
	if err != nil {
		return protocol.Errorf(protocol.CodeInternal, op, "%w", err)
	}
	a := NewArchive(z)
	a.Folder("dev") // the kernel's own initramfs has /dev/console
	program, err := os.ReadFile(cfg.Program)
	if err != nil {
		return protocol.Errorf(protocol.CodeInvalid, op, "program: %w", err).WithHint("build it with CGO_ENABLED=0, for the kernel's architecture")
	}
	if err := static(program); err != nil {
		return err
	}
	a.File("init", 0o755, program)
	var list strings.Builder
	for _, m := range cfg.Modules {
		content, err := os.ReadFile(m.Path)
		if err != nil {
			return protocol.Errorf(protocol.CodeInvalid, op, "module: %w", err)
		}
		name := "modules/" + m.Name + ".ko"
		a.File(name, 0o644, content)
		list.WriteString("/" + name + "\n")
	}
	a.File(ModuleList, 0o644, []byte(list.String()))
	for _, name := range slices.Sorted(maps.Keys(cfg.Files)) {
		a.File(name, 0o644, cfg.Files[name])
	}
	if err := a.Close(); err != nil {
		return protocol.Errorf(protocol.CodeUnavailable, op, "%w", err)
	}
	if err := z.Close(); err != nil {
		return protocol.Errorf(protocol.CodeUnavailable, op, "%w", err)
	}
	return nil
}
