package bootenv

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strconv"

	"github.com/goccy/go-yaml"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// scope is the dot of every template. Its methods are what templates have, with the names
// of dr-provision's RenderData.
type scope struct{ r *run }

// wrongf is an error of a template's own making.
func wrongf(format string, args ...any) *protocol.Error {
	return protocol.Errorf(protocol.CodeInvalid, opRender, format, args...)
}

// Format implements fmt.Formatter, so that printing the dot prints nothing of the agent.
func (s scope) Format(f fmt.State, _ rune) { fmt.Fprint(f, "(data of the boot environment)") }

// Machine is the server.
func (s *scope) Machine() *machine { return &machine{s.r} }

// Env is the boot environment.
func (s *scope) Env() *env { return &env{s.r} }

// held is the value of a param that wins.
func (s *scope) held(name string) (held, error) {
	all := s.r.e.params.all(name)
	if len(all) == 0 {
		return held{}, wrongf("param %q %w", name, errNoParam).
			WithHint("set it on the server, a profile, its group or the profile global, or test it with .ParamExists")
	}
	s.r.note(all[0].Origin)
	return all[0], s.charge(all[0].value)
}

// charge counts a value that a template gets.
func (s *scope) charge(v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	if err := s.r.tick(); err != nil {
		return err
	}
	return s.r.make(len(text))
}

// Param is the value of a param. It is an error where nobody gives one and its schema has
// no default.
func (s *scope) Param(name string) (any, error) {
	h, err := s.held(name)
	return clone(h.value), err
}

// ParamExists says whether Param gives a value.
func (s *scope) ParamExists(name string) bool { return len(s.r.e.params.all(name)) > 0 }

// ParamCompose is the value with those of all sources merged: maps key by key, the most
// specific winning, lists one after the other.
func (s *scope) ParamCompose(name string) (any, error) {
	all := s.r.e.params.all(name)
	for _, h := range all {
		s.r.note(h.Origin)
	}
	v, err := compose(all)
	if err != nil {
		return nil, wrongf("param %q %w", name, err)
	}
	return v, s.charge(v)
}

// ParamExpand is the value with every text in it rendered as a template.
func (s *scope) ParamExpand(name string) (any, error) {
	h, err := s.held(name)
	if err != nil {
		return nil, err
	}
	s.r.opaque = s.r.opaque || h.Secret
	return s.ObjectExpand(clone(h.value))
}

// ParamAsJSON is the value as JSON.
func (s *scope) ParamAsJSON(name string) (string, error) {
	h, err := s.held(name)
	if err != nil {
		return "", err
	}
	text, err := json.Marshal(h.value)
	return string(text), err
}

// ParamAsYAML is the value as YAML, its maps in the order of their keys.
func (s *scope) ParamAsYAML(name string) (string, error) {
	h, err := s.held(name)
	if err != nil {
		return "", err
	}
	plain, err := json.Marshal(h.value)
	if err == nil {
		err = s.r.use(len(plain) * sizeYAML)
	}
	if err != nil {
		return "", err
	}
	text, err := yaml.Marshal(h.value)
	return string(text), err
}

// StringExpand renders a text as a template.
func (s *scope) StringExpand(text string) (string, error) { return s.r.expand(text) }

// ObjectExpand renders every text in a value.
func (s *scope) ObjectExpand(v any) (any, error) {
	if err := s.r.tick(); err != nil {
		return nil, err
	}
	var err error
	switch v := v.(type) {
	case string:
		return s.r.expand(v)
	case []any:
		for i := range v {
			if v[i], err = s.ObjectExpand(v[i]); err != nil {
				return nil, err
			}
		}
	case map[string]any:
		for _, k := range sortedKeys(v) {
			if v[k], err = s.ObjectExpand(v[k]); err != nil {
				return nil, err
			}
		}
	}
	return v, nil
}

// CallTemplate renders a Template by a name that may be a value.
func (s *scope) CallTemplate(name string, data any) (string, error) {
	u := s.r.e.sources.common[name]
	if u == nil {
		return "", wrongf("no Template is named %q", name).WithHint("apply a Template of that name")
	}
	if _, err := s.r.enter(); err != nil {
		return "", err
	}
	defer s.r.leave()
	out, err := s.r.exec(u, data)
	if err != nil {
		return "", err
	}
	return out, s.r.make(len(out))
}

// BootParams are the kernel's arguments: those of the environment, rendered, those of the
// server and the owner, and where to report.
func (s *scope) BootParams() (string, error) { return s.r.commandLine() }

// BootParamsFor are those of the server's architecture; a server has no other.
func (s *scope) BootParamsFor(arch string) (string, error) {
	if err := s.r.own(arch); err != nil {
		return "", err
	}
	return s.r.commandLine()
}

// ProvisionerAddress is the address of the agent that the server boots from.
func (s *scope) ProvisionerAddress() (string, error) {
	u, err := url.Parse(s.r.site.Base)
	return u.Hostname(), err
}

// ProvisionerURL is the URL of the root of the server's file system, without a slash at
// the end.
func (s *scope) ProvisionerURL() string {
	u := s.r.site.url("")
	return u[:len(u)-1]
}

// SecureProvisionerURL is ProvisionerURL where the segment boots by https.
func (s *scope) SecureProvisionerURL() (string, error) {
	if err := s.r.scheme("https"); err != nil {
		return "", err
	}
	return s.ProvisionerURL(), nil
}

