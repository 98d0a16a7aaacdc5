package s3

import (
	"bytes"
	"crypto/hmac"
	"crypto/md5" //nolint:gosec // as the protocol has it
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/pem"
	"encoding/xml"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// cranky is a double of an S3-compatible store: one bucket, what backups need of the protocol, and
// signatures of version 4 judged by its own reading of them. No real store is among this project's
// tests. It fails as a test says.
type cranky struct {
	t      *testing.T
	url    string
	secret string

	mu      sync.Mutex
	objects map[string][]byte
	uploads map[string]*upload
	calls   []string // method and what it is about

	busy    int                                                                   // so many calls are answered with 503 SlowDown
	deny    string                                                                // the code of an answer to all calls
	part    func(n int, w http.ResponseWriter, r *http.Request, data []byte) bool // true: it was answered
	spoil   func(data []byte) []byte                                              // what is kept of an object
	mute    bool                                                                  // an object is kept, and it is said that it is not
	cutGets int                                                                   // so many answers are cut in the middle
}

type upload struct {
	key   string
	parts map[int][]byte
}

const (
	testKey    = "AKIDEXAMPLE"
	testSecret = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"
	testBucket = "copies"
	testRegion = "eu-test-1"
)

func newCranky(t *testing.T) *cranky {
	t.Helper()
	c := &cranky{t: t, secret: testSecret, objects: map[string][]byte{}, uploads: map[string]*upload{}}
	srv := httptest.NewUnstartedServer(c)
	srv.Config.ErrorLog = nil
	srv.StartTLS()
	t.Cleanup(srv.Close)
	c.url = srv.URL
	dir := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("ca.pem", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: srv.Certificate().Raw})))
	write("account", "[default]\naws_access_key_id = "+testKey+"\naws_secret_access_key = "+testSecret+"\n")
	t.Setenv("CRANKY_DIR", dir)
	return c
}

// bucket is a place in it.
func (c *cranky) bucket(change func(*Config)) *Bucket {
	c.t.Helper()
	dir := os.Getenv("CRANKY_DIR")
	cfg := Config{Endpoint: c.url, Bucket: testBucket, Prefix: "hubs/one", Region: testRegion, CredentialsFile: filepath.Join(dir, "account"), CAFile: filepath.Join(dir, "ca.pem")}
	if change != nil {
		change(&cfg)
	}
	b, err := New(cfg)
	if err != nil {
		c.t.Fatal(err)
	}
	b.part = testPart
	return b
}

// testPart is the least that a part may have.
const testPart = 5 << 20

func (c *cranky) with(do func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	do()
}

// keys are the names of objects, and of those that are begun.
func (c *cranky) keys() (whole, begun []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, u := range c.uploads {
		begun = append(begun, u.key)
	}
	return slices.Sorted(maps.Keys(c.objects)), begun
}

func problem(w http.ResponseWriter, status int, code string) {
	w.Header().Set("Content-Type", "application/xml")
	w.WriteHeader(status)
	fmt.Fprintf(w, "<Error><Code>%s</Code><Message>no</Message></Error>", code)
}

// ServeHTTP implements http.Handler.
func (c *cranky) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	data, err := io.ReadAll(r.Body)
	if err != nil {
		return // the caller is gone
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.calls = append(c.calls, r.Method+" "+r.URL.Path+"?"+r.URL.RawQuery)
	if why := c.signature(r); why != "" {
		problem(w, http.StatusForbidden, why)
		return
	}
	if c.deny != "" {
		problem(w, http.StatusForbidden, c.deny)
		return
	}
	if c.busy > 0 {
		c.busy--
		problem(w, http.StatusServiceUnavailable, "SlowDown")
		return
	}
	if sum := r.Header.Get("Content-Md5"); sum != "" {
		want := md5.Sum(data) //nolint:gosec // as above
		if sum != base64.StdEncoding.EncodeToString(want[:]) {
			problem(w, http.StatusBadRequest, "BadDigest")
			return
		}
	}
	bucket, key, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	if bucket != testBucket {
		problem(w, http.StatusNotFound, "NoSuchBucket")
		return
	}
	q := r.URL.Query()
	switch {
	case key == "" && q.Has("uploads"):
		c.listUploads(w, q)
	case key == "":
		c.list(w, q)
	case r.Method == http.MethodPost && q.Has("uploads"):
		id := strconv.Itoa(len(c.calls))
		c.uploads[id] = &upload{key, map[int][]byte{}}
		answer(w, struct {
			XMLName  xml.Name `xml:"InitiateMultipartUploadResult"`
			UploadId string
		}{UploadId: id})
	case q.Has("uploadId"):
		c.upload(w, r, q, data)
	default:
		c.object(w, r, key, data)
	}
}

