package bootimages

import (
	"fmt"
	"maps"
	"slices"

	"rackboot/protocol/resource"
)

// InUse is one image that a group has in use.
type InUse struct {
	Group string
	// Server is the one that was seen to boot it; empty is that no server was seen, and
	// the image is the one that the next server would boot.
	Server    string
	Catalogue string
	// Version is empty where what was booted is of no entry that is known.
	Version string
}

// skewFinding is how an image stands to its limit.
type skewFinding string

const (
	skewUnjudged skewFinding = "unjudged"
	skewFits     skewFinding = "fits"
	skewUnread   skewFinding = "unreadable"
	skewOlder    skewFinding = "older"
)

// Skew says which groups have an image in use that is older than is allowed, with the
// oldest of each in words. Skipped groups and those that are not opted in are judged as
// all others: elsewhere they were not, and clusters passed with images of years ago
// (OCPBUGS-87962). All limits are looked at. With [resource.SkewManual] what somebody
// said is judged, and is said of every group of the catalogue.
func Skew(spec resource.SkewSpec, used []InUse) map[string]string {
	out, worst := map[string]string{}, map[string]resource.ImageVersion{}
	if spec.Mode == resource.SkewManual {
		used = said(spec, used)
	}
	for _, u := range used {
		limit, limited := spec.Limits[u.Catalogue]
		version, errV := resource.ParseImageVersion(u.Version)
		bound, errL := resource.ParseImageVersion(limit)
		readable := errV == nil && errL == nil
		who := "the next server that boots"
		if u.Server != "" {
			who = "server " + u.Server
		}
		if spec.Mode == resource.SkewManual {
			who = "spec.skew.versions"
		}
		switch skewRule(spec.Mode, limited, readable, readable && version.Compare(bound) < 0) {
		case skewUnread:
			if out[u.Group] == "" || worst[u.Group] != nil {
				out[u.Group], worst[u.Group] = fmt.Sprintf("%s: version %q of %s, which cannot be compared with the limit %s", who, u.Version, u.Catalogue, limit), nil
			}
		case skewOlder:
			if w, is := worst[u.Group]; out[u.Group] == "" || is && w != nil && version.Compare(w) < 0 {
				out[u.Group], worst[u.Group] = fmt.Sprintf("%s: version %s of %s, older than the limit %s", who, u.Version, u.Catalogue, limit), version
			}
		case skewFits, skewUnjudged:
		}
	}
	return out
}

// said puts what somebody said in the place of what was seen.
func said(spec resource.SkewSpec, used []InUse) (out []InUse) {
	groups := map[[2]string]bool{}
	for _, u := range used {
		groups[[2]string{u.Catalogue, u.Group}] = true
	}
	for _, key := range slices.SortedFunc(maps.Keys(groups), func(a, b [2]string) int { return slices.Compare(a[:], b[:]) }) {
		out = append(out, InUse{Group: key[1], Catalogue: key[0], Version: spec.Versions[key[0]]})
	}
	return out
}

// skewRule judges one image. The first row that fits decides.
//
//	mode      | limit | readable | older | finding
//	None      | *     | *        | *     | unjudged
//	Automatic | no    | *        | *     | unjudged
//	Manual    | no    | *        | *     | unjudged
//	*         | *     | no       | *     | unreadable
//	*         | *     | yes      | yes   | older
//	*         | *     | yes      | no    | fits
//
// What cannot be compared is a violation and no pass.
func skewRule(mode resource.SkewMode, limit, readable, older bool) skewFinding {
	switch {
	case mode != resource.SkewAutomatic && mode != resource.SkewManual, !limit:
		return skewUnjudged
	case !readable:
		return skewUnread
	case older:
		return skewOlder
	}
	return skewFits
}
