package daemon

import (
	"io"
	"os"
	"strings"

	"rackboot/protocol"
)

// maxTokenFile bounds a token file in bytes.
const maxTokenFile = 4096

// readWord reads a secret of one word, of so many bytes at least.
func readWord(path string, least int) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", protocol.Errorf(protocol.CodeInvalid, "", "%w", err).WithHint("make it: (umask 077; openssl rand -hex 32 >%s), readable by the hub's user", path)
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return "", protocol.Errorf(protocol.CodeUnavailable, "", "%w", err)
	case !info.Mode().IsRegular():
		return "", protocol.Errorf(protocol.CodeInvalid, "", "%s is not a file", path)
	case info.Mode().Perm()&0o077 != 0:
		return "", protocol.Errorf(protocol.CodeDenied, "", "%s may be read by others (mode %04o)", path, info.Mode().Perm()).
			WithHint("chmod 600 %s; if others had access, make a new token", path)
	}
	raw, err := io.ReadAll(io.LimitReader(f, maxTokenFile+1))
	if err != nil {
		return "", protocol.Errorf(protocol.CodeUnavailable, "", "%w", err)
	}
	token := strings.TrimSpace(string(raw))
	switch {
	case len(raw) > maxTokenFile:
		return "", protocol.Errorf(protocol.CodeInvalid, "", "%s is longer than %d bytes", path, maxTokenFile)
	case strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' }):
		return "", protocol.Errorf(protocol.CodeInvalid, "", "%s is not one word of visible ASCII", path).WithHint("openssl rand -hex 32 makes one")
	case len(token) < least:
		return "", protocol.Errorf(protocol.CodeInvalid, "", "%s has %d bytes, fewer than %d", path, len(token), least).
			WithHint("openssl rand -hex 32 makes a longer one")
	}
	return token, nil
}
