package site

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
	"testing"

	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
)

// An upload goes on where it was when the hub is restarted, and its file is there after
// the next restart. No agent gets it whose documents do not name it, by however good a
// certificate.
func TestUploadedFile(t *testing.T) {
	s := newSite(t, 1)
	s.startHub()
	s.apply(s.manifests()...)
	c := s.firstAgent()
	s.join(c)
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	err := w.WriteHeader(&tar.Header{Name: "linux", Mode: 0o644, Size: 100_000, Format: tar.FormatUSTAR})
	_, writeErr := w.Write([]byte(strings.Repeat("0123456789", 10_000)))
	if err := errors.Join(err, writeErr, w.Close()); err != nil {
		t.Fatal(err)
	}
	content := b.Bytes()
	req := api.ISOUploadRequest{File: "debian-12.iso", Digest: fmt.Sprintf("sha256:%x", sha256.Sum256(content)), Size: int64(len(content))}
	u, err := s.client.Uploads.Begin(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.client.Uploads.Send(t.Context(), u.ID, 0, bytes.NewReader(content), 60_000); err != nil {
		t.Fatal(err)
	}
	s.stopHub()
	s.startHub()
	again, err := s.client.Uploads.Begin(t.Context(), req)
	if err != nil || again.ID != u.ID || again.Offset != 60_000 {
		t.Fatalf("%+v, %v", again, err)
	}
	if _, err := s.client.Uploads.Send(t.Context(), u.ID, 60_000, bytes.NewReader(content[60_000:]), req.Size-60_000); err != nil {
		t.Fatal(err)
	}
	f, err := s.client.Uploads.Finish(t.Context(), u.ID, api.ISOFinishRequest{File: req.File})
	if err != nil || f.Digest != req.Digest {
		t.Fatalf("%+v, %v", f, err)
	}
	s.stopHub()
	s.startHub()
	item, err := s.client.ISOs.Get(t.Context(), req.File)
	if err != nil || item.Missing || item.Digest != req.Digest {
		t.Errorf("%+v, %v", item, err)
	}
	if n := s.events(resource.EventUploadedFile); n != 1 {
		t.Errorf("%d events", n)
	}
	agent := s.asAgent(c)
	for what, digest := range map[string]string{"a file": req.Digest, "none": "sha256:" + strings.Repeat("0", 64)} {
		body, err := agent.ISOs.Read(t.Context(), digest, 0, 10)
		if protocol.CodeOf(err) != protocol.CodeDenied || !strings.Contains(err.Error(), "names this digest") {
			t.Errorf("%s: %v", what, err)
		}
		if err == nil {
			_ = body.Close() // it was not to be had
		}
	}
	// An agent is nobody where files are uploaded.
	if _, err := agent.Uploads.Begin(t.Context(), req); protocol.CodeOf(err) != protocol.CodeDenied {
		t.Errorf("an agent uploads: %v", err)
	}
}