func (c *cranky) upload(w http.ResponseWriter, r *http.Request, q url.Values, data []byte) {
	u := c.uploads[q.Get("uploadId")]
	if u == nil {
		problem(w, http.StatusNotFound, "NoSuchUpload")
		return
	}
	switch r.Method {
	case http.MethodPut:
		n, err := strconv.Atoi(q.Get("partNumber"))
		if err != nil {
			problem(w, http.StatusBadRequest, "InvalidArgument")
			return
		}
		if c.part != nil && c.part(n, w, r, data) {
			return
		}
		u.parts[n] = data
		w.Header().Set("ETag", etag(data))
	case http.MethodDelete:
		delete(c.uploads, q.Get("uploadId"))
		w.WriteHeader(http.StatusNoContent)
	case http.MethodPost:
		var asked struct {
			Part []struct {
				PartNumber int
				ETag       string
			}
		}
		if err := xml.Unmarshal(data, &asked); err != nil {
			problem(w, http.StatusBadRequest, "MalformedXML")
			return
		}
		var whole []byte
		for i, p := range asked.Part {
			if p.PartNumber != i+1 || strings.Trim(p.ETag, `"`) != strings.Trim(etag(u.parts[p.PartNumber]), `"`) {
				problem(w, http.StatusBadRequest, "InvalidPart")
				return
			}
			whole = append(whole, u.parts[p.PartNumber]...)
		}
		delete(c.uploads, q.Get("uploadId"))
		if c.spoil != nil {
			whole = c.spoil(whole)
		}
		c.objects[u.key] = whole
		if c.mute {
			problem(w, http.StatusInternalServerError, "InternalError")
			return
		}
		answer(w, struct {
			XMLName xml.Name `xml:"CompleteMultipartUploadResult"`
			Bucket  string
			Key     string
			ETag    string
		}{Bucket: testBucket, Key: u.key, ETag: etag(whole)})
	}
}

func (c *cranky) object(w http.ResponseWriter, r *http.Request, key string, data []byte) {
	have, ok := c.objects[key]
	switch {
	case r.Method == http.MethodPut:
		c.objects[key] = data
		w.Header().Set("ETag", etag(data))
	case r.Method == http.MethodDelete:
		delete(c.objects, key)
		w.WriteHeader(http.StatusNoContent)
	case !ok:
		problem(w, http.StatusNotFound, "NoSuchKey")
	case r.Method == http.MethodGet && c.cutGets > 0:
		c.cutGets--
		w.Header().Set("ETag", etag(have))
		w.Header().Set("Last-Modified", time.Now().UTC().Format(http.TimeFormat))
		w.Header().Set("Content-Length", strconv.Itoa(len(have)))
		w.Write(have[:len(have)/2]) //nolint:errcheck // it is cut
		panic(http.ErrAbortHandler)
	default:
		w.Header().Set("ETag", etag(have))
		http.ServeContent(w, r, "", time.Now(), bytes.NewReader(have))
	}
}

func (c *cranky) list(w http.ResponseWriter, q url.Values) {
	type contents struct {
		Key          string
		Size         int
		LastModified string
		ETag         string
	}
	var out struct {
		XMLName     xml.Name `xml:"ListBucketResult"`
		Name        string
		IsTruncated bool
		Contents    []contents

		NextContinuationToken string
	}
	out.Name = testBucket
	names := slices.Sorted(maps.Keys(c.objects))
	for _, k := range names {
		if !strings.HasPrefix(k, q.Get("prefix")) || k <= q.Get("continuation-token") {
			continue
		}
		if len(out.Contents) == 2 { // pages of two
			out.IsTruncated, out.NextContinuationToken = true, out.Contents[1].Key
			break
		}
		out.Contents = append(out.Contents, contents{k, len(c.objects[k]), time.Now().UTC().Format(time.RFC3339), etag(c.objects[k])})
	}
	answer(w, out)
}

