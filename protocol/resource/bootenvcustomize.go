package resource

// BootEnvOverride is the value of bootenv-customize for one boot environment. It is
// merged into it; what is empty stays as it is, unless Clear names it (seed 004,
// bootenv-customize).
type BootEnvOverride struct {
	Loaders   map[LoaderKey]string `json:"loaders,omitempty"`
	Templates []EnvTemplate        `json:"templates,omitempty"`
	OS        EnvOS                `json:"os,omitzero"`
	// Clear are paths of fields that are made empty before the merge, such as
	// loaders.amd64-uefi, templates.NAME or os.supportedArchitectures.amd64.initrds. A
	// merge alone cannot take anything away.
	Clear []string `json:"clear,omitempty"`
}

// Repository is one entry of package-repositories (seed 004, package-repositories).
type Repository struct {
	Tag            string   `json:"tag"`
	RepoType       RepoType `json:"repoType,omitempty"` // of the operating system's family if empty
	PackageType    RepoType `json:"packageType,omitempty"`
	OS             []string `json:"os"`
	Arch           string   `json:"arch"` // any spelling; any
	URL            string   `json:"url"`
	Bootloc        string   `json:"bootloc,omitempty"`
	InstallSource  bool     `json:"installSource,omitempty"`
	SecuritySource bool     `json:"securitySource,omitempty"`
	Distribution   string   `json:"distribution,omitempty"`
	Components     []string `json:"components,omitempty"`
}

// RepoType is a package manager.
type RepoType string

// The package managers.
const (
	RepoYum  RepoType = "yum"
	RepoZypp RepoType = "zypp"
	RepoApt  RepoType = "apt"
)
