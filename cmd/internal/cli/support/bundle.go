package support

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"path"
	"time"

	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/redact"
)

// manifest says what is in a bundle, and what is not.
type manifest struct {
	Version string       `json:"version"` // of rackctl
	Hub     string       `json:"hub"`     // where it was asked
	MadeAt  time.Time    `json:"madeAt"`
	Files   []bundleFile `json:"files"`
	// Missing is what could not be had.
	Missing []missing `json:"missing"`
}

// bundleFile is a file of a bundle, as it is after secrets were taken out.
type bundleFile struct {
	Name   string `json:"name"`
	Bytes  int    `json:"bytes"`
	SHA256 string `json:"sha256"`
}

// missing is a part that could not be had, and why.
type missing struct {
	Name string        `json:"name"`
	Code protocol.Code `json:"code"`
	Why  string        `json:"why"`
}

// bundle is a tar file that grows in memory: what a hub answers is bounded, and so is the number of
// what is asked. Nothing comes into it but through put and text, which take secrets out.
type bundle struct {
	manifest manifest
	dir      string // the folder of everything in it
	forms    redact.Forms
	raw      bytes.Buffer
	zip      *gzip.Writer
	tar      *tar.Writer
}

func newBundle(dir, version, hub string, at time.Time) *bundle {
	forms := redact.New()
	b := &bundle{dir: dir, forms: forms, manifest: manifest{Version: version, Hub: forms.Text(hub), MadeAt: at.UTC(), Missing: []missing{}}}
	b.zip = gzip.NewWriter(&b.raw)
	b.tar = tar.NewWriter(b.zip)
	return b
}

// put adds a value as JSON. With an error it says that it is missing, or in part where a list that the
// hub calls incomplete came with it.
func (b *bundle) put(name string, v any, wrong error) error {
	if wrong != nil {
		b.lacks(name, wrong)
		if _, partial := errors.AsType[*api.IncompleteError](wrong); !partial {
			return nil
		}
	}
	raw, err := json.Marshal(v)
	if err != nil {
		return protocol.Errorf(protocol.CodeInternal, op, "%s: %w", name, err)
	}
	if raw, err = b.forms.JSON(raw); err != nil {
		return err
	}
	var out bytes.Buffer
	if err := json.Indent(&out, raw, "", "  "); err != nil {
		return protocol.Errorf(protocol.CodeInternal, op, "%s: %w", name, err)
	}
	return b.add(name, append(out.Bytes(), '\n'))
}

func (b *bundle) text(name, text string) error { return b.add(name, []byte(b.forms.Text(text))) }

func (b *bundle) lacks(name string, why error) {
	b.manifest.Missing = append(b.manifest.Missing, missing{Name: name, Code: protocol.CodeOf(why), Why: b.forms.Text(why.Error())})
}

func (b *bundle) add(name string, raw []byte) error {
	sum := sha256.Sum256(raw)
	b.manifest.Files = append(b.manifest.Files, bundleFile{Name: name, Bytes: len(raw), SHA256: hex.EncodeToString(sum[:])})
	return b.write(name, raw)
}

func (b *bundle) write(name string, raw []byte) error {
	head := &tar.Header{Typeflag: tar.TypeReg, Name: path.Join(b.dir, name), Mode: 0o600, Size: int64(len(raw)), ModTime: b.manifest.MadeAt.Truncate(time.Second)}
	err := b.tar.WriteHeader(head)
	if err == nil {
		_, err = b.tar.Write(raw)
	}
	if err != nil {
		return protocol.Errorf(protocol.CodeInternal, op, "%s: %w", name, err)
	}
	return nil
}

// close ends the bundle with its manifest.
func (b *bundle) close() ([]byte, error) {
	raw, err := json.MarshalIndent(b.manifest, "", "  ")
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeInternal, op, "%w", err)
	}
	if err := b.write("manifest.json", append(raw, '\n')); err != nil {
		return nil, err
	}
	if err := errors.Join(b.tar.Close(), b.zip.Close()); err != nil {
		return nil, protocol.Errorf(protocol.CodeInternal, op, "%w", err)
	}
	return b.raw.Bytes(), nil
}
