package httpboot

import (
	"fmt"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"rackboot/protocol"
)

// TestRequests sends requests as firmware and loaders do, and looks at status,
// header and body.
func TestRequests(t *testing.T) {
	boot := string(bootBytes())
	size := fmt.Sprint(len(boot))
	good := "/b/" + token + "/" + bootName
	for _, row := range []struct {
		name, method, path, headers string
		status                      string
		header                      map[string]string // "-" is absent
		body                        string            // "" is any
	}{
		{"HEAD gives the size (EDK2 reads it)", "HEAD", good, "", "200 OK", map[string]string{"Content-Length": size, "Content-Type": "application/efi", "Etag": `"e1"`}, ""},
		{"GET", "GET", good, "User-Agent: UefiHttpBoot/1.0\r\n", "200 OK", map[string]string{"Content-Length": size, "Content-Type": "application/efi", "Transfer-Encoding": "-", "Content-Encoding": "-"}, boot},
		{"gzip is not used when offered", "GET", good, "Accept-Encoding: gzip\r\n", "200 OK", map[string]string{"Content-Encoding": "-", "Content-Length": size}, boot},
		{"two slashes, as shim sends them", "GET", "//b//" + token + "//" + bootName, "", "200 OK", nil, boot},
		{"resume by Range and If-Match (EDK2 PR 6066)", "GET", good, "Range: bytes=16-31\r\nIf-Match: \"e1\"\r\n", "206 Partial Content", map[string]string{"Content-Range": "bytes 16-31/" + size, "Content-Length": "16"}, "0123456789abcdef"},
		{"resume, and the file changed", "GET", good, "Range: bytes=16-31\r\nIf-Match: \"old\"\r\n", "412 Precondition Failed", nil, ""},
		{"resume by If-Unmodified-Since", "GET", good, "Range: bytes=0-0\r\nIf-Unmodified-Since: Sun, 09 Sep 2001 01:46:40 GMT\r\n", "206 Partial Content", nil, "0"},
		{"resume by If-Unmodified-Since, and the file is newer", "GET", good, "Range: bytes=0-0\r\nIf-Unmodified-Since: Sun, 09 Sep 2001 01:46:39 GMT\r\n", "412 Precondition Failed", nil, ""},
		{"Range beyond the end", "GET", good, "Range: bytes=9999999-\r\n", "416 Requested Range Not Satisfiable", nil, ""},
		{"sibling that does not exist (GRUB, shim)", "GET", "/b/" + token + "/revocations_sbat.efi", "", "404 Not Found", map[string]string{"Content-Length": "10", "Content-Type": "text/plain", "Location": "-"}, "Not Found\n"},
		{"HEAD of what does not exist", "HEAD", "/b/" + token + "/nope", "", "404 Not Found", map[string]string{"Content-Length": "10"}, ""},
		{"another token", "GET", "/b/other/" + bootName, "", "404 Not Found", nil, ""},
		{"the refused client's URL", "GET", "/b/refused/refused.efi", "", "404 Not Found", nil, ""},
		{"index.html is not redirected", "GET", "/b/" + token + "/index.html", "", "404 Not Found", map[string]string{"Location": "-"}, ""},
		{"directory without a slash is not redirected", "GET", "/b/" + token, "", "404 Not Found", map[string]string{"Location": "-"}, ""},
		{"root", "GET", "/", "", "404 Not Found", nil, ""},
		{"up and out", "GET", "/b/" + token + "/../../etc/passwd", "", "404 Not Found", nil, ""},
		{"up and out, encoded", "GET", "/b/" + token + "/%2e%2e%2f%2e%2e/etc/passwd", "", "404 Not Found", nil, ""},
		{"backslashes", "GET", "/b/" + token + "/..%5cboot.efi", "", "404 Not Found", nil, ""},
		{"a name that ends in 0xFF (quirk 15)", "GET", good + "%ff", "", "404 Not Found", nil, ""},
		{"a query changes nothing", "GET", good + "?x=/y", "Range: bytes=0-3\r\n", "206 Partial Content", nil, "0123"},
		{"POST to a file", "POST", good, "", "405 Method Not Allowed", map[string]string{"Allow": "GET, HEAD"}, ""},
		{"DELETE of a file", "DELETE", good, "", "405 Method Not Allowed", nil, ""},
		{"OPTIONS", "OPTIONS", "*", "", "404 Not Found", nil, ""},
		{"report", "POST", "/b/" + token + "/report/installed", "", "204 No Content", nil, ""},
		{"report with a body that nobody reads", "POST", "/b/" + token + "/report/booted", "Content-Length: 4\r\n\r\nbody", "204 No Content", nil, ""},
		{"report with a body over 4 KiB", "POST", "/b/" + token + "/report/booted", "Content-Length: 4097\r\n\r\n" + strings.Repeat("x", 4097), "413 Request Entity Too Large", nil, ""},
		{"report by GET", "GET", "/b/" + token + "/report/booted", "", "405 Method Not Allowed", map[string]string{"Allow": "POST"}, ""},
		{"report of something else", "POST", "/b/" + token + "/report/burnt", "", "404 Not Found", nil, ""},
		{"report with an unknown token", "POST", "/b/other/report/booted", "", "404 Not Found", nil, ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			w := start(t)
			status, header, body := w.get(t, row.method, row.path, row.headers)
			if status != "HTTP/1.1 "+row.status {
				t.Fatalf("got %s, want %s", status, row.status)
			}
			for k, want := range row.header {
				got, ok := header[k]
				if !ok {
					got = "-"
				}
				if got != want {
					t.Errorf("%s: %q, want %q", k, got, want)
				}
			}
			for k, v := range header {
				if v == "" {
					t.Errorf("header %s is empty (edk2 7443)", k)
				}
			}
			if row.body != "" && body != row.body {
				t.Errorf("body of %d bytes, want %d", len(body), len(row.body))
			}
			if row.method == "HEAD" && body != "" {
				t.Error("HEAD has a body")
			}
			w.stop()
			if strings.Contains(w.log.String(), token) {
				t.Errorf("the log has the token:\n%s", w.log)
			}
		})
	}
}

