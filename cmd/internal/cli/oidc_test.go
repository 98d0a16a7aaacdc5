package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"rackboot/hub/access"
	"rackboot/hub/api"
	"rackboot/hub/api/apitest"
	"rackboot/hub/people"
	"rackboot/integration/identity"
	"rackboot/protocol"
)

// shown is what rackctl writes for a person, which a test reads meanwhile.
type shown struct {
	mu   sync.Mutex
	text bytes.Buffer
	page chan string
	link *regexp.Regexp
}

// Write implements io.Writer.
func (s *shown) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n, err := s.text.Write(b)
	if found := s.link.FindString(s.text.String()); found != "" && s.page != nil {
		s.page <- found
		s.page = nil
	}
	return n, err
}

// A person logs in with a browser, is known to the hub, goes on when the ID token ends, may do less once a group is
// taken away, and logs out.
func TestLoginOIDC(t *testing.T) {
	p := identity.New(t, identity.User{Name: "ada", Email: "ada@example.com", Groups: []string{"ops", "see"}})
	who, err := people.New(people.Config{
		Issuer: p.URL, ClientID: identity.ClientID, Client: p.Client(), Clock: time.Now,
		Groups: []people.Group{{Name: "ops", Roles: []access.Role{access.Operator}}, {Name: "see", Roles: []access.Role{access.Viewer}}},
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	h := apitest.NewWith(t, func(c *api.Config) { c.People = who })
	dir := t.TempDir()
	config, hubCA, ca := filepath.Join(dir, "config.yaml"), filepath.Join(dir, "hub.pem"), filepath.Join(dir, "idp.pem")
	for path, text := range map[string][]byte{hubCA: h.CA, ca: p.CA} {
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	run := func(errs *shown, args ...string) (int, string, string) {
		var out bytes.Buffer
		if errs == nil {
			errs = &shown{link: regexp.MustCompile("^$")}
		}
		exit := Run(t.Context(), Config{Args: args, Out: &out, Err: errs, In: strings.NewReader(""), Getenv: func(k string) string {
			if k == "RACKCTL_CONFIG" {
				return config
			}
			return ""
		}})
		return exit, out.String(), errs.text.String()
	}
	p.Live(29 * time.Second) // shorter than rackctl renews before
	screen := &shown{page: make(chan string, 1), link: regexp.MustCompile(regexp.QuoteMeta(p.URL) + `/auth\S+`)}
	pages, seen := screen.page, make(chan error, 1)
	go func() { seen <- p.LogIn(t.Context(), <-pages, "ada") }()
	exit, out, errs := run(screen, "login", h.URL, "--ca", hubCA, "--oidc", "--oidc-ca", ca)
	if exit != 0 || !strings.Contains(out, "oidc:ada@example.com") {
		t.Fatalf("exit %d: %s%s", exit, out, errs)
	}
	if err := <-seen; err != nil {
		t.Error(err)
	}
	if info, err := os.Stat(config); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	first, err := os.ReadFile(config)
	if err != nil {
		t.Fatal(err)
	}
	if exit, out, errs = run(nil, "whoami", "-o", "json"); exit != 0 || !strings.Contains(out, `"subject": "ada"`) || !strings.Contains(out, `"operator"`) {
		t.Errorf("exit %d: %s%s", exit, out, errs)
	}
	second, err := os.ReadFile(config)
	if err != nil || bytes.Equal(first, second) {
		t.Errorf("the token was not renewed: %v", err)
	}
	p.Set(identity.User{Name: "ada", Email: "ada@example.com", Groups: []string{"see"}})
	if exit, out, errs = run(nil, "whoami", "-o", "json"); exit != 0 || strings.Contains(out, `"operator"`) {
		t.Errorf("a group was taken away: exit %d: %s%s", exit, out, errs)
	}
	if exit, out, _ = run(nil, "config", "get-contexts"); exit != 0 || !strings.Contains(out, "oidc") {
		t.Errorf("exit %d: %s", exit, out)
	}
	p.Away(true)
	if exit, _, errs = run(nil, "whoami"); exit != protocol.CodeUnavailable.ExitCode() || !strings.Contains(errs, p.URL) {
		t.Errorf("the provider is away: exit %d: %s", exit, errs)
	}
	if exit, _, errs = run(nil, "logout"); exit != 0 {
		t.Errorf("exit %d: %s", exit, errs)
	}
	if left, err := os.ReadFile(config); err != nil || bytes.Contains(left, []byte("token")) || bytes.Contains(left, []byte("refresh")) {
		t.Errorf("%v: %s", err, left)
	}
	if exit, _, errs = run(nil, "login", h.URL, "--ca", hubCA, "--device"); exit != protocol.CodeInvalid.ExitCode() || !strings.Contains(errs, "--oidc") {
		t.Errorf("exit %d: %s", exit, errs)
	}
}
