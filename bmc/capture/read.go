package capture

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"io"
	"io/fs"
	"path"

	"rackboot/protocol"
)

// What is read of a capture. The largest BMCs have about 3,000 resources and 20 MB.
const (
	maxFiles = 20_000
	maxBytes = 128 << 20
)

// Read is what [Recorder.Write] wrote: the answers, as files by their names. Other files are passed over, and
// at most 20,000 files and 128 MiB of content are read. It fails with invalid.
func Read(r io.Reader) (map[string][]byte, error) {
	bad := func(format string, args ...any) error {
		return protocol.Errorf(protocol.CodeInvalid, "read capture", format, args...).WithHint("give a file that rackctl bmc probe --direct --record wrote")
	}
	z, err := gzip.NewReader(r)
	if err != nil {
		return nil, bad("%w", err)
	}
	content := io.LimitReader(z, maxBytes+1)
	files, t, left := map[string][]byte{}, tar.NewReader(content), int64(maxBytes)
	for n := 0; ; n++ {
		h, err := t.Next()
		switch {
		case errors.Is(err, io.EOF):
			if len(files) == 0 {
				return nil, bad("it has no answers")
			}
			return files, nil
		case err != nil:
			return nil, bad("%w", err)
		case n == maxFiles:
			return nil, bad("it has more than %d files", maxFiles)
		case h.Size > left:
			return nil, bad("it has more than %d bytes", maxBytes)
		case h.Typeflag != tar.TypeReg || !fs.ValidPath(h.Name) || path.Base(h.Name) != "index.json":
			continue
		}
		text, err := io.ReadAll(t)
		if err != nil {
			return nil, bad("%s: %w", h.Name, err)
		}
		left -= int64(len(text))
		files[h.Name] = text
	}
}
