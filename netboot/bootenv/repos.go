package bootenv

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"unicode"

	"rackboot/protocol/resource"
)

// repository is a checked entry of package-repositories: RepoType is set, and Arch is Go's
// spelling or any.
type repository struct {
	resource.Repository
	from string // source and index, for people
	rank int    // of its source, 0 is the most specific
}

// readRepositories reads and checks the values of package-repositories, the most specific
// source first. All are used: what a source says comes before what a less specific one
// does.
func readRepositories(all []held) ([]repository, error) {
	var out []repository
	for rank, h := range all {
		var list []resource.Repository
		if err := strict(h.value, &list, !h.Secret); err != nil {
			return nil, valueError(h.Source, h.Param, err)
		}
		first := len(out)
		for i, r := range list {
			name := fmt.Sprintf("%s[%d]", h.Param, i)
			if err := checkRepository(&r); err != nil {
				return nil, valueError(h.Source, name, err)
			}
			now := repository{r, h.Source + ": " + name, rank}
			if i := slices.IndexFunc(out[first:], now.ambiguous); i >= 0 {
				return nil, valueError(h.Source, name, fmt.Errorf("is for the same operating system and architecture as %s, and so is its use", out[first+i].from))
			}
			out = append(out, now)
		}
	}
	return out, nil
}

// ambiguous says whether both would be the install source, or both the security source,
// of one system, which has one of each.
func (r repository) ambiguous(o repository) bool {
	same := r.Arch == o.Arch && slices.ContainsFunc(r.OS, func(os string) bool { return slices.Contains(o.OS, os) })
	return same && (r.InstallSource && o.InstallSource || r.SecuritySource && o.SecuritySource)
}

// checkRepository says what is wrong with an entry (seed 004, package-repositories), and
// puts repoType and arch into the words that are used here.
func checkRepository(r *resource.Repository) error {
	for _, text := range append([]string{r.Tag, r.Distribution, r.URL, r.Bootloc}, slices.Concat(r.OS, r.Components)...) {
		if strings.ContainsFunc(text, func(c rune) bool { return unicode.IsSpace(c) || unicode.IsControl(c) }) {
			return fmt.Errorf("has a space or control character in %q", text)
		}
	}
	switch {
	case r.Tag == "":
		return inField("tag", errors.New("has no tag"))
	case strings.ContainsAny(r.Tag, `[]"'\/`):
		return inField("tag", fmt.Errorf("has the tag %q, which is no name of a repository", r.Tag))
	case len(r.OS) == 0 || slices.Contains(r.OS, ""):
		return inField("os", errors.New("has no os that it is for"))
	case r.Arch == "":
		return inField("arch", errors.New("has no arch; write any if it is for several"))
	}
	if r.Arch != AnyArch {
		arch, err := Arch(r.Arch)
		if err != nil {
			return inField("arch", err)
		}
		r.Arch = arch
	}
	if err := checkRepoType(r); err != nil {
		return err
	}
	if err := checkRepoURL("url", r.URL); err != nil {
		return err
	}
	if r.Bootloc != "" {
		if err := checkRepoURL("bootloc", r.Bootloc); err != nil {
			return err
		}
	}
	if r.InstallSource {
		if err := checkInstallSource(r); err != nil {
			return err
		}
	}
	return checkDistribution(r)
}

// checkRepoType infers the type from the operating systems where it is not given.
func checkRepoType(r *resource.Repository) error {
	known := []resource.RepoType{resource.RepoYum, resource.RepoZypp, resource.RepoApt}
	switch {
	case r.RepoType != "" && r.PackageType != "" && r.RepoType != r.PackageType:
		return inField("packageType", fmt.Errorf("has repoType %q and packageType %q, which mean the same", r.RepoType, r.PackageType))
	case r.RepoType == "":
		r.RepoType = r.PackageType
	}
	if r.RepoType != "" {
		if !slices.Contains(known, r.RepoType) {
			return inField("repoType", fmt.Errorf("has repoType %q; use yum, zypp or apt", r.RepoType))
		}
		return nil
	}
	for _, os := range r.OS {
		t := repoTypeOf(familyOf(resource.EnvOS{Name: os}))
		switch {
		case t == "":
			return fmt.Errorf("has no repoType, and none is known for %s; use yum, zypp or apt", os)
		case r.RepoType != "" && r.RepoType != t:
			return fmt.Errorf("has no repoType, and is for systems with %s and with %s", r.RepoType, t)
		}
		r.RepoType = t
	}
	return nil
}

func checkRepoURL(field, text string) error {
	u, err := url.Parse(text)
	switch {
	case err != nil, u.Host == "", u.Scheme != "http" && u.Scheme != "https":
		return inField(field, fmt.Errorf("has a %s that is no http or https URL", field))
	case u.User != nil:
		return inField(field, fmt.Errorf("has a name or password in its %s; give the mirror's credentials to the agent", field))
	case u.RawQuery != "" || u.Fragment != "":
		return inField(field, fmt.Errorf("has a query or fragment in its %s", field))
	}
	return nil
}

// checkInstallSource holds what must be true where a machine can be booted from it.
// Wildcards are what package managers replace, each of which begins with a dollar sign:
// $releasever, $basearch, $arch.
func checkInstallSource(r *resource.Repository) error {
	switch {
	case len(r.OS) != 1:
		return inField("os", fmt.Errorf("is an installSource for %d operating systems, and must be for exactly one", len(r.OS)))
	case r.Arch == AnyArch:
		return inField("arch", errors.New("is an installSource with arch any; write the architecture"))
	case strings.Contains(r.URL, "$"):
		return inField("url", errors.New("is an installSource with a package manager's wildcard in its url"))
	case strings.Contains(r.Bootloc, "$"):
		return inField("bootloc", errors.New("is an installSource with a package manager's wildcard in its bootloc"))
	}
	return nil
}

// checkDistribution wants the codename for Debian and its derivatives. A distribution that
// ends with a slash is a path, of a repository without components (sources.list(5)).
func checkDistribution(r *resource.Repository) error {
	suites := []string{"stable", "oldstable", "testing", "unstable", "experimental"}
	switch {
	case r.RepoType != resource.RepoApt || strings.HasSuffix(r.Distribution, "/"):
		return nil
	case r.Distribution == "":
		return inField("distribution", errors.New("has no distribution; write the codename"))
	case r.Distribution[0] >= '0' && r.Distribution[0] <= '9', slices.Contains(suites, r.Distribution):
		return inField("distribution", fmt.Errorf("has distribution %q; write the codename", r.Distribution))
	case len(r.Components) == 0:
		return inField("components", errors.New("has no components, such as main"))
	}
	return nil
}
