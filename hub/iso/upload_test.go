package iso

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	"rackboot/internal/doctable"
	"rackboot/protocol"
	protoapi "rackboot/protocol/api"
	"rackboot/state/blob"
)

func TestNameTable(t *testing.T) {
	yesno := []string{"yes", "no"}
	doctable.Of(t, "finish.go", "nameRule").HoldOne(t, [][]string{yesno, yesno, yesno, yesno}, func(in []string) string {
		return string(nameRule(in[0] == "yes", in[1] == "yes", in[2] == "yes", in[3] == "yes"))
	})
}

// Upload, list, the same again, the same content under another name, replacement.
func TestUpload(t *testing.T) {
	s := newSite(t, nil)
	one, two := archive(t, "one"), archive(t, "two")
	f := s.uploaded(protoapi.ISOUploadRequest{File: "A.iso", Digest: digestOf(one), Size: int64(len(one)), Source: "https://mirror.example/A.iso"}, one)
	if f.Digest != digestOf(one) || f.Uploaded != f.Digest || f.UploadedBy != "ann" || !f.UploadedAt.Equal(s.now) || f.Source == "" || f.Signature != nil {
		t.Errorf("%+v", f)
	}
	if !bytes.Equal(s.content("A.iso"), one) {
		t.Error("another content")
	}
	if u, err := s.Begin(t.Context(), request("A.iso", one), "bob"); err != nil || !u.Done || u.ID != "" {
		t.Errorf("the same again: %+v, %v", u, err)
	}
	// The content is there: nothing of it is sent for another name.
	u, err := s.Begin(t.Context(), request("B.iso", one), "bob")
	if err != nil || u.Done || u.Offset != u.Size || u.Prefix != u.Digest {
		t.Fatalf("another name: %+v, %v", u, err)
	}
	if _, err := s.Finish(t.Context(), u.ID, protoapi.ISOFinishRequest{File: "A.iso"}); protocol.CodeOf(err) != protocol.CodeInvalid {
		t.Errorf("finished as another file: %v", err)
	}
	if _, err := s.Finish(t.Context(), u.ID, protoapi.ISOFinishRequest{File: "B.iso"}); err != nil {
		t.Fatal(err)
	}
	if f, err := s.Finish(t.Context(), u.ID, protoapi.ISOFinishRequest{File: "B.iso"}); err != nil || f.File != "B.iso" {
		t.Errorf("finished again: %+v, %v", f, err)
	}
	if n := len(s.blobs.Digests()); n != 1 {
		t.Errorf("%d contents", n)
	}
	_, err = s.upload(request("A.iso", two), two)
	wants(t, "replaced by accident", err, protocol.CodeConflict, "A.iso", digestOf(one), "ann")
	r := request("A.iso", two)
	r.Replace = true
	s.uploaded(r, two)
	if !bytes.Equal(s.content("A.iso"), two) || !bytes.Equal(s.content("B.iso"), one) {
		t.Error("replacing changed another name, or nothing")
	}
	list := s.List(t.Context())
	if len(list.Items) != 2 || list.Items[0].File != "A.iso" || list.Items[0].Missing || len(list.Uploads) != 0 {
		t.Errorf("%+v", list)
	}
	if len(s.events) != 3 || !strings.Contains(s.events[2], "it replaces "+digestOf(one)) {
		t.Errorf("%q", s.events)
	}
}

