package resource

import (
	"slices"
	"strings"

	"rackboot/protocol"
)

// OwnArguments is the beginning of the kernel arguments that are the agent's to give.
const OwnArguments = "rackboot."

// CheckKernelArgs says whether people may add these to a kernel's command line: a line
// that [CheckCommandLine] takes, that every boot loader hands on as it is, and that takes
// the place of nothing that the agent adds. The error is invalid.
//
// GRUB puts backslashes before quotes and backslashes; iPXE replaces ${...} and takes ||,
// && and ; for its own.
func CheckKernelArgs(args string) error {
	const op = "check kernel arguments"
	if err := CheckCommandLine(args); err != nil {
		return err
	}
	if strings.TrimSpace(args) != args {
		return protocol.Errorf(protocol.CodeInvalid, op, "there is space around them").WithHint("leave it out")
	}
	if i := strings.IndexAny(args, `"'\`); i >= 0 || strings.Contains(args, "${") {
		return protocol.Errorf(protocol.CodeInvalid, op, "a quote, a backslash or ${ is in them, which boot loaders change").
			WithHint("put such arguments into the image's own command line, with a UKI")
	}
	for word := range strings.FieldsSeq(args) {
		name, _, _ := strings.Cut(word, "=")
		switch {
		case slices.Contains([]string{"||", "&&", ";"}, word):
			return protocol.Errorf(protocol.CodeInvalid, op, "%s is a word of its own in them, which iPXE takes for an operator", word).WithHint("leave it out")
		case strings.HasPrefix(name, OwnArguments):
			return protocol.Errorf(protocol.CodeInvalid, op, "%s is the agent's to give", name).WithHint("leave out what begins with %s", OwnArguments)
		case name == "initrd":
			return protocol.Errorf(protocol.CodeInvalid, op, "initrd= is the boot loader's to give").WithHint("the initramfs is a layer of the image")
		}
	}
	return nil
}

func (f *fields) kernelArgs(path, args string) {
	if err := CheckKernelArgs(args); err != nil {
		f.Add(path, "%s", err)
	}
}

// JoinKernelArgs puts command lines one after the other. Of an argument that comes twice
// the kernel and most programs take the last.
func JoinKernelArgs(lines ...string) string {
	lines = slices.DeleteFunc(slices.Clone(lines), func(l string) bool { return l == "" })
	return strings.Join(lines, " ")
}
