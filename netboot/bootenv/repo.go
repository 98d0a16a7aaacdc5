package bootenv

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"rackboot/protocol/resource"
)

// repo is a repository in a template.
type repo struct {
	Tag            string
	OS             []string
	Arch           string // Go's spelling, or any
	URL            string
	RepoType       string
	PackageType    string // RepoType
	Distribution   string
	Components     []string
	Bootloc        string
	InstallSource  bool
	SecuritySource bool

	r *run
}

func (r *run) repo(x repository) *repo {
	return &repo{
		Tag: x.Tag, OS: slices.Clone(x.OS), Arch: x.Arch, URL: strings.TrimRight(x.URL, "/"),
		RepoType: string(x.RepoType), PackageType: string(x.RepoType),
		Distribution: x.Distribution, Components: slices.Clone(x.Components), Bootloc: x.Bootloc,
		InstallSource: x.InstallSource, SecuritySource: x.SecuritySource, r: r,
	}
}

// Format implements fmt.Formatter.
func (p repo) Format(f fmt.State, _ rune) { fmt.Fprint(f, p.URL) }

// R is the dot of the template, for what a repository's lines need beside it.
func (p *repo) R() *scope { return &scope{p.r} }

// JoinedComponents are the components with spaces between them.
func (p *repo) JoinedComponents() string { return strings.Join(p.Components, " ") }

// UrlFor is the URL of a component: that of the distribution for apt, whose components are
// below it, a folder of its name for the others.
//
//nolint:revive,staticcheck // the name of dr-provision's templates
func (p *repo) UrlFor(component string) string {
	switch {
	case p.RepoType == string(resource.RepoApt) && component != "":
		return p.URL + "/dists/" + strings.Trim(p.Distribution, "/") + "/" + component
	case component == "":
		return p.URL
	}
	return p.URL + "/" + component
}

// UrlForComponent is UrlFor.
//
//nolint:revive,staticcheck // beside UrlFor
func (p *repo) UrlForComponent(component string) string { return p.UrlFor(component) }

// section is the name of a repository where names are unique.
func (p *repo) section(component string) string {
	name := p.Tag
	if os := p.r.e.Spec.OS.Name; !strings.HasPrefix(p.Tag, os) {
		name = os + "-" + p.Tag
	}
	if component != "" {
		name += "-" + strings.ReplaceAll(component, "/", "-")
	}
	return name
}

// parts are the components, or one without a name.
func (p *repo) parts() []string {
	if len(p.Components) == 0 {
		return []string{""}
	}
	return p.Components
}

// Lines is the repository in the package manager's own words: a part of sources.list(5)
// for apt, of a file of /etc/yum.repos.d or /etc/zypp/repos.d for the others.
func (p *repo) Lines() (string, error) {
	if err := p.r.use(sizeRepo); err != nil {
		return "", err
	}
	var b strings.Builder
	switch resource.RepoType(p.RepoType) {
	case resource.RepoApt:
		options := ""
		if p.Arch != AnyArch {
			options = "[arch=" + distroArch("debian", p.Arch) + "] "
		}
		fmt.Fprintf(&b, "deb %s%s %s", options, p.URL, first(p.Distribution, "./"))
		for _, c := range p.Components {
			b.WriteString(" " + c)
		}
		b.WriteString("\n")
	case resource.RepoYum, resource.RepoZypp:
		for _, c := range p.parts() {
			name := p.section(c)
			fmt.Fprintf(&b, "[%s]\nname=%s\nbaseurl=%s\nenabled=1\n", name, name, p.UrlFor(c))
			if p.RepoType == string(resource.RepoZypp) {
				b.WriteString("autorefresh=1\ntype=rpm-md\n")
			}
			b.WriteString("gpgcheck=0\n")
		}
	default:
		return "", wrongf("repository %q has no repoType, and none is known for %s", p.Tag, p.r.e.Spec.OS.Name).
			WithHint("give os.family as rhel, debian or suse")
	}
	return b.String(), nil
}

// Install is the repository in the words of the installer: preseed for apt, kickstart for
// yum, an AutoYaST add-on for zypp.
func (p *repo) Install() (string, error) {
	if err := p.r.use(sizeRepo); err != nil {
		return "", err
	}
	switch resource.RepoType(p.RepoType) {
	case resource.RepoApt:
		return p.preseed()
	case resource.RepoYum:
		var b strings.Builder
		if p.InstallSource {
			fmt.Fprintf(&b, "url --url=%s\n", p.URL)
			return b.String(), nil
		}
		for _, c := range p.parts() {
			fmt.Fprintf(&b, "repo --name=%q --baseurl=%s\n", p.section(c), p.UrlFor(c))
		}
		return b.String(), nil
	case resource.RepoZypp:
		if p.InstallSource {
			return "", nil // the install= argument of the kernel
		}
		return fmt.Sprintf("<listentry><media_url>%s</media_url><product>%s</product><product_dir>/</product_dir></listentry>\n", xml(p.URL), xml(p.Tag)), nil
	}
	_, err := p.Lines()
	return "", err
}

// preseed are the answers of debian-installer about its mirror (Debian's example-preseed).
func (p *repo) preseed() (string, error) {
	u, err := url.Parse(p.URL)
	if err != nil {
		return "", wrongf("the URL of repository %q cannot be read", p.Tag)
	}
	scheme, host, path := u.Scheme, u.Host, first(u.Path, "/")
	if p.SecuritySource && !p.InstallSource {
		return fmt.Sprintf("d-i apt-setup/services-select multiselect security, updates\nd-i apt-setup/security_host string %s\nd-i apt-setup/security_path string %s\n", host, path), nil
	}
	return fmt.Sprintf("d-i mirror/country string manual\nd-i mirror/protocol string %s\nd-i mirror/%s/hostname string %s\nd-i mirror/%s/directory string %s\nd-i mirror/%s/proxy string\nd-i mirror/suite string %s\n",
		scheme, scheme, host, scheme, path, scheme, p.Distribution), nil
}

var xmlEscapes = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

// xml replaces what means something in a text of XML.
func xml(text string) string { return xmlEscapes.Replace(text) }
