package bootenv

import (
	"slices"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// fits says whether packages of the repository are for the system and architecture.
func (r repository) fits(os, arch string) bool {
	return slices.Contains(r.OS, os) && (r.Arch == AnyArch || r.Arch == arch)
}

// machineRepos are the repositories for the operating system of the environment, which
// is the server's once it is installed, the most specific first. The environment's own,
// out of an uploaded file, is not among them: its URL ends with the boot.
func (e *Effective) machineRepos() []repository {
	var out []repository
	for _, r := range e.repos {
		if r.fits(e.Spec.OS.Name, e.Arch) {
			out = append(out, r)
		}
	}
	return out
}

// installSource is the repository that the environment can be booted from, the most
// specific one.
func (e *Effective) installSource() (repository, bool) {
	return firstOf(e.machineRepos(), func(r repository) bool { return r.InstallSource })
}

// securitySource is the repository of mandatory updates, if there is one.
func (e *Effective) securitySource() (repository, bool) {
	return firstOf(e.machineRepos(), func(r repository) bool { return r.SecuritySource })
}

func firstOf(all []repository, is func(repository) bool) (repository, bool) {
	i := slices.IndexFunc(all, is)
	if i < 0 {
		return repository{}, false
	}
	return all[i], true
}

// localRepo is the repository that an uploaded file is. It is install and security source,
// and so comes before every remote one (seed 004: local assets before an install
// repository). Its URL is that of the environment's root in the boot.
func (e *Effective) localRepo(url string) repository {
	os := e.Spec.OS
	r := repository{from: "the uploaded file"}
	r.Repository = resource.Repository{
		Tag: e.Bundle.BootEnv, OS: []string{os.Name}, Arch: e.Arch, URL: url,
		InstallSource: true, SecuritySource: true,
	}
	r.RepoType = repoTypeOf(familyOf(os))
	r.Distribution = versionOf(os)
	if r.RepoType == resource.RepoApt {
		r.Distribution = first(os.Codename, r.Distribution)
		r.Components = []string{"main"}
	}
	return r
}

// installRepos is exactly one repository to install from, and at most one with mandatory
// updates, which may be the same. installURL is where the first is read in this boot.
func (e *Effective) installRepos(root Root, installURL string) ([]repository, error) {
	if root.Source == resource.EnvFromISO {
		return []repository{e.localRepo(installURL)}, nil
	}
	install, ok := e.installSource()
	if !ok {
		return nil, protocol.Errorf(protocol.CodeUnavailable, "choose install repository", "no repository is an installSource of %q for %s", e.Spec.OS.Name, e.Arch).
			WithHint("give package-repositories one, or upload the environment's file")
	}
	security, ok := e.securitySource()
	if !ok || security.from == install.from {
		install.URL = installURL
		return []repository{install}, nil
	}
	install.URL = installURL
	return []repository{install, security}, nil
}
