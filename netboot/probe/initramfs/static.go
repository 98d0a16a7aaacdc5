package initramfs

import (
	"bytes"
	"debug/elf"

	"rackboot/protocol"
)

// static refuses a program that needs a dynamic loader: an initramfs has none, and the
// kernel would only say that there is no init.
func static(program []byte) error {
	const op = "build initramfs"
	f, err := elf.NewFile(bytes.NewReader(program))
	if err != nil {
		return protocol.Errorf(protocol.CodeInvalid, op, "the program is not ELF: %w", err).WithHint("give the Linux program, not a script")
	}
	defer f.Close()
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP {
			return protocol.Errorf(protocol.CodeInvalid, op, "the program is linked dynamically").WithHint("build it with CGO_ENABLED=0")
		}
	}
	return nil
}
