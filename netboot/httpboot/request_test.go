package httpboot

import (
	"bufio"
	"bytes"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
)

func newRequest() *request { return &request{header: make(http.Header)} }

// TestParseRequest: what the front reads itself, and what it leaves to net/http.
func TestParseRequest(t *testing.T) {
	const host = "Host: 192.0.2.1\r\n"
	for _, row := range []struct {
		name, head string
		ours       bool
	}{
		{"EDK2", "HEAD /b/t/boot.efi HTTP/1.1\r\n" + host + "Accept: */*\r\nUser-Agent: UefiHttpBoot/1.0\r\n", true},
		{"iPXE", "GET /b/t/boot.efi HTTP/1.1\r\nConnection: keep-alive\r\nUser-Agent: iPXE/1.21.1\r\n" + host, true},
		{"apt, resuming", "GET /b/t/pool/a.deb HTTP/1.1\r\n" + host + "Range: bytes=5-\r\nIf-Range: Sun, 09 Sep 2001 01:46:40 GMT\r\nUser-Agent: Debian APT-HTTP/1.3\r\n", true},
		{"curl's last one", "GET / HTTP/1.1\r\n" + host + "Connection: close\r\n", true},
		{"an IPv6 address", "GET / HTTP/1.1\r\nHost: [2001:db8::1]:80\r\n", true},
		{"escapes and a query", "GET /b/t/%73mall?x=/y.efi HTTP/1.1\r\n" + host, true},
		{"two slashes", "GET //grubx64.efi HTTP/1.1\r\n" + host, true},
		{"a field twice", "GET / HTTP/1.1\r\n" + host + "X: 1\r\nX: 2\r\n", true},
		{"no field", "GET / HTTP/1.1\r\n", false},
		{"another method", "POST / HTTP/1.1\r\n" + host, false},
		{"HTTP/1.0", "GET / HTTP/1.0\r\n" + host, false},
		{"HTTP/2", "PRI * HTTP/2.0\r\n", false},
		{"a whole URL (RFC 9112 3.2.2)", "GET http://192.0.2.1/ HTTP/1.1\r\n" + host, false},
		{"two spaces", "GET  / HTTP/1.1\r\n" + host, false},
		{"a space at the end", "GET / HTTP/1.1 \r\n" + host, false},
		{"a broken escape", "GET /%zz HTTP/1.1\r\n" + host, false},
		{"a byte above ASCII in the path", "GET /\xea HTTP/1.1\r\n" + host, false},
		{"Host twice (RFC 9112 3.2)", "GET / HTTP/1.1\r\n" + host + host, false},
		{"an empty Host", "GET / HTTP/1.1\r\nHost:\r\n", false},
		{"a Host that is none", "GET / HTTP/1.1\r\nHost: a/b\r\n", false},
		{"a line that is folded (RFC 9112 5.2)", "GET / HTTP/1.1\r\n" + host + "X: 1\r\n 2\r\n", false},
		{"a space before the colon (RFC 9112 5.1)", "GET / HTTP/1.1\r\n" + host + "X : 1\r\n", false},
		{"a field without a colon", "GET / HTTP/1.1\r\n" + host + "X\r\n", false},
		{"a field without a name", "GET / HTTP/1.1\r\n" + host + ": x\r\n", false},
		{"a bare line feed in a field", "GET / HTTP/1.1\r\n" + host + "X: 1\nContent-Length: 5\r\n", false},
		{"a bare carriage return in a field", "GET / HTTP/1.1\r\n" + host + "X: 1\r2\r\n", false},
		{"a length", "GET / HTTP/1.1\r\n" + host + "content-length: 5\r\n", false},
		{"chunks", "GET / HTTP/1.1\r\n" + host + "Transfer-Encoding: chunked\r\n", false},
		{"an expectation", "GET / HTTP/1.1\r\n" + host + "Expect: 100-continue\r\n", false},
		{"another protocol", "GET / HTTP/1.1\r\n" + host + "Connection: Upgrade\r\nUpgrade: h2c\r\n", false},
		{"more of the connection", "GET / HTTP/1.1\r\n" + host + "Connection: close, TE\r\n", false},
		{"too many fields", "GET / HTTP/1.1\r\n" + host + strings.Repeat("X: y\r\n", maxFields), false},
	} {
		if _, ours := newRequest().parse([]byte(row.head+"\r\n"), "192.0.2.9:1"); ours != row.ours {
			t.Errorf("%s: ours %v, want %v", row.name, ours, row.ours)
		}
	}
}

// FuzzHead: what the front takes for a request net/http takes for the same.
func FuzzHead(f *testing.F) {
	for _, head := range []string{
		"GET /b/t/boot.efi HTTP/1.1\r\nHost: 192.0.2.1\r\n",
		"HEAD //b//t/%2e%2E/x?a=/b.efi HTTP/1.1\r\nhost:[2001:db8::1]:80\r\nRange:bytes=0-3\r\nIF-range: \"e\"\t\r\n",
		"GET / HTTP/1.1\r\nHost: x\r\nX: 1\r\nx: 2\r\nConnection: Close\r\n",
		"GET / HTTP/1.1\r\nHost: x\r\nX: 1\n2\r\n",
		"GET /;a=b,c&d#e HTTP/1.1\r\nHost: x\r\n :\r\n",
	} {
		f.Add([]byte(head + "\r\n"))
	}
	f.Fuzz(func(t *testing.T, head []byte) {
		end := bytes.Index(head, []byte("\r\n\r\n"))
		if end < 0 {
			return
		}
		head = head[:end+4]
		q := newRequest()
		got, ok := q.parse(head, "192.0.2.9:1")
		if !ok {
			return
		}
		want, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(head)))
		if err != nil {
			t.Fatalf("%q: %v", head, err)
		}
		want.Header.Del("Cache-Control") // which net/http makes of Pragma
		header := maps.Clone(got.Header)
		delete(header, "Cache-Control")
		delete(header, "Connection")
		delete(want.Header, "Connection")
		if got.Method != want.Method || got.URL.Path != want.URL.Path || got.URL.RawQuery != want.URL.RawQuery || got.RequestURI != want.RequestURI ||
			got.Host != want.Host || got.Close != want.Close || want.ContentLength != 0 || !maps.EqualFunc(header, want.Header, slices.Equal) {
			t.Errorf("%q\n%+v\n%+v", head, got, want)
		}
	})
}
