package firsthour

// Journey is pages that are run one after the other in one shell. Each goes on where the
// one before it ended, and says so at its begin.
type Journey struct {
	Name  string
	Pages []string
	// Builds says that the first page builds the programs itself, in a checkout; else they
	// are on the path, and the folder is empty.
	Builds bool
}

// Journeys are all of them.
func Journeys() []Journey {
	return []Journey{
		{Name: "readme", Pages: []string{"README.md"}, Builds: true},
		{Name: "simulator", Pages: []string{"docs/guide/simulator.md"}},
		{Name: "pkcs11", Pages: []string{"docs/guide/pkcs11.md"}},
		{Name: "guide", Pages: []string{
			"docs/guide/first-rack.md", "docs/guide/first-claim.md", "docs/guide/first-hold.md", "docs/guide/freeze.md", "docs/guide/images.md",
			"docs/guide/user-data.md", "docs/guide/uploaded-files.md", "docs/guide/boot-environments.md", "docs/guide/groups.md",
			"docs/guide/https-boot.md", "docs/guide/catalogue.md", "docs/guide/reports.md", "docs/guide/audit.md", "docs/guide/support.md",
		}},
	}
}
