package kube

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"rackboot/cmd/internal/convert"
	"rackboot/protocol/resource"
)

// Item is one object of a file.
type Item struct {
	*convert.Object
	Kind, Namespace, Name string
	group                 string
}

// Is reports whether the item is of an API group and kind, in whatever version.
func (it *Item) Is(group, kind string) bool { return it.group == group && it.Kind == kind }

// Items reads the objects of files, those of lists one by one.
func Items(c *convert.Conversion, files []convert.File) ([]*Item, error) {
	var out []*Item
	for _, f := range files {
		docs, err := convert.Read(f)
		if err != nil {
			return nil, err
		}
		for i, d := range docs {
			out = append(out, items(c, f.Name, fmt.Sprintf("document %d", i+1), d)...)
		}
	}
	return out, nil
}

func items(c *convert.Conversion, file, place string, v any) []*Item {
	root, is := v.(map[string]any)
	if !is {
		o := c.Object(file, place, v)
		o.Refuse(convert.BadValue)
		o.Close()
		return nil
	}
	it := &Item{Kind: text(root["kind"])}
	it.group, _, _ = strings.Cut(text(root["apiVersion"]), "/")
	if list, is := root["items"].([]any); is && strings.HasSuffix(it.Kind, "List") {
		var out []*Item
		for i, v := range list {
			out = append(out, items(c, file, fmt.Sprintf("%s item %d", place, i+1), v)...)
		}
		rest := maps.Clone(root)
		delete(rest, "items")
		o := c.Object(file, place, rest)
		o.Field("apiVersion").Taken()
		o.Field("kind").Taken()
		o.Field("metadata").NoEqual(convert.Observed)
		o.Close()
		return out
	}
	meta, _ := root["metadata"].(map[string]any)
	it.Name, it.Namespace = text(meta["name"]), text(meta["namespace"])
	name := place
	if it.Kind != "" && it.Name != "" {
		name = it.Kind + "/" + it.Name
	}
	it.Object = c.Object(file, name, v)
	return []*Item{it}
}

func text(v any) string { s, _ := v.(string); return s }

// Head marks what every object has: kind, name, what the API server keeps, and status. to is the resource
// that the object becomes, name its name there.
func (it *Item) Head(to, name string) {
	it.Field("apiVersion").Taken(to)
	it.Field("kind").Taken(to)
	meta := it.Field("metadata")
	meta.Field("name").Named(name, convert.At(to, "metadata.name"))
	meta.Field("namespace").Changed(convert.ToLabel, convert.At(to, "metadata.labels.namespace"))
	for _, kept := range []string{"uid", "resourceVersion", "generation", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "managedFields", "selfLink", "ownerReferences", "finalizers", "generateName"} {
		meta.Field(kept).NoEqual(convert.Observed)
	}
	meta.Field("annotations", "kubectl.kubernetes.io/last-applied-configuration").NoEqual(convert.Observed)
	it.Field("status").NoEqual(convert.Observed)
}

// Labels are the labels of the object, with its namespace.
func (it *Item) Labels(to string) map[string]string {
	out := map[string]string{}
	labels := it.Field("metadata", "labels")
	for _, k := range labels.Keys() {
		if k == "" || strings.ContainsAny(k, " \t\n=,") {
			labels.Field(k).Refused(convert.BadValue)
			continue
		}
		out[k] = labels.Field(k).Text()
		labels.Field(k).Taken(convert.At(to, "metadata.labels"))
	}
	if it.Namespace != "" {
		out["namespace"] = it.Namespace
	}
	return nonEmpty(out)
}

// Annotations are those annotations of the object that keep takes.
func (it *Item) Annotations(to string, keep func(key string, f convert.Field) bool) map[string]string {
	out := map[string]string{}
	all := it.Field("metadata", "annotations")
	for _, k := range all.Keys() {
		if f := all.Field(k); k != "kubectl.kubernetes.io/last-applied-configuration" && keep(k, f) {
			out[k] = f.Text()
			f.Taken(convert.At(to, "metadata.annotations"))
		}
	}
	return nonEmpty(out)
}