func (c *cranky) listUploads(w http.ResponseWriter, q url.Values) {
	type begun struct {
		Key       string
		UploadId  string
		Initiated string
	}
	var out struct {
		XMLName xml.Name `xml:"ListMultipartUploadsResult"`
		Upload  []begun
	}
	for id, u := range c.uploads {
		if strings.HasPrefix(u.key, q.Get("prefix")) {
			out.Upload = append(out.Upload, begun{u.key, id, time.Now().UTC().Format(time.RFC3339)})
		}
	}
	answer(w, out)
}

func answer(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/xml")
	raw, err := xml.Marshal(v)
	if err != nil {
		panic(err)
	}
	w.Write(raw) //nolint:errcheck // the caller is gone
}

func etag(data []byte) string {
	sum := md5.Sum(data) //nolint:gosec // as above
	return `"` + hex.EncodeToString(sum[:]) + `"`
}

// signature judges a request by AWS's Signature Version 4: the canonical request, the string to sign, and
// the signature. It returns the code of the error; empty is good.
func (c *cranky) signature(r *http.Request) string {
	rest, ok := strings.CutPrefix(r.Header.Get("Authorization"), "AWS4-HMAC-SHA256 ")
	if !ok {
		return "AccessDenied"
	}
	fields := map[string]string{}
	for f := range strings.SplitSeq(rest, ",") {
		k, v, _ := strings.Cut(strings.TrimSpace(f), "=")
		fields[k] = v
	}
	scope := strings.Split(fields["Credential"], "/")
	if len(scope) != 5 || scope[0] != testKey {
		return "InvalidAccessKeyId"
	}
	if scope[2] != testRegion || scope[3] != "s3" || scope[4] != "aws4_request" {
		return "AuthorizationHeaderMalformed"
	}
	at, err := time.Parse("20060102T150405Z", r.Header.Get("X-Amz-Date"))
	if err != nil || time.Since(at).Abs() > 15*time.Minute || at.Format("20060102") != scope[1] {
		return "RequestTimeTooSkewed"
	}
	var headers strings.Builder
	for name := range strings.SplitSeq(fields["SignedHeaders"], ";") {
		v := strings.Join(r.Header.Values(name), ",")
		switch name {
		case "host":
			v = r.Host
		case "content-length":
			v = strconv.FormatInt(r.ContentLength, 10)
		}
		headers.WriteString(name + ":" + strings.TrimSpace(v) + "\n")
	}
	q := r.URL.Query()
	var query []string
	for _, k := range slices.Sorted(maps.Keys(q)) {
		for _, v := range q[k] {
			query = append(query, escape(k)+"="+escape(v))
		}
	}
	var segments []string
	for s := range strings.SplitSeq(r.URL.Path, "/") {
		segments = append(segments, escape(s))
	}
	canonical := strings.Join([]string{
		r.Method, strings.Join(segments, "/"), strings.Join(query, "&"), headers.String(), fields["SignedHeaders"], r.Header.Get("X-Amz-Content-Sha256"),
	}, "\n")
	sum := sha256.Sum256([]byte(canonical))
	text := strings.Join([]string{"AWS4-HMAC-SHA256", r.Header.Get("X-Amz-Date"), strings.Join(scope[1:], "/"), hex.EncodeToString(sum[:])}, "\n")
	key := []byte("AWS4" + c.secret)
	for _, s := range append(scope[1:], text) {
		m := hmac.New(sha256.New, key)
		m.Write([]byte(s))
		key = m.Sum(nil)
	}
	if hex.EncodeToString(key) != fields["Signature"] {
		return "SignatureDoesNotMatch"
	}
	return ""
}

func escape(s string) string { return strings.ReplaceAll(url.QueryEscape(s), "+", "%20") }
