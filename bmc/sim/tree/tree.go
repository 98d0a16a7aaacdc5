package tree

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"

	"rackboot/protocol"
)

// maxResource bounds the body of one resource that is loaded.
const maxResource = 8 << 20

// Object is a JSON object.
type Object = map[string]any

// Tree is what a BMC's resources say while nothing happens: bodies by URI. It
// is not changed after it was made, so that many BMCs can share one. Its methods
// are safe for concurrent use.
type Tree struct {
	make   func() resources // of a hand-made tree: its bodies are made at the first use
	once   sync.Once
	bodies map[string]Object // by folded URI
}

// Load reads a tree from a folder: the body of a resource is index.json in
// the folder of its URI, below redfish/v1. It fails with invalid if there is no
// service root, or a body is not a JSON object.
func Load(folder fs.FS) (*Tree, error) {
	files := map[string][]byte{}
	err := fs.WalkDir(folder, ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || path.Base(p) != "index.json" {
			return err
		}
		f, err := folder.Open(p)
		if err != nil {
			return err
		}
		text, err := io.ReadAll(io.LimitReader(f, maxResource))
		if err = errors.Join(err, f.Close()); err != nil {
			return err
		}
		files[p] = text
		return nil
	})
	if err != nil {
		return nil, err
	}
	return Of(files)
}

// Of is the tree of such files, by their names.
func Of(files map[string][]byte) (*Tree, error) {
	t := &Tree{bodies: make(map[string]Object)}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		body, err := ParseObject(files[name])
		if err != nil {
			return nil, protocol.Errorf(protocol.CodeInvalid, "sim.load_tree", "%s is not a JSON object: %w", name, err)
		}
		t.bodies[Fold("/"+path.Dir(name))] = body
	}
	if t.bodies[Fold(RootURI)] == nil {
		return nil, protocol.Errorf(protocol.CodeInvalid, "sim.load_tree", "no service root: redfish/v1/index.json is missing")
	}
	return t, nil
}

// resources are the bodies of a tree that is made by hand, by URI.
type resources map[string]Object

// made are the bodies of a tree.
func (t *Tree) made() map[string]Object {
	t.once.Do(func() {
		if t.make != nil {
			t.bodies = t.make().bodies()
		}
	})
	return t.bodies
}

// bodies gives the resources the form that they have after loading.
func (r resources) bodies() map[string]Object {
	bodies := make(map[string]Object, len(r))
	for uri, body := range r {
		body["@odata.id"] = uri
		text, err := json.Marshal(body)
		if err != nil {
			panic("sim: " + uri + ": " + err.Error())
		}
		if bodies[Fold(uri)], err = ParseObject(text); err != nil {
			panic("sim: " + uri + ": " + err.Error())
		}
	}
	return bodies
}

// Get is a copy of a resource that the caller may change; nil if there is none.
func (t *Tree) Get(uri string) Object {
	body := t.made()[Fold(uri)]
	if body == nil {
		return nil
	}
	return Clone(body).(Object)
}

// Look is a resource as it stands in the tree: the caller must not change it.
func (t *Tree) Look(uri string) Object { return t.made()[Fold(uri)] }

// Fold gives the form by which resources are kept: HPE links to
// /redfish/v1/systems/1/bios/ what it serves at /redfish/v1/Systems/1/Bios.
func Fold(uri string) string { return strings.ToLower(strings.TrimRight(uri, "/")) }

// ParseObject reads one JSON object and keeps numbers as they are written.
func ParseObject(text []byte) (Object, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var o Object
	if err := d.Decode(&o); err != nil {
		return nil, err
	}
	if o == nil {
		return nil, errors.New("null")
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("text after the object")
	}
	return o, nil
}

// Clone is a copy of a value that shares nothing with it.
func Clone(v any) any {
	switch v := v.(type) {
	case Object:
		c := make(Object, len(v))
		for k, e := range v {
			c[k] = Clone(e)
		}
		return c
	case []any:
		c := make([]any, len(v))
		for i, e := range v {
			c[i] = Clone(e)
		}
		return c
	default:
		return v
	}
}

// At walks down an object by names; nil if something on the way is not there.
func At(v any, names ...string) any {
	for _, name := range names {
		o, ok := v.(Object)
		if !ok {
			return nil
		}
		v = o[name]
	}
	return v
}

// TextAt is the string at a place, empty for anything else.
func TextAt(v any, names ...string) string {
	s, _ := At(v, names...).(string)
	return s
}

// linkAt is the URI of a link at a place.
func linkAt(v any, names ...string) string {
	return TextAt(At(v, names...), "@odata.id")
}

// linksAt are the URIs of a list of links.
func linksAt(v any, names ...string) []string {
	list, _ := At(v, names...).([]any)
	var uris []string
	for _, e := range list {
		if uri := linkAt(e); uri != "" {
			uris = append(uris, uri)
		}
	}
	return uris
}

// TextsAt is the list of strings at a place.
func TextsAt(v any, names ...string) []string {
	list, _ := At(v, names...).([]any)
	var texts []string
	for _, e := range list {
		if s, ok := e.(string); ok {
			texts = append(texts, s)
		}
	}
	return texts
}

// Merge puts a patch over a value (RFC 7396).
func Merge(v, patch any) any {
	p, ok := patch.(Object)
	if !ok {
		return patch
	}
	o, ok := v.(Object)
	if !ok {
		o = Object{}
	}
	for name, e := range p {
		if e == nil {
			delete(o, name)
		} else {
			o[name] = Merge(o[name], e)
		}
	}
	return o
}
