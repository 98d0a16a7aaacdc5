package firstrack

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"rackboot/protocol"
	"rackboot/state/file"
)

// File is one file, by its path below the folder.
type File struct {
	Path string
	Text string
	Mode fs.FileMode
}

// Files are the files of the site, in the order in which people meet them. The code is
// invalid: the site's words are checked by whoever reads the files, not here.
func (s *Site) Files() ([]File, error) {
	const op = "write a first rack"
	rack, err := s.rackFile()
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeInvalid, op, "--address: %w", err)
	}
	out := []File{{"rack.yaml", rack, 0o644}}
	for _, h := range s.Hosts {
		text, err := s.hostFile(h)
		if err != nil {
			return nil, protocol.Errorf(protocol.CodeInvalid, op, "%w", err).WithHint("give it with --mac")
		}
		out = append(out, File{h.Name + ".yaml", text, 0o644})
	}
	out = append(out,
		File{filepath.Join("agent", "agent.yaml"), s.agentFile(), 0o644},
		File{filepath.Join("agent", "credentials", s.Rack), s.accountFile(), 0o600},
		File{filepath.Join("try", "claim.yaml"), s.claimFile(), 0o644})
	if s.Local {
		out = append(out, File{filepath.Join("hub", "hub.yaml"), s.hubFile(), 0o644})
	}
	return out, nil
}

// Write puts the files below the folder. Without force it writes none if one is there. The
// codes are conflict and unavailable.
func Write(dir string, files []File, force bool) error {
	const op = "write a first rack"
	var there []string
	for _, f := range files {
		if _, err := os.Lstat(filepath.Join(dir, f.Path)); err == nil {
			there = append(there, f.Path)
		}
	}
	if len(there) > 0 && !force {
		return protocol.Errorf(protocol.CodeConflict, op, "in %s there is %s already; nothing was written", dir, strings.Join(there, ", ")).
			WithHint("name another folder, or give --force to write over them")
	}
	for _, f := range files {
		if err := f.write(dir); err != nil {
			return protocol.Errorf(protocol.CodeUnavailable, op, "%w", err).WithHint("correct the folder, then run it again with --force")
		}
	}
	return nil
}

// write replaces the file as a whole, so that one with an account is never open to others,
// and a link that stands in its place is not followed.
func (f File) write(dir string) error {
	path := filepath.Join(dir, f.Path)
	mode := fs.FileMode(0o755)
	if f.Mode&0o077 == 0 {
		mode = 0o700
	}
	if err := os.MkdirAll(filepath.Dir(filepath.Dir(path)), 0o755); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), mode); err != nil {
		return err
	}
	return file.Replace(path, []byte(f.Text), f.Mode)
}
