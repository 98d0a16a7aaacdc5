package manifest

import (
	"io"
	"os"
	"path/filepath"
	"slices"

	"rackboot/protocol"
)

// maxFile bounds one file in bytes; the hub takes no longer request.
const maxFile = 1 << 20

// Source is the text of one file.
type Source struct {
	Name string // as it is shown in errors
	Data []byte
}

// Read reads files, folders (their *.yaml, *.yml and *.json, sorted, without
// subfolders) and standard input (-). The codes are not_found, invalid (too
// long, or a folder with none) and unavailable.
func Read(paths []string, stdin io.Reader) ([]Source, error) {
	var out []Source
	for _, p := range paths {
		if p == "-" {
			src, err := readAll("stdin", stdin)
			if err != nil {
				return nil, err
			}
			out = append(out, src)
			continue
		}
		files, err := expand(p)
		if err != nil {
			return nil, err
		}
		for _, name := range files {
			src, err := readFile(name)
			if err != nil {
				return nil, err
			}
			out = append(out, src)
		}
	}
	return out, nil
}

func expand(path string) ([]string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fileError(path, err)
	}
	if !info.IsDir() {
		return []string{path}, nil
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, fileError(path, err)
	}
	var out []string
	for _, e := range entries {
		if !e.IsDir() && slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(e.Name())) {
			out = append(out, filepath.Join(path, e.Name()))
		}
	}
	if len(out) == 0 {
		return nil, protocol.Errorf(protocol.CodeInvalid, "read", "folder %s has no *.yaml, *.yml or *.json", path).
			WithHint("name the file, or a folder that has some; subfolders are not read")
	}
	return out, nil
}

func readFile(name string) (Source, error) {
	f, err := os.Open(name)
	if err != nil {
		return Source{}, fileError(name, err)
	}
	defer f.Close()
	return readAll(name, f)
}

func readAll(name string, r io.Reader) (Source, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxFile+1))
	if err != nil {
		return Source{}, fileError(name, err)
	}
	if len(data) > maxFile {
		return Source{}, protocol.Errorf(protocol.CodeInvalid, "read", "%s is longer than %d bytes", name, maxFile).
			WithHint("split it, and apply racks, segments and BMCs before servers")
	}
	return Source{name, data}, nil
}

func fileError(name string, err error) error {
	code := protocol.CodeUnavailable
	if os.IsNotExist(err) {
		code = protocol.CodeNotFound
	}
	return protocol.Errorf(code, "read", "%w", err).WithHint("check the path %s and its permissions", name)
}
