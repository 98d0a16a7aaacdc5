package rig

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
)

// archiveBytes is more than one piece of an uploaded file.
const archiveBytes = 640 << 10

// Archive writes an archive with bytes of its own into a folder, and returns its path and digest.
func Archive(dir string, n int) (path, digest string, err error) {
	raw := make([]byte, archiveBytes)
	if _, err := rand.NewChaCha8([32]byte{byte(n), byte(n >> 8)}).Read(raw); err != nil {
		return "", "", err
	}
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	if err := w.WriteHeader(&tar.Header{Name: "file", Mode: 0o644, Size: archiveBytes}); err != nil {
		return "", "", err
	}
	if _, err := w.Write(raw); err != nil {
		return "", "", err
	}
	if err := w.Close(); err != nil {
		return "", "", err
	}
	path = filepath.Join(dir, fmt.Sprintf("upload-%d.tar", n))
	return path, digestOf(out.Bytes()), os.WriteFile(path, out.Bytes(), 0o600)
}

func digestOf(raw []byte) string { return fmt.Sprintf("sha256:%x", sha256.Sum256(raw)) }

// File is an uploaded file: the digest that the hub says, and that of the bytes in its folder; empty where there are none.
type File struct{ Digest, Content string }

// Files are what the hub has of uploaded files, by name.
func (h *Hub) Files(ctx context.Context) (map[string]File, error) {
	c, err := h.Client()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	list, err := c.ISOs.List(ctx)
	if err != nil {
		return nil, err
	}
	out := map[string]File{}
	for _, x := range list.Items {
		f := File{Digest: x.Digest}
		raw, err := os.ReadFile(filepath.Join(h.data(), "isos", "content", strings.TrimPrefix(x.Digest, "sha256:")))
		if err == nil {
			f.Content = digestOf(raw)
		} else if !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		out[x.File] = f
	}
	return out, nil
}
