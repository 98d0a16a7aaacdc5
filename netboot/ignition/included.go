package ignition

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"io"
	"net/url"
	"strings"
)

const maxInline allowance = 256 << 10

// included translates the configurations that a stub includes by data: URLs: an image
// that reads specification 3 reads nothing else there either.
func (tr translation) included(t *tree, h head) (changed bool, lost []Loss, r *Refusal) {
	for _, ref := range references(t) {
		at := ref.path
		if h.major != "3" {
			at = strings.Replace(at, ".merge[", ".append[", 1)
		}
		at += ".source"
		data, ok, r := tr.left.inline(ref.resource, at)
		switch {
		case r != nil:
			return false, nil, r
		case !ok:
			continue
		case tr.depth == maxIncluded:
			return false, nil, refuse(Invalid, at, "is included too deep")
		}
		inner := translation{max: tr.max, authorities: tr.authorities, left: tr.left, depth: tr.depth + 1, onlyThere: true}
		out, r := inner.run(data)
		if r != nil {
			return false, nil, r.inside(at)
		}
		if h.major == "3" && !strings.HasPrefix(out.From, "3.") {
			return false, nil, refuse(Invalid, at, "is of another specification than what includes it")
		}
		for _, l := range out.Lost {
			lost = append(lost, Loss{at + ">" + l.Path, l.What})
		}
		if out.Changed {
			changed = true
			replaceInline(ref.resource, out.Config)
		}
	}
	return changed, lost, nil
}

// reference is a resource of a stub, with its path.
type reference struct {
	path     string
	resource *tree
}

// references are the configurations that a stub of specification 2 or 3 includes.
func references(t *tree) (out []reference) {
	config := t.get("ignition", "config")
	for _, key := range []string{"append", "merge"} {
		if l := config.get(key); l != nil {
			for i, kid := range l.kids {
				out = append(out, reference{"$.ignition.config." + key + "[" + itoa(i) + "]", kid})
			}
		}
	}
	if r := config.get("replace"); r != nil {
		out = append(out, reference{"$.ignition.config.replace", r})
	}
	return out
}

// inline is the data of a resource with a data: URL, unpacked and compared with its hash.
// ok is false if it is elsewhere.
func (left *allowance) inline(resource *tree, at string) (data []byte, ok bool, r *Refusal) {
	src := resource.get("source")
	if src == nil || src.kind != text || !strings.HasPrefix(src.text, "data:") {
		return nil, false, nil
	}
	data, ok = decodeDataURL(src.text)
	if !ok {
		return nil, false, refuse(Invalid, at, "is a data: URL that cannot be read")
	}
	if c := resource.get("compression"); c != nil && c.text == "gzip" {
		z, err := gzip.NewReader(bytes.NewReader(data))
		if err != nil {
			return nil, false, refuse(Invalid, at, "is not compressed as it says")
		}
		if data, err = io.ReadAll(io.LimitReader(z, int64(*left)+1)); err != nil {
			return nil, false, refuse(Invalid, at, "cannot be unpacked")
		}
	}
	if *left -= allowance(len(data)); *left < 0 {
		return nil, false, refuse(Invalid, at, "makes what the stub includes longer than it may be")
	}
	// The hash is of what is unpacked (configuration-v3_1.md, verification.hash).
	if h := resource.get("verification", "hash"); h != nil && h.kind == text && !hashFits(h.text, data) {
		return nil, false, refuse(Invalid, at, "does not have the hash that is given for it")
	}
	return data, true, nil
}

// decodeDataURL reads RFC 2397, as far as data goes.
func decodeDataURL(s string) ([]byte, bool) {
	kind, data, ok := strings.Cut(strings.TrimPrefix(s, "data:"), ",")
	if !ok {
		return nil, false
	}
	if strings.HasSuffix(kind, ";base64") {
		out, err := base64.StdEncoding.DecodeString(data)
		return out, err == nil
	}
	out, err := url.PathUnescape(data)
	return []byte(out), err == nil
}

// hashFits compares data with a hash of Ignition: sha512-HEX or sha256-HEX.
func hashFits(hash string, data []byte) bool {
	name, want, _ := strings.Cut(hash, "-")
	switch name {
	case "sha512":
		sum := sha512.Sum512(data)
		return strings.EqualFold(want, hex.EncodeToString(sum[:]))
	case "sha256":
		sum := sha256.Sum256(data)
		return strings.EqualFold(want, hex.EncodeToString(sum[:]))
	}
	return false
}

// replaceInline gives a resource other data. A hash that it has is that of the new data.
func replaceInline(resource *tree, data []byte) {
	resource.set(str(dataURL(data)), "source")
	resource.drop("compression")
	if resource.get("verification", "hash") != nil {
		sum := sha512.Sum512(data)
		resource.set(str("sha512-"+hex.EncodeToString(sum[:])), "verification", "hash")
	}
}