// ApiURL is dr-provision's API, which is not here.
//
//nolint:revive,staticcheck // the name of dr-provision's templates
func (s *scope) ApiURL() (string, error) {
	return "", wrongf("there is no API for servers").WithHint("use .ReportURL, to which a booted system reports, or .ProvisionerURL for its files")
}

// ReportURL is the URL that a booted system POSTs to, with report/installed and the like
// behind it.
func (s *scope) ReportURL() string { return s.r.site.report() }

// IgnitionURL is the URL of the owner's user data; an error where there is none.
func (s *scope) IgnitionURL() (string, error) {
	if !s.r.hasUserData() {
		return "", wrongf("the owner gives no user data, or it goes through the BMC").WithHint("give ignition in the claim, or test .HasIgnition")
	}
	return s.r.site.url(protocol.FileIgnition), nil
}

// HasIgnition says whether the owner gives user data that is fetched.
func (s *scope) HasIgnition() bool { return s.r.hasUserData() }

func (r *run) hasUserData() bool { return r.e.Bundle.Ignition && !r.site.NoUserData }

// Owner is the claim or maintenance that the server boots for.
func (s *scope) Owner() string { return s.r.e.Bundle.Owner }

// Purpose is claim, maintenance or discovery.
func (s *scope) Purpose() string { return string(s.r.e.Bundle.Purpose.Or()) }

// GenerateToken is the attempt's token, which ends with it.
func (s *scope) GenerateToken() string { return s.r.site.Token }

// GenerateInfiniteToken is not here: no token outlives its attempt.
func (s *scope) GenerateInfiniteToken() (string, error) {
	return "", wrongf("no token outlives its attempt").WithHint("use .GenerateToken")
}

// GenerateProfileToken is not here: profiles have no tokens.
func (s *scope) GenerateProfileToken(...any) (string, error) {
	return "", wrongf("profiles have no tokens").WithHint("use .GenerateToken")
}

// ParseURL is the scheme, the host (with its port) or the path of a URL.
func (s *scope) ParseURL(part, text string) (string, error) {
	if err := s.r.use(len(text)); err != nil {
		return "", err
	}
	u, err := url.Parse(text)
	if err != nil {
		return "", wrongf("the text is no URL")
	}
	switch part {
	case "scheme":
		return u.Scheme, nil
	case "host":
		return u.Host, nil
	case "path":
		return u.Path, nil
	}
	return "", wrongf("a URL has no part %q; use scheme, host or path", part)
}

// ParseUrl is ParseURL, as older templates write it.
//
//nolint:revive,staticcheck // the name of dr-provision's templates
func (s *scope) ParseUrl(part, text string) (string, error) { return s.ParseURL(part, text) }

// NetmaskToCIDR is the length of the prefix of a netmask such as 255.255.255.0.
func (s *scope) NetmaskToCIDR(mask string) (int, error) {
	a, err := netip.ParseAddr(mask)
	if err != nil || !a.Is4() {
		return 0, wrongf("%s is no netmask", strconv.Quote(mask))
	}
	b := a.As4()
	bits := uint32(b[0])<<24 | uint32(b[1])<<16 | uint32(b[2])<<8 | uint32(b[3])
	n := 0
	for ; bits&(1<<31) != 0; bits <<= 1 {
		n++
	}
	if bits != 0 {
		return 0, wrongf("%s is no netmask", strconv.Quote(mask))
	}
	return n, nil
}

// Repos are the repositories with one of the tags, of any operating system.
func (s *scope) Repos(tags ...string) ([]*repo, error) {
	out := []*repo{}
	for _, r := range s.r.e.repos {
		if slices.Contains(tags, r.Tag) {
			out = append(out, s.r.repo(r))
		}
	}
	return out, s.r.usesRepos()
}

// usesRepos counts a look at all repositories.
func (r *run) usesRepos() error { return r.use((1 + len(r.e.repos)) * sizeRepo) }

// MachineRepos are the repositories for the operating system, at their own URLs.
func (s *scope) MachineRepos() ([]*repo, error) {
	out := []*repo{}
	for _, r := range s.r.e.machineRepos() {
		out = append(out, s.r.repo(r))
	}
	return out, s.r.usesRepos()
}

// InstallRepos are the repository to install from, first, and that of mandatory updates,
// if there is one.
func (s *scope) InstallRepos() ([]*repo, error) {
	all, err := s.r.e.installRepos(s.r.root, s.r.installURL())
	var out []*repo
	for _, r := range all {
		out = append(out, s.r.repo(r))
	}
	if err != nil {
		return nil, err
	}
	return out, s.r.usesRepos()
}

// installURL is where this boot reads its packages: the uploaded file, or the agent's proxy
// of the repository.
func (r *run) installURL() string {
	at := r.root.At
	if n := len(r.root.Proxies); n > 0 {
		at = r.root.Proxies[n-1].At
	}
	return r.site.url(at)
}

// scheme wants the segment's boot URLs to have a scheme.
func (r *run) scheme(want string) error {
	u, err := url.Parse(r.site.Base)
	if err == nil && u.Scheme == want {
		return nil
	}
	return wrongf("the segment does not boot by %s", want).WithHint("use http, which gives what the segment boots by")
}

// own refuses an architecture that is not the server's: its file system has no other.
func (r *run) own(name string) error {
	arch, err := Arch(name)
	if err == nil && arch != r.e.Arch {
		err = wrongf("this server is %s, and has no files of %s", r.e.Arch, arch)
	}
	return err
}

// ignitionArgument and reportArgument are the kernel arguments of netboot/chain.
const (
	ignitionArgument = "ignition.config.url"
	reportArgument   = resource.OwnArguments + "url"
)
