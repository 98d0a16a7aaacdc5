package catalogue

import (
	"slices"

	"github.com/coreos/stream-metadata-go/release"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// maxReleases bounds the lines of a release index. That of Fedora CoreOS grows by 26 a
// year.
const maxReleases = 10_000

// Release is one line of a release index.
type Release struct {
	Version string
	URL     string // of its metadata, for [FromRelease]
}

// Releases reads a release index: what there is, newest first. One whose version cannot be
// compared or that has no metadata is left out. The code is invalid; an index without any
// is not_found.
func Releases(raw []byte) ([]Release, error) {
	const op = "read release index"
	if len(raw) > MaxMetadata {
		return nil, protocol.Errorf(protocol.CodeInvalid, op, "it has more than %d bytes", MaxMetadata)
	}
	var index release.Index
	if err := decode(op, raw, &index); err != nil {
		return nil, err
	}
	if len(index.Releases) > maxReleases {
		return nil, protocol.Errorf(protocol.CodeInvalid, op, "it has %d releases, more than %d", len(index.Releases), maxReleases)
	}
	type line struct {
		Release
		version resource.ImageVersion
	}
	var lines []line
	for _, r := range index.Releases {
		if v, err := resource.ParseImageVersion(r.Version); err == nil && r.MetadataURL != "" {
			lines = append(lines, line{Release{r.Version, r.MetadataURL}, v})
		}
	}
	if len(lines) == 0 {
		return nil, protocol.Errorf(protocol.CodeNotFound, op, "there is no release in it").WithHint("give a release index, such as releases.json of Fedora CoreOS")
	}
	slices.SortStableFunc(lines, func(a, b line) int { return b.version.Compare(a.version) })
	out := make([]Release, len(lines))
	for i, l := range lines {
		out[i] = l.Release
	}
	return out, nil
}

// IsIndex says whether a document is a release index, and not the metadata of one release.
func IsIndex(raw []byte) bool {
	var probe struct {
		Releases []struct{} `json:"releases"`
	}
	return len(raw) <= MaxMetadata && decode("", raw, &probe) == nil && probe.Releases != nil
}
