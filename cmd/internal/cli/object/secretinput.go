package object

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"rackboot/cmd/internal/cli/files"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// secretInput says where the values of a secret come from. None is an argument.
type secretInput struct {
	files, variables []string // NAME=FILE, NAME=VARIABLE
	stdin            string   // NAME
}

func (in *secretInput) flags(cmd *cobra.Command) {
	cmd.Flags().StringArrayVar(&in.files, "from-file", nil, "NAME=FILE: the value is what the file has")
	cmd.Flags().StringArrayVar(&in.variables, "from-env", nil, "NAME=VARIABLE: the value is that of the environment variable")
	cmd.Flags().StringVar(&in.stdin, "from-stdin", "", "NAME: the value is standard input")
}

// read reads all values. No error has one.
func (in *secretInput) read(src *files.Input) (resource.SecretData, error) {
	out := resource.SecretData{}
	add := func(name string, value []byte) error {
		if _, twice := out[name]; twice {
			return protocol.Errorf(protocol.CodeInvalid, "", "%q is given twice", name)
		}
		out[name] = value
		return nil
	}
	for _, arg := range in.files {
		name, path, err := pair("--from-file", "FILE", arg)
		if err != nil {
			return nil, err
		}
		f, err := os.Open(path)
		if err != nil {
			return nil, unread(path, err)
		}
		value, err := readValue(f, path)
		_ = f.Close() // it was read only
		if err == nil {
			err = add(name, value)
		}
		if err != nil {
			return nil, err
		}
	}
	for _, arg := range in.variables {
		name, variable, err := pair("--from-env", "VARIABLE", arg)
		if err != nil {
			return nil, err
		}
		value := src.Getenv(variable)
		if value == "" {
			return nil, protocol.Errorf(protocol.CodeInvalid, "read secret", "the variable that --from-env gives for %q is not set", name).
				WithHint("give the variable's name, not its value, and export it")
		}
		if err := add(name, []byte(value)); err != nil {
			return nil, err
		}
	}
	if in.stdin != "" {
		value, err := readValue(src.Stdin, "standard input")
		if err == nil {
			err = add(in.stdin, value)
		}
		if err != nil {
			return nil, err
		}
	}
	if len(out) == 0 {
		return nil, protocol.Errorf(protocol.CodeInvalid, "", "give what is in the secret").WithHint("--from-file NAME=FILE, --from-env NAME=VARIABLE, --from-stdin NAME")
	}
	return out, nil
}

// pair splits NAME=WHERE. An argument without = may be a value by mistake, and is not
// repeated.
func pair(flag, where, arg string) (name, from string, err error) {
	name, from, ok := strings.Cut(arg, "=")
	if !ok || name == "" || from == "" {
		return "", "", protocol.Errorf(protocol.CodeInvalid, "", "%s takes NAME=%s", flag, where).
			WithHint("if a value was given as an argument, it is in the shell's history now: change it")
	}
	return name, from, nil
}

// unread says which file or stream was not read, and why.
func unread(from string, err error) error {
	code := protocol.CodeUnavailable
	if errors.Is(err, fs.ErrNotExist) {
		code = protocol.CodeNotFound
	}
	if in := (*fs.PathError)(nil); errors.As(err, &in) {
		err = in.Err // which is named once
	}
	return protocol.Errorf(code, "read secret", "%s: %w", from, err).WithHint("check %s and its permissions; nothing was changed", from)
}

func readValue(r io.Reader, from string) ([]byte, error) {
	value, err := io.ReadAll(io.LimitReader(r, resource.MaxSecretValue+1))
	switch {
	case err != nil:
		return nil, unread(from, err)
	case len(value) > resource.MaxSecretValue:
		return nil, protocol.Errorf(protocol.CodeInvalid, "read secret", "%s has more than %d bytes", from, resource.MaxSecretValue)
	}
	return value, nil
}

// trimmed leaves out one line end at the end of user names and passwords.
func trimmed(t resource.SecretType, data resource.SecretData) resource.SecretData {
	if t != resource.SecretBMC && t != resource.SecretRegistry {
		return data
	}
	for name, value := range data {
		data[name] = bytes.TrimSuffix(bytes.TrimSuffix(value, []byte("\n")), []byte("\r"))
	}
	return data
}