// TestErrorCodes: what is denied must look like what is not there.
func TestErrorCodes(t *testing.T) {
	want := map[protocol.Code]int{
		protocol.CodeNotFound: 404, protocol.CodeDenied: 404, protocol.CodeInvalid: 404, protocol.CodeUnavailable: 503,
		protocol.CodeTimeout: 504, protocol.CodeInternal: 500, protocol.CodeConflict: 409, protocol.CodeUnsupported: 422,
	}
	for _, code := range protocol.Codes() {
		w := start(t)
		w.files.openErr = protocol.Errorf(code, "open", "reason of %s", code)
		w.files.reportErr = w.files.openErr
		for method, path := range map[string]string{"GET": "/b/" + token + "/x", "POST": "/b/" + token + "/report/booted"} {
			status, _, body := w.get(t, method, path, "")
			if !strings.HasPrefix(status, fmt.Sprintf("HTTP/1.1 %d ", want[code])) {
				t.Errorf("%s %s: %s", method, code, status)
			}
			if strings.Contains(body, "reason") {
				t.Errorf("%s %s: body %q", method, code, body)
			}
		}
	}
}

func TestReportsReachFiles(t *testing.T) {
	w := start(t)
	w.get(t, "POST", "/b/"+token+"/report/installed", "")
	w.get(t, "POST", "/b/"+token+"/report/booted", "")
	if got := strings.Join(w.files.reports, " "); got != "installed booted" {
		t.Errorf("got %q", got)
	}
}

func TestMetrics(t *testing.T) {
	w := start(t)
	w.get(t, "GET", "/b/"+token+"/small.efi", "")
	w.get(t, "BREW", "/b/"+token+"/small.efi", "")
	w.server.http.SetKeepAlivesEnabled(false)
	want := `
# HELP rackboot_http_boot_requests_total HTTP boot requests, by method and status code.
# TYPE rackboot_http_boot_requests_total counter
rackboot_http_boot_requests_total{code="200",method="GET",scheme="http"} 1
rackboot_http_boot_requests_total{code="405",method="other",scheme="http"} 1
# HELP rackboot_http_boot_sent_bytes_total Bytes of HTTP boot bodies that were sent.
# TYPE rackboot_http_boot_sent_bytes_total counter
rackboot_http_boot_sent_bytes_total{scheme="http"} 21
`
	if err := testutil.GatherAndCompare(w.registry, strings.NewReader(want), "rackboot_http_boot_requests_total", "rackboot_http_boot_sent_bytes_total"); err != nil {
		t.Error(err)
	}
	if problems, err := testutil.GatherAndLint(w.registry); err != nil || len(problems) > 0 {
		t.Errorf("metric names: %v %v", problems, err)
	}
	w.stop()
	if n, _ := testutil.GatherAndCount(w.registry); n != 0 {
		t.Errorf("%d metrics stay", n)
	}
}

func FuzzParseRoute(f *testing.F) {
	for _, p := range []string{"/b/t/f", "//b//t//f", "/b/t/report/installed", "/b/refused/x", "/b/t/../x", "/b", "", "/b/t/a/b\\c", "/b/t/\x00"} {
		f.Add(p)
	}
	f.Fuzz(func(t *testing.T, path string) {
		r, ok := parseRoute(path, "")
		if !ok {
			return
		}
		if r.token == "" || r.token == "refused" || strings.Contains(r.token, "/") || (r.name == "") == (r.report == "") {
			t.Fatalf("%q gives %+v", path, r)
		}
		for part := range strings.SplitSeq(r.name, "/") {
			if r.report == "" && (part == "" || part == "." || part == ".." || strings.ContainsAny(part, "\\\x00\n")) {
				t.Fatalf("%q gives the name %q", path, r.name)
			}
		}
	})
}
