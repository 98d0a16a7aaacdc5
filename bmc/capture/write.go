package capture

import (
	"archive/tar"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"slices"
	"strings"

	"rackboot/protocol"
)

// Files are the scrubbed answers, as files by their names: redfish/v1/Systems/1/index.json. The file
// capture.json says what was left out.
func (r *Recorder) Files() (map[string][]byte, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, uri := range slices.Sorted(maps.Keys(r.bodies)) {
		r.known.learnText(kindText, uri)
		r.known.learn("", r.bodies[uri], false)
	}
	files := map[string][]byte{}
	for uri, body := range r.bodies {
		name := strings.TrimPrefix(r.known.replace(uri, true), "/") + "/index.json"
		text, err := json.MarshalIndent(r.known.scrub("", body, false), "", "  ")
		if err != nil {
			return nil, protocol.Errorf(protocol.CodeInternal, "write capture", "%w", err)
		}
		files[name] = append(text, '\n')
	}
	text, err := json.MarshalIndent(r.note(len(r.bodies)), "", "  ")
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeInternal, "write capture", "%w", err)
	}
	files["capture.json"] = append(text, '\n')
	return files, nil
}

// Write writes the files as a gzipped tar, the same bytes for the same answers.
func (r *Recorder) Write(w io.Writer) error {
	files, err := r.Files()
	if err != nil {
		return err
	}
	z := gzip.NewWriter(w)
	t := tar.NewWriter(z)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		h := &tar.Header{Name: name, Typeflag: tar.TypeReg, Mode: 0o644, Size: int64(len(files[name])), Format: tar.FormatPAX}
		if err := t.WriteHeader(h); err != nil {
			return protocol.Errorf(protocol.CodeUnavailable, "write capture", "%w", err)
		}
		if _, err := t.Write(files[name]); err != nil {
			return protocol.Errorf(protocol.CodeUnavailable, "write capture", "%w", err)
		}
	}
	if err := errors.Join(t.Close(), z.Close()); err != nil {
		return protocol.Errorf(protocol.CodeUnavailable, "write capture", "%w", err)
	}
	return nil
}