// A break of any kind: what was answered is there, and the rest is sent.
func TestResume(t *testing.T) {
	content := archive(t, strings.Repeat("0123456789", 400))
	for _, row := range []struct {
		name string
		stop func(*site)
	}{
		{"the connection", func(*site) {}},
		{"the client went away for a while", func(s *site) { s.now = s.now.Add(2 * idleAfter); s.contents.rest() }},
		{"the hub was restarted", (*site).restart},
	} {
		t.Run(row.name, func(t *testing.T) {
			s := newSite(t, nil)
			u, err := s.Begin(t.Context(), request("A.iso", content), "ann")
			if err != nil || u.Offset != 0 {
				t.Fatal(u, err)
			}
			_, err = s.Append(t.Context(), u.ID, 0, io.MultiReader(bytes.NewReader(content[:1000]), iotest.ErrReader(errors.New("connection reset"))))
			wants(t, "cut off", err, protocol.CodeUnavailable, "connection reset")
			row.stop(s)
			again, err := s.Begin(t.Context(), request("A.iso", content), "ann")
			if err != nil || again.ID != u.ID || again.Offset != 1000 || again.Prefix != digestOf(content[:1000]) {
				t.Fatalf("%+v, %v", again, err)
			}
			for _, at := range []int64{0, 999, 1001} {
				now, err := s.Append(t.Context(), u.ID, at, bytes.NewReader(content[at:]))
				wants(t, fmt.Sprint("at ", at), err, protocol.CodeConflict, "1000 bytes are there")
				if now.Offset != 1000 {
					t.Errorf("%+v", now)
				}
			}
			_, err = s.Finish(t.Context(), u.ID, protoapi.ISOFinishRequest{File: "A.iso"})
			wants(t, "finished early", err, protocol.CodeConflict, "1000 of")
			row.stop(s)
			_, err = s.Append(t.Context(), u.ID, 1000, io.MultiReader(bytes.NewReader(content[1000:]), strings.NewReader("and more")))
			wants(t, "longer than it was said", err, protocol.CodeInvalid, "longer")
			now, err := s.Upload(t.Context(), u.ID)
			if err != nil || now.Offset < 1000 {
				t.Fatal(now, err)
			}
			s.uploaded(request("A.iso", content), content)
			if !bytes.Equal(s.content("A.iso"), content) {
				t.Error("another content")
			}
			if left, err := os.ReadDir(s.path("uploads")); err != nil || len(left) != 0 {
				t.Errorf("left: %v, %v", left, err)
			}
		})
	}
}

