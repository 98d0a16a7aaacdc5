package web

import (
	"compress/gzip"
	"encoding/json"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"rackboot/protocol/resource"
	"rackboot/protocol/selector"
)

// firstView is what a browser fetches before it shows anything, and maxFirstView what that may be.
const maxFirstView = 100 << 10

// All files of the page together are small: a first view over a slow line takes no longer than one picture.
func TestFirstViewIsSmall(t *testing.T) {
	f, _ := newFront(t, nil)
	sum := 0
	for name, one := range f.files {
		if name != conditionsFile && name != refusalsFile { // they come behind the first view
			sum += len(one.zipped)
		}
	}
	t.Logf("the first view is %d bytes, the conditions %d", sum, len(f.files[conditionsFile].zipped))
	if sum > maxFirstView {
		t.Errorf("the page is %d bytes zipped; at most %d", sum, maxFirstView)
	}
}

func TestFiles(t *testing.T) {
	f, _ := newFront(t, nil)
	for name := range f.files {
		resp := send(t, f, http.MethodGet, PathPage+name, "", "Accept-Encoding", "gzip, br")
		h := resp.Header
		if resp.StatusCode != http.StatusOK || h.Get("Content-Encoding") != "gzip" || h.Get("Vary") != "Accept-Encoding" || h.Get("Cache-Control") != "no-cache" || h.Get("Content-Type") == "" {
			t.Errorf("%s: %d, %v", name, resp.StatusCode, h)
		}
		z, err := gzip.NewReader(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		zipped, err := io.ReadAll(z)
		if err != nil {
			t.Fatal(err)
		}
		again := send(t, f, http.MethodGet, PathPage+name, "", "Accept-Encoding", "gzip", "If-None-Match", h.Get("ETag"))
		plain := send(t, f, http.MethodGet, PathPage+name, "")
		body, err := io.ReadAll(plain.Body)
		if err != nil {
			t.Fatal(err)
		}
		if again.StatusCode != http.StatusNotModified || plain.Header.Get("Content-Encoding") != "" || string(body) != string(zipped) || plain.Header.Get("ETag") == h.Get("ETag") {
			t.Errorf("%s: again %d, plain encoded %q", name, again.StatusCode, plain.Header.Get("Content-Encoding"))
		}
	}
	for path, want := range map[string]int{"/": http.StatusSeeOther, "/page/none": 404, "/page/static/page.js": 404, "/page/../web.go": 404} {
		if resp := send(t, f, http.MethodGet, path, ""); resp.StatusCode != want {
			t.Errorf("%s: %d, want %d", path, resp.StatusCode, want)
		}
	}
	if resp := send(t, f, http.MethodPost, PathPage, ""); resp.StatusCode != http.StatusMethodNotAllowed {
		t.Errorf("a post: %d", resp.StatusCode)
	}
}

// What is sent below /page/ runs nothing that is not the hub's, and stands in no frame.
func TestHeaders(t *testing.T) {
	f, _ := newFront(t, nil)
	for _, path := range []string{PathPage, PathPage + "page.js", PathPage + "none", pathSession, "/"} {
		h := send(t, f, http.MethodGet, path, "").Header
		csp := h.Get("Content-Security-Policy")
		if strings.Contains(csp, "unsafe") || strings.Contains(csp, "*") {
			t.Errorf("%s: the policy is %s", path, csp)
		}
		for _, want := range []string{"default-src 'none'", "script-src 'self'", "frame-ancestors 'none'", "base-uri 'none'"} {
			if !strings.Contains(csp, want) {
				t.Errorf("%s: the policy lacks %s", path, want)
			}
		}
		if h.Get("X-Content-Type-Options") != "nosniff" || h.Get("Referrer-Policy") != "no-referrer" {
			t.Errorf("%s: %v", path, h)
		}
	}
}

// The policy forbids what stands within the page, so nothing may; and nothing that a server says becomes markup.
func TestNothingInline(t *testing.T) {
	f, _ := newFront(t, nil)
	inline := regexp.MustCompile(`(?i)<script(>| [^>]*>[^<]+)|<style|\son[a-z]+="|\sstyle="|javascript:`)
	markup := regexp.MustCompile(`innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|sessionStorage|setAttribute\("style"`)
	for name, one := range f.files {
		if name == "" && inline.Match(one.plain) {
			t.Errorf("the page has %q within", inline.Find(one.plain))
		}
		if strings.HasSuffix(name, ".js") && markup.Match(one.plain) {
			t.Errorf("%s has %q", name, markup.Find(one.plain))
		}
	}
}

// What modules import is there: a browser stops at the first that is not.
func TestImports(t *testing.T) {
	f, _ := newFront(t, nil)
	from := regexp.MustCompile(`(?m)^import .* from "\./([^"]+)";$`)
	seen := 0
	for name, one := range f.files {
		for _, m := range from.FindAllSubmatch(one.plain, -1) {
			seen++
			if f.files[string(m[1])] == nil {
				t.Errorf("%s imports %s, which is not there", name, m[1])
			}
		}
	}
	if seen == 0 {
		t.Error("no module imports another")
	}
}

// The page knows each condition's hint.
func TestConditions(t *testing.T) {
	f, _ := newFront(t, nil)
	var all map[resource.ConditionCode]condition
	if err := json.Unmarshal(f.files[conditionsFile].plain, &all); err != nil {
		t.Fatal(err)
	}
	for _, c := range resource.Conditions() {
		if got := all[c.Code]; got.Hint != c.Hint || got.Severity != c.Severity || got.Title != c.Title {
			t.Errorf("%s: %+v", c.Code, got)
		}
	}
}

// The page asks for fields that there are: the hub refuses a watch for others, and nothing is shown.
func TestAsksForFields(t *testing.T) {
	f, _ := newFront(t, nil)
	table := regexp.MustCompile(`new (?:Servers|Table)\("([a-z]+)", \{(.*)\}\)`)
	only := regexp.MustCompile(`only: "([^"]+)"`)
	field := regexp.MustCompile(`field: "([^"]+)"`)
	seen := 0
	for _, m := range table.FindAllStringSubmatch(string(f.files["fleet.js"].plain), -1) {
		kind, ok := resource.ParseKind(m[1])
		if !ok {
			t.Errorf("there is no %s", m[1])
			continue
		}
		if q := only.FindStringSubmatch(m[2]); q != nil {
			seen++
			if _, err := selector.ParseOnly(q[1], kind); err != nil {
				t.Errorf("%s: %v", m[1], err)
			}
		}
		if q := field.FindStringSubmatch(m[2]); q != nil {
			seen++
			if _, err := selector.ParseFields(q[1], kind); err != nil {
				t.Errorf("%s: %v", m[1], err)
			}
		}
	}
	if seen < 3 {
		t.Errorf("only %d were found", seen)
	}
}
