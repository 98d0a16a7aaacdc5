package daemon

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/goccy/go-yaml"

	"rackboot/bmc"
	"rackboot/protocol"
)

// credentials reads the BMC accounts of local:NAME from one folder. They never leave the
// agent's host. A file is read when it has changed: each poll asks, and what was read and freed
// stays in memory until that is used again.
type credentials struct {
	dir string

	mu   sync.Mutex
	read map[string]readCredentials
}

type readCredentials struct {
	stamp string
	creds bmc.Credentials
}

// Read returns those of file name, which must be readable by its owner only. The stamp
// changes when the file does.
func (c *credentials) Read(name string) (bmc.Credentials, string, error) {
	const op = "read BMC credentials"
	path := filepath.Join(c.dir, filepath.Base(name))
	info, err := statPrivate(op, path)
	if err != nil {
		return bmc.Credentials{}, "", err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	stamp := fmt.Sprintf("%d/%d", info.ModTime().UnixNano(), info.Size())
	if was, has := c.read[name]; has && was.stamp == stamp {
		return was.creds, stamp, nil
	}
	delete(c.read, name)
	raw, info, err := readPrivate(op, path)
	if err != nil {
		return bmc.Credentials{}, "", err
	}
	defer clear(raw)
	var v struct {
		Username string `yaml:"username"`
		Password string `yaml:"password"`
	}
	// The parser's error is not passed on: it would quote the file.
	if err := yaml.UnmarshalWithOptions(raw, &v, yaml.Strict()); err != nil || v.Username == "" {
		return bmc.Credentials{}, "", protocol.Errorf(protocol.CodeInvalid, op, "%s does not have the lines username: and password:", path)
	}
	stamp = fmt.Sprintf("%d/%d", info.ModTime().UnixNano(), info.Size())
	creds := bmc.Credentials{Username: strings.Clone(v.Username), Password: strings.Clone(v.Password)}
	if c.read == nil {
		c.read = map[string]readCredentials{}
	}
	c.read[name] = readCredentials{stamp, creds}
	return creds, stamp, nil
}

// readPrivate reads a file with an account, which only its owner may. The codes are
// not_found and denied.
func readPrivate(op, path string) ([]byte, os.FileInfo, error) {
	info, err := statPrivate(op, path)
	if err != nil {
		return nil, nil, err
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, nil, protocol.Errorf(protocol.CodeDenied, op, "%w", err)
	}
	return raw, info, nil
}

// statPrivate looks at such a file.
func statPrivate(op, path string) (os.FileInfo, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeNotFound, op, "%s does not exist", path).
			WithHint("create it with the lines username: and password:, mode 0600")
	}
	if info.Mode().Perm()&0o077 != 0 {
		return nil, protocol.Errorf(protocol.CodeDenied, op, "%s may be read by others (mode %04o)", path, info.Mode().Perm()).
			WithHint("chmod 600 %s", path)
	}
	return info, nil
}