func nonEmpty(m map[string]string) map[string]string {
	if len(m) == 0 {
		return nil
	}
	return m
}

// Key is the first key of a Secret's data among names, and its value, which is decoded where it stands in
// data. ok is false where there is none, or it cannot be decoded, which is reported.
func (it *Item) Key(names ...string) (f convert.Field, value []byte, ok bool) {
	for _, n := range names {
		if f = it.Field("stringData", n); f.There() {
			return f, []byte(f.Text()), true
		}
		if f = it.Field("data", n); f.There() {
			raw, err := base64.StdEncoding.DecodeString(strings.TrimSpace(f.Text()))
			if err != nil {
				f.Refused(convert.BadValue)
				return f, nil, false
			}
			return f, raw, true
		}
	}
	return f, nil, false
}

// Account makes a BMC's account of a Secret with username and password.
func (it *Item) Account(c *convert.Conversion) {
	name := convert.Name(it.Name)
	to := convert.ID(resource.KindSecret, name)
	user, username, ok := it.Key("username")
	pass, password, also := it.Key("password")
	switch {
	case name == "":
		it.Refuse(convert.NoName)
	case !ok || !also:
		it.Refuse(convert.BadValue)
	case !c.Account(name, strings.TrimRight(string(username), "\r\n"), strings.TrimRight(string(password), "\r\n"), it.Labels(to)):
		it.Refuse(convert.Duplicate)
	default:
		it.secret(to, name)
		user.Changed(convert.ToSecret, convert.At(to, "spec.data.username"))
		pass.Changed(convert.ToSecret, convert.At(to, "spec.data.password"))
	}
}

// UserData makes a Secret of user data, which is Ignition, or Butane; false if it is anything else.
func (it *Item) UserData(c *convert.Conversion, keys ...string) bool {
	name := convert.Name(it.Name)
	to := convert.ID(resource.KindSecret, name)
	f, value, ok := it.Key(keys...)
	if !ok {
		it.Refuse(convert.BadValue)
		return false
	}
	it.secret(to, name)
	if !ignition(value) {
		f.NoEqual(convert.CloudInit)
		return false
	}
	s := &resource.Secret{Spec: resource.SecretSpec{Type: resource.SecretIgnition, Data: resource.SecretData{resource.SecretUserData: value}}}
	s.Metadata = resource.Metadata{Name: name, Labels: it.Labels(to)}
	if !c.Add(s) {
		it.Refuse(convert.Duplicate)
		return false
	}
	f.Changed(convert.ToSecret, convert.At(to, "spec.data.ignition"))
	return true
}

func (it *Item) secret(to, name string) {
	it.Head(to, name)
	it.Field("type").NoEqual(convert.Observed)
	it.Field("immutable").NoEqual(convert.Observed)
}

// ignition reports whether user data is Ignition, or Butane, whose first words are its variant and version.
func ignition(raw []byte) bool {
	var doc struct {
		Ignition struct {
			Version string `json:"version"`
		} `json:"ignition"`
	}
	if json.Unmarshal(raw, &doc) == nil {
		return doc.Ignition.Version != ""
	}
	docs, err := convert.Read(convert.File{Name: "user data", Data: raw})
	if err != nil || len(docs) != 1 {
		return false
	}
	m, _ := docs[0].(map[string]any)
	return text(m["variant"]) != "" && text(m["version"]) != ""
}

// Core reports whether the group of an item is the core group: apiVersion v1.
func (it *Item) Core() bool { return it.group == "v1" }

// Sorted are the items of a kind first, in the order of kinds, and then all others.
func Sorted(all []*Item, kinds ...string) []*Item {
	out := slices.Clone(all)
	slices.SortStableFunc(out, func(a, b *Item) int { return rank(kinds, a.Kind) - rank(kinds, b.Kind) })
	return out
}

func rank(kinds []string, k string) int {
	if i := slices.Index(kinds, k); i >= 0 {
		return i
	}
	return len(kinds)
}
