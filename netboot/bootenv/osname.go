package bootenv

import (
	"strings"

	"rackboot/protocol/resource"
)

// familyOf is an operating system's family: what is given, or the name up to its first
// hyphen (FamilyName of dr-provision).
func familyOf(os resource.EnvOS) string {
	if os.Family != "" {
		return os.Family
	}
	family, _, _ := strings.Cut(os.Name, "-")
	return family
}

// versionOf is the version: what is given, or what is between the first and the second
// hyphen of the name.
func versionOf(os resource.EnvOS) string {
	if os.Version != "" {
		return os.Version
	}
	_, rest, _ := strings.Cut(os.Name, "-")
	version, _, _ := strings.Cut(rest, "-")
	return version
}

// familyType is rhel, debian or suse for families whose systems install alike, else the
// family itself.
func familyType(family string) string {
	switch family {
	case "centos", "redhat", "fedora", "scientificlinux", "rhel", "rocky", "almalinux", "oraclelinux":
		return "rhel"
	case "debian", "ubuntu", "devuan", "raspbian":
		return "debian"
	case "suse", "sles", "opensuse":
		return "suse"
	}
	return family
}

// versionEq compares versions as far as want goes: 12.5 is equal to 12.
func versionEq(version, want string) bool {
	have, wanted := strings.Split(version, "."), strings.Split(want, ".")
	if len(wanted) > len(have) {
		return false
	}
	for i, w := range wanted {
		if have[i] != w {
			return false
		}
	}
	return true
}

// repoTypeOf is the package manager of a family; empty if it is not known.
func repoTypeOf(family string) resource.RepoType {
	switch familyType(family) {
	case "rhel":
		return resource.RepoYum
	case "debian":
		return resource.RepoApt
	case "suse":
		return resource.RepoZypp
	}
	return ""
}
