package httpboot

import (
	"fmt"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"rackboot/protocol"
)

// TestRequests sends requests as firmware and loaders do, and looks at status,
// header and body. It is the same whether the front answers or net/http does.
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
		{"resume to the end", "GET", good, "Range: bytes=2097136-\r\n", "206 Partial Content", map[string]string{"Content-Range": "bytes 2097136-2097151/" + size, "Content-Length": "16"}, "0123456789abcdef"},
		{"the last bytes", "GET", good, "Range: bytes=-4\r\n", "206 Partial Content", map[string]string{"Content-Range": "bytes 2097148-2097151/" + size, "Content-Length": "4"}, "cdef"},
		{"a Range that ends beyond the file", "GET", good, "Range: bytes=2097148-9999999\r\n", "206 Partial Content", map[string]string{"Content-Range": "bytes 2097148-2097151/" + size, "Content-Length": "4"}, "cdef"},
		{"Range beyond the end", "GET", good, "Range: bytes=9999999-\r\n", "416 Requested Range Not Satisfiable", map[string]string{"Content-Range": "bytes */" + size, "Transfer-Encoding": "-", "Content-Length": "33"}, ""},
		{"several ranges are answered by the whole (RFC 9110 14.2)", "GET", good, "Range: bytes=0-3,8-11\r\n", "200 OK", map[string]string{"Content-Length": size, "Content-Type": "application/efi", "Content-Range": "-"}, boot},
		{"Range of HEAD means nothing (RFC 9110 14.2)", "HEAD", good, "Range: bytes=0-3\r\n", "200 OK", map[string]string{"Content-Length": size, "Content-Range": "-"}, ""},
		{"a Range of another unit", "GET", good, "Range: lines=0-3\r\n", "416 Requested Range Not Satisfiable", nil, ""},
		{"If-Range of the same file", "GET", good, "Range: bytes=0-3\r\nIf-Range: \"e1\"\r\n", "206 Partial Content", nil, "0123"},
		{"If-Range of another file", "GET", good, "Range: bytes=0-3\r\nIf-Range: \"old\"\r\n", "200 OK", map[string]string{"Content-Length": size}, boot},
		{"If-Range by time", "GET", good, "Range: bytes=0-3\r\nIf-Range: Sun, 09 Sep 2001 01:46:40 GMT\r\n", "206 Partial Content", nil, "0123"},
		{"If-Match before If-Unmodified-Since (RFC 9110 13.2.2)", "GET", good, "Range: bytes=0-3\r\nIf-Match: \"e1\"\r\nIf-Unmodified-Since: Sun, 09 Sep 2001 01:46:39 GMT\r\n", "206 Partial Content", nil, "0123"},
		{"HEAD has what GET has", "HEAD", good, "", "200 OK", map[string]string{"Accept-Ranges": "bytes", "Last-Modified": "Sun, 09 Sep 2001 01:46:40 GMT", "Connection": "close"}, ""},
		{"a sibling (shim asks without HEAD)", "GET", "/b/" + token + "/small.efi", "", "200 OK", map[string]string{"Content-Length": "2"}, "MZ"},
		{"a sibling behind two slashes (shim 436)", "GET", "/b/" + token + "//small.efi", "", "200 OK", nil, "MZ"},
		{"HEAD of a sibling behind two slashes", "HEAD", "/b/" + token + "//small.efi", "", "200 OK", map[string]string{"Content-Length": "2"}, ""},
		{"a sibling behind the last slash, which was in the query (shim generate_next_uri)", "GET", good + "?from=/small.efi", "", "200 OK", nil, "MZ"},
		{"a sibling in the query that does not exist", "GET", good + "?from=/revocations_sku.efi", "", "404 Not Found", map[string]string{"Content-Length": "10"}, ""},
		{"a name in escapes", "GET", "/%62/" + token + "/%73mall%2Eefi", "", "200 OK", nil, "MZ"},
		{"slashes in escapes", "GET", "/b%2F" + token + "%2F%2Fsmall.efi", "", "200 OK", nil, "MZ"},
		{"backslashes for slashes", "GET", "/b/" + token + "/%5csmall.efi", "", "200 OK", nil, "MZ"},
		{"a broken escape", "GET", "/b/" + token + "/%zz", "", "400 Bad Request", map[string]string{"Connection": "close", "Location": "-"}, ""},
		{"shim 15.8 with a boot option's text as a name", "GET", "/b/" + token + "/\xeaonboard", "", "404 Not Found", map[string]string{"Content-Length": "10"}, ""},
		{"a fixed name, and there are none", "GET", "/autoexec.ipxe", "", "404 Not Found", map[string]string{"Content-Length": "10"}, ""},
		{"a name that is too long", "GET", "/b/" + token + "/" + strings.Repeat("x", maxName+1), "", "404 Not Found", nil, ""},
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
		{"a chunked body is not asked for", "GET", good, "TE: chunked\r\n", "200 OK", map[string]string{"Transfer-Encoding": "-", "Content-Length": size}, boot},
		{"OPTIONS", "OPTIONS", "*", "", "404 Not Found", nil, ""},
		{"report", "POST", "/b/" + token + "/report/installed", "", "204 No Content", nil, ""},
		{"report with a body that nobody reads", "POST", "/b/" + token + "/report/booted", "Content-Length: 4\r\n\r\nbody", "204 No Content", nil, ""},
		{"report with a body over 4 KiB", "POST", "/b/" + token + "/report/booted", "Content-Length: 4097\r\n\r\n" + strings.Repeat("x", 4097), "413 Request Entity Too Large", nil, ""},
		{"report by GET", "GET", "/b/" + token + "/report/booted", "", "405 Method Not Allowed", map[string]string{"Allow": "POST"}, ""},
		{"report of something else", "POST", "/b/" + token + "/report/burnt", "", "404 Not Found", nil, ""},
		{"report in JSON", "POST", "/b/" + token + "/report", "Content-Type: application/json\r\nContent-Length: 18\r\n\r\n{\"state\":\"booted\"}", "204 No Content", nil, ""},
		{"report with a state that is none", "POST", "/b/" + token + "/report", "Content-Type: application/json\r\nContent-Length: 17\r\n\r\n{\"state\":\"burnt\"}", "400 Bad Request", nil, ""},
		{"report with another state than its path", "POST", "/b/" + token + "/report/installed", "Content-Type: application/json\r\nContent-Length: 18\r\n\r\n{\"state\":\"booted\"}", "400 Bad Request", nil, ""},
		{"report without any state", "POST", "/b/" + token + "/report", "", "400 Bad Request", nil, ""},
		{"JSON over 4 KiB", "POST", "/b/" + token + "/report/failed", "Content-Type: application/json\r\nContent-Length: 4098\r\n\r\n{" + strings.Repeat(" ", 4096) + "}", "204 No Content", nil, ""},
		{"JSON over 256 KiB", "POST", "/b/" + token + "/report/booted", "Content-Type: application/json\r\nContent-Length: 262145\r\n\r\n" + strings.Repeat(" ", 262145), "413 Request Entity Too Large", nil, ""},
		{"a failure with a form", "POST", "/b/" + token + "/report/failed", "Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 7\r\n\r\nno disk", "204 No Content", nil, ""},
		{"a failure with a text over 4 KiB", "POST", "/b/" + token + "/report/failed", "Content-Type: text/plain\r\nContent-Length: 5000\r\n\r\n" + strings.Repeat("x", 5000), "204 No Content", nil, ""},
		{"a failure with JSON that is none", "POST", "/b/" + token + "/report/failed", "Content-Type: application/json\r\nContent-Length: 1\r\n\r\n{", "204 No Content", nil, ""},
		{"a failure with JSON of another state", "POST", "/b/" + token + "/report/failed", "Content-Type: application/json\r\nContent-Length: 18\r\n\r\n{\"state\":\"booted\"}", "204 No Content", nil, ""},
		{"a failure with bytes of any kind", "POST", "/b/" + token + "/report/failed", "Content-Type: image/png\r\nContent-Length: 4\r\n\r\n\x89\xff\x00\x01", "204 No Content", nil, ""},
		{"report with an unknown token", "POST", "/b/other/report/booted", "", "404 Not Found", nil, ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			w := start(t)
			requests := []string{row.headers}
			if row.method == "GET" || row.method == "HEAD" { // the front's; with this field it is net/http's
				requests = append(requests, "TE: trailers\r\n"+row.headers)
			}
			for _, headers := range requests {
				status, header, body := w.get(t, row.method, row.path, headers)
				if status != "HTTP/1.1 "+row.status {
					t.Fatalf("%q: got %s, want %s", headers, status, row.status)
				}
				for k, want := range row.header {
					got, ok := header[k]
					if !ok {
						got = "-"
					}
					if got != want {
						t.Errorf("%q: %s: %q, want %q", headers, k, got, want)
					}
				}
				for k, v := range header {
					if v == "" {
						t.Errorf("%q: header %s is empty (edk2 7443)", headers, k)
					}
				}
				if row.body != "" && body != row.body {
					t.Errorf("%q: body of %d bytes, want %d", headers, len(body), len(row.body))
				}
				if row.method == "HEAD" && body != "" {
					t.Errorf("%q: HEAD has a body", headers)
				}
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
		protocol.CodeTimeout: 503, protocol.CodeInternal: 500, protocol.CodeConflict: 409, protocol.CodeUnsupported: 422,
	}
	for _, code := range protocol.Codes() {
		w := start(t)
		w.files.openErr = protocol.Errorf(code, "open", "reason of %s", code)
		w.files.reportErr = w.files.openErr
		for method, path := range map[string]string{"GET": "/b/" + token + "/x", "POST": "/b/" + token + "/report/booted"} {
			status, header, body := w.get(t, method, path, "")
			if !strings.HasPrefix(status, fmt.Sprintf("HTTP/1.1 %d ", want[code])) {
				t.Errorf("%s %s: %s", method, code, status)
			}
			if again := header["Retry-After"] == "15"; again != (want[code] == 503 && method == "GET") {
				t.Errorf("%s %s: Retry-After is %q", method, code, header["Retry-After"])
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
	w.get(t, "POST", "/b/"+token+"/report", "Content-Type: application/json; charset=utf-8\r\nContent-Length: 38\r\n\r\n{\"state\":\"failed\",\"message\":\"no disk\"}")
	if got := strings.Join(w.files.reports, " "); got != "installed booted failed" || w.files.last.Message != "no disk" {
		t.Errorf("got %q, %+v", got, w.files.last)
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
