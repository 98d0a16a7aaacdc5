package judge

import (
	"fmt"
	"maps"
	"slices"
)

// File is an uploaded file as a hub has it. Digest is what the hub says, and Content that of the bytes in its folder;
// empty where there are none.
type File struct{ Digest, Content string }

// uploads finds uploads of which a hub has nothing, or something else, at the end:
//
//	accepted         | must be so
//	upload of a name | at rest each hub has the name, with the archive of the last that was accepted or of one that may have come after it
//	                 | at rest each hub has the bytes of which it says the digest
func uploads(h History, v *Verdict) {
	last := map[string]Op{} // that was accepted, by the file's name
	for _, o := range h.Ops {
		if o.Kind == OpUpload && o.Result == Accepted {
			v.tested(NotLost, "", o.Begun, o.Ended)
			if o.Ended >= last[o.Target].Ended {
				last[o.Target] = o
			}
		}
	}
	if !h.Quiet {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(last)) {
		o := last[name]
		may := map[string]bool{o.Digest: true}
		for _, x := range h.Ops {
			if x.Kind == OpUpload && x.Target == name && x.may() && x.Ended > o.Begun {
				may[x.Digest] = true
			}
		}
		for _, hub := range slices.Sorted(maps.Keys(h.Files)) {
			switch f, there := h.Files[hub][name]; {
			case !there:
				v.broken(NotLost, "", h.End, fmt.Sprintf("%s was uploaded, and %s does not have it", name, hub))
			case !may[f.Digest]:
				v.broken(NotLost, "", h.End, fmt.Sprintf("%s has %s as %s, and the last that was uploaded is %s", hub, name, f.Digest, o.Digest))
			case f.Content != f.Digest:
				v.broken(NotLost, "", h.End, fmt.Sprintf("%s says that %s is %s, and has %q", hub, name, f.Digest, f.Content))
			}
		}
	}
}
