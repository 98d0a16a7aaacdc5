package api

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

func TestISOUploadRequest(t *testing.T) {
	good := ISOUploadRequest{File: "A.iso", Digest: "sha256:" + strings.Repeat("a", 64), Size: 1}
	for _, row := range []struct {
		name   string
		change func(*ISOUploadRequest)
		code   protocol.Code
	}{
		{"good", func(*ISOUploadRequest) {}, ""},
		{"with a source", func(r *ISOUploadRequest) { r.Source = "https://mirror.example/a/A.iso" }, ""},
		{"a path", func(r *ISOUploadRequest) { r.File = "a/b" }, protocol.CodeInvalid},
		{"no digest", func(r *ISOUploadRequest) { r.Digest = "" }, protocol.CodeInvalid},
		{"another digest", func(r *ISOUploadRequest) { r.Digest = "sha512:" + strings.Repeat("a", 64) }, protocol.CodeInvalid},
		{"a digest in capitals", func(r *ISOUploadRequest) { r.Digest = "sha256:" + strings.Repeat("A", 64) }, protocol.CodeInvalid},
		{"nothing", func(r *ISOUploadRequest) { r.Size = 0 }, protocol.CodeInvalid},
		{"too much", func(r *ISOUploadRequest) { r.Size = MaxISOSize + 1 }, protocol.CodeInvalid},
		{"a signature without a scheme", func(r *ISOUploadRequest) { r.Signature = []byte("x") }, protocol.CodeInvalid},
		{"a scheme without a signature", func(r *ISOUploadRequest) { r.Scheme = resource.SignatureOpenPGP }, protocol.CodeInvalid},
		{"another scheme", func(r *ISOUploadRequest) { r.Signature, r.Scheme = []byte("x"), "minisign" }, protocol.CodeUnsupported},
		{"a long signature", func(r *ISOUploadRequest) {
			r.Signature, r.Scheme = make([]byte, MaxISOSignature+1), resource.SignatureOpenPGP
		}, protocol.CodeInvalid},
		{"a long keyring", func(r *ISOUploadRequest) { r.Keyring = make([]byte, MaxISOKeyring+1) }, protocol.CodeInvalid},
		{"a source with a user", func(r *ISOUploadRequest) { r.Source = "https://u:sesame@m/a" }, protocol.CodeInvalid},
		{"a source with a query", func(r *ISOUploadRequest) { r.Source = "https://m/a?token=sesame" }, protocol.CodeInvalid},
		{"a source that is a file", func(r *ISOUploadRequest) { r.Source = "file:///etc/passwd" }, protocol.CodeInvalid},
	} {
		r := good
		row.change(&r)
		err := r.Validate()
		if protocol.CodeOf(err) != row.code || err != nil && strings.Contains(err.Error(), "sesame") {
			t.Errorf("%s: %v", row.name, err)
		}
	}
}

// What an answer says of its range is compared with what was asked for.
func TestISOContent(t *testing.T) {
	content := []byte("0123456789")
	digest := "sha256:" + strings.Repeat("a", 64)
	for _, row := range []struct {
		name   string
		answer http.HandlerFunc
		want   string
		code   protocol.Code
	}{
		{"a range", func(w http.ResponseWriter, r *http.Request) {
			http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(content))
		}, "3456", ""},
		{"all of it", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(content) }, "", protocol.CodeInternal},
		{"another range", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Range", "bytes 4-7/10")
			w.WriteHeader(http.StatusPartialContent)
		}, "", protocol.CodeInternal},
		{"refused", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) }, "", protocol.CodeDenied},
		{"busy", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) }, "", protocol.CodeUnavailable},
		{"beyond the end", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusRequestedRangeNotSatisfiable) }, "", protocol.CodeInternal},
	} {
		t.Run(row.name, func(t *testing.T) {
			srv := httptest.NewServer(row.answer)
			defer srv.Close()
			c, err := NewClient(Config{BaseURL: srv.URL})
			if err != nil {
				t.Fatal(err)
			}
			defer c.CloseIdle()
			body, err := c.ISOs.Read(t.Context(), digest, 3, 4)
			if row.code != "" {
				if protocol.CodeOf(err) != row.code {
					t.Errorf("%v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			defer body.Close()
			if got, err := io.ReadAll(body); err != nil || string(got) != row.want {
				t.Errorf("%q, %v", got, err)
			}
		})
	}
	c, err := NewClient(Config{BaseURL: "http://127.0.0.1:1"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.ISOs.Read(t.Context(), "../x", 0, 1); protocol.CodeOf(err) != protocol.CodeInvalid {
		t.Errorf("%v", err)
	}
}