// What the hub's disk has changed is not believed.
func TestDamagedPart(t *testing.T) {
	s := newSite(t, nil)
	content := archive(t, strings.Repeat("x", 3000))
	u, err := s.Begin(t.Context(), request("A.iso", content), "ann")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Append(t.Context(), u.ID, 0, bytes.NewReader(content[:2000])); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	part := filepath.Join(s.path("content"), "part-"+strings.TrimPrefix(digestOf(content), "sha256:"))
	raw, err := os.ReadFile(part)
	if err != nil {
		t.Fatal(err)
	}
	raw[7] ^= 1
	if err := os.WriteFile(part, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	s.open()
	if u, err = s.Begin(t.Context(), request("A.iso", content), "ann"); err != nil || u.Offset != 0 {
		t.Errorf("%+v, %v", u, err)
	}
	s.uploaded(request("A.iso", content), content)
}

// What is not as it was said is refused, names both digests, and leaves nothing.
func TestWrongContent(t *testing.T) {
	right, wrong := archive(t, "right"), archive(t, "wrong")
	s := newSite(t, nil)
	_, err := s.upload(request("A.iso", right), wrong)
	wants(t, "another content", err, protocol.CodeInvalid, digestOf(right), digestOf(wrong))
	if got := s.List(t.Context()); len(got.Items)+len(got.Uploads) != 0 || len(s.blobs.Digests())+len(s.blobs.Parts()) != 0 {
		t.Errorf("left: %+v, %v, %v", got, s.blobs.Digests(), s.blobs.Parts())
	}
	s.uploaded(request("A.iso", right), right)

	text := []byte("this is no archive at all")
	_, err = s.upload(request("B.iso", text), text)
	wants(t, "no archive", err, protocol.CodeInvalid, "B.iso")
	short := right[:514] // the header says more
	_, err = s.upload(request("C.iso", short), short)
	wants(t, "truncated", err, protocol.CodeInvalid, "C.iso")
	junk := zipped(t, []byte("no tar"))
	_, err = s.upload(request("D.tar.gz", junk), junk)
	wants(t, "compressed, and no tar", err, protocol.CodeInvalid, "D.tar.gz")
	if got := s.List(t.Context()); len(got.Items) != 1 || len(got.Uploads) != 0 {
		t.Errorf("%+v", got)
	}
}

// A compressed tar is packed again once; the book knows both, and another name of it costs
// nothing.
func TestRepacked(t *testing.T) {
	s := newSite(t, nil)
	plain := archive(t, strings.Repeat("kernel ", 1000))
	packed := zipped(t, plain)
	f := s.uploaded(request("A.tar.gz", packed), packed)
	if f.Uploaded != digestOf(packed) || f.UploadedSize != int64(len(packed)) || f.Digest == f.Uploaded || f.Size <= f.UploadedSize {
		t.Errorf("%+v", f)
	}
	if e := f.Env(); e.Digest != f.Digest || e.Sum() != digestOf(packed) {
		t.Errorf("environments see %+v", e)
	}
	if !bytes.Contains(s.content("A.tar.gz"), []byte("kernel kernel")) {
		t.Error("it is not unpacked")
	}
	if got := s.blobs.Digests(); len(got) != 1 || got[0] != f.Digest {
		t.Errorf("what was uploaded is left: %v", got)
	}
	again, err := s.Begin(t.Context(), request("B.tar.gz", packed), "ann")
	if err != nil || again.Offset != again.Size {
		t.Fatalf("%+v, %v", again, err)
	}
	g, err := s.Finish(t.Context(), again.ID, protoapi.ISOFinishRequest{File: "B.tar.gz"})
	if err != nil || g.Digest != f.Digest || g.Uploaded != f.Uploaded {
		t.Errorf("%+v, %v", g, err)
	}
}

// An environment's checksum is of what is uploaded, in any of its architectures, and wins
// over what the caller says.
func TestEnvironmentsChecksum(t *testing.T) {
	s := newSite(t, nil)
	right, other := archive(t, "right"), archive(t, "other")
	hex := strings.ToUpper(strings.TrimPrefix(digestOf(right), "sha256:"))
	s.put(env("debian-12", "arm.iso", hex))
	_, err := s.upload(request("arm.iso", other), other)
	wants(t, "another release", err, protocol.CodeInvalid, "debian-12", strings.ToLower(hex), strings.TrimPrefix(digestOf(other), "sha256:"))
	s.uploaded(request("arm.iso", right), right)
	s.uploaded(request("amd64.iso", other), other) // named without a checksum
	s.uploaded(request("else.iso", other), other)

	// It came while the upload was under way.
	u, err := s.Begin(t.Context(), request("late.iso", other), "ann")
	if err != nil {
		t.Fatal(err)
	}
	s.put(env("late", "late.iso", hex))
	_, err = s.Finish(t.Context(), u.ID, protoapi.ISOFinishRequest{File: "late.iso"})
	wants(t, "said meanwhile", err, protocol.CodeInvalid, "late", digestOf(other)[7:])
	if len(s.List(t.Context()).Uploads) != 0 {
		t.Error("the upload is left")
	}
}

// Two uploaders of one name: each keeps what it has, the first to finish has the name.
func TestTwoUploaders(t *testing.T) {
	s := newSite(t, nil)
	one, two := archive(t, "one"), archive(t, "two")
	a, err := s.Begin(t.Context(), request("A.iso", one), "ann")
	if err != nil {
		t.Fatal(err)
	}
	b, err := s.Begin(t.Context(), request("A.iso", two), "bob")
	if err != nil || a.ID == b.ID {
		t.Fatal(a, b, err)
	}
	var done sync.WaitGroup
	for id, content := range map[string][]byte{a.ID: one, b.ID: two} {
		done.Go(func() {
			if _, err := s.Append(t.Context(), id, 0, bytes.NewReader(content)); err != nil {
				t.Error(err)
			}
		})
	}
	done.Wait()
	if _, err := s.Finish(t.Context(), b.ID, protoapi.ISOFinishRequest{File: "A.iso"}); err != nil {
		t.Fatal(err)
	}
	_, err = s.Finish(t.Context(), a.ID, protoapi.ISOFinishRequest{File: "A.iso"})
	wants(t, "the second", err, protocol.CodeConflict, "bob")
	if !bytes.Equal(s.content("A.iso"), two) {
		t.Error("the second has the name")
	}

	// Two senders of one content: one at a time, and the other is told so.
	three := archive(t, "three")
	c, err := s.Begin(t.Context(), request("C.iso", three), "ann")
	if err != nil {
		t.Fatal(err)
	}
	r, w := io.Pipe()
	done.Go(func() {
		if _, err := s.Append(t.Context(), c.ID, 0, r); err != nil {
			t.Error(err)
		}
	})
	if _, err := w.Write(three[:100]); err != nil {
		t.Fatal(err)
	}
	_, err = s.Append(t.Context(), c.ID, 0, bytes.NewReader(three))
	wants(t, "a second sender", err, protocol.CodeUnavailable, "somebody else")
	_, err = s.Begin(t.Context(), request("C.iso", three), "bob")
	wants(t, "begun meanwhile", err, protocol.CodeUnavailable)
	if _, err := s.uploads.of("test", c.ID); err != nil {
		t.Errorf("the first sender has lost its upload: %v", err)
	}
	wants(t, "ended meanwhile", s.Abort(c.ID), protocol.CodeUnavailable)
	wants(t, "other size", func() error {
		q := request("D.iso", three)
		q.Size++
		_, err := s.Begin(t.Context(), q, "bob")
		return err
	}(), protocol.CodeConflict, "another upload says")
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	done.Wait()
	s.uploaded(request("C.iso", three), three)
}

// Without room nothing is begun, and nothing of what is there goes.
func TestNoRoom(t *testing.T) {
	content := archive(t, "a")
	s := newSite(t, func(c *Config) { c.Quota = int64(len(content)) + 100 })
	s.uploaded(request("A.iso", content), content)
	other := archive(t, "b")
	_, err := s.Begin(t.Context(), request("B.iso", other), "ann")
	wants(t, "over the quota", err, protocol.CodeUnavailable, "insufficient storage")
	if !errors.Is(err, blob.ErrInsufficient) {
		t.Error("not told apart")
	}
	if got := s.List(t.Context()); len(got.Uploads) != 0 || len(got.Items) != 1 || got.Items[0].Missing {
		t.Errorf("%+v", got)
	}
	// What is unpacked has no room either: the name is not given, and the upload stays.
	big := archive(t, strings.Repeat("0", 4000))
	s = newSite(t, func(c *Config) { c.Quota = 2000 })
	packed := zipped(t, big)
	_, err = s.upload(request("A.tar.gz", packed), packed)
	if !errors.Is(err, blob.ErrInsufficient) || len(s.List(t.Context()).Uploads) != 1 {
		t.Errorf("%v, %+v", err, s.List(t.Context()))
	}
}

func TestManyUploads(t *testing.T) {
	s := newSite(t, nil)
	content := archive(t, "a")
	for n := range maxUploads {
		if _, err := s.Begin(t.Context(), request(fmt.Sprintf("%d.iso", n), content), "ann"); err != nil {
			t.Fatal(err)
		}
	}
	_, err := s.Begin(t.Context(), request("more.iso", content), "ann")
	wants(t, "one more", err, protocol.CodeUnavailable, "32 uploads")
	if _, err := s.Begin(t.Context(), request("0.iso", content), "ann"); err != nil {
		t.Errorf("one of them goes on: %v", err)
	}
	s.now = s.now.Add(protoapi.ISOUploadLife - time.Minute)
	s.expire(t.Context())
	if got := len(s.List(t.Context()).Uploads); got != maxUploads {
		t.Errorf("%d are left before their time", got)
	}
	u, err := s.Begin(t.Context(), request("0.iso", content), "ann") // which is a word too
	if err != nil {
		t.Fatal(err)
	}
	s.now = s.now.Add(2 * time.Minute)
	s.expire(t.Context())
	if got := s.List(t.Context()).Uploads; len(got) != 1 || got[0].ID != u.ID {
		t.Errorf("%+v", got)
	}
	if err := s.Abort(u.ID); err != nil {
		t.Fatal(err)
	}
	_, err = s.Upload(t.Context(), u.ID)
	wants(t, "ended", err, protocol.CodeNotFound)
	if len(s.blobs.Parts()) != 0 {
		t.Errorf("left: %v", s.blobs.Parts())
	}
}

// A record that cannot be read is forgotten, and hinders nothing.
func TestDamagedRecord(t *testing.T) {
	s := newSite(t, nil)
	content := archive(t, "a")
	if _, err := s.Begin(t.Context(), request("A.iso", content), "ann"); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(s.Close(), os.WriteFile(s.path("uploads", "x.json"), []byte("{"), 0o600), os.WriteFile(s.path("uploads", "tmp-1"), nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	s.open()
	if got := s.List(t.Context()).Uploads; len(got) != 1 || got[0].File != "A.iso" {
		t.Errorf("%+v", got)
	}
	if left, err := os.ReadDir(s.path("uploads")); err != nil || len(left) != 1 {
		t.Errorf("%v, %v", left, err)
	}
}
