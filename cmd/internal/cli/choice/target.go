package choice

import (
	"slices"
	"strings"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// Wanted is which resources somebody named; no names are all of the kind.
type Wanted struct {
	Kind  resource.Kind
	Names []string
}

// everything is the word for the kinds of [allKinds].
const everything = "all"

// allKinds are those that "all" stands for: what there is in racks, and what people want of it. Secrets,
// what boots are made of, and what the hub makes of claims and groups are named by themselves.
func allKinds() []resource.Kind {
	return []resource.Kind{
		resource.KindRack, resource.KindAgent, resource.KindSegment, resource.KindBMC, resource.KindServer,
		resource.KindClaim, resource.KindHold, resource.KindMaintenance, resource.KindServerGroup,
	}
}

// ParseKind finds a kind by its name, and says which one a kind of another project is.
func ParseKind(s string) (resource.Kind, error) {
	kind, ok := resource.ParseKind(s)
	if !ok {
		if other, ok := resource.OtherKind(s); ok {
			return "", protocol.Errorf(protocol.CodeInvalid, "", "%q is not a kind", s).WithHint("say %s", other)
		}
		var all []string
		for _, k := range resource.Kinds() {
			all = append(all, k.Plural())
		}
		return "", protocol.Errorf(protocol.CodeInvalid, "", "%q is not a kind", s).WithHint("there are %s", strings.Join(all, ", "))
	}
	return kind, nil
}

// Targets reads what names resources, as kubectl has it: KIND, KIND,KIND, KIND NAME..., KIND/NAME..., or
// all. Kinds come in the order in which they are named, and each once.
func Targets(args []string) (out []Wanted, err error) {
	add := func(kind resource.Kind, names ...string) {
		i := slices.IndexFunc(out, func(w Wanted) bool { return w.Kind == kind })
		if i < 0 {
			out = append(out, Wanted{Kind: kind})
			i = len(out) - 1
		}
		for _, n := range names {
			if !slices.Contains(out[i].Names, n) {
				out[i].Names = append(out[i].Names, n)
			}
		}
	}
	if strings.Contains(args[0], "/") {
		for _, a := range args {
			k, name, ok := strings.Cut(a, "/")
			if !ok || name == "" {
				return nil, protocol.Errorf(protocol.CodeInvalid, "", "%q is not KIND/NAME", a).WithHint("name all by KIND/NAME, or one kind and then names")
			}
			kind, err := ParseKind(k)
			if err != nil {
				return nil, err
			}
			add(kind, name)
		}
		return out, nil
	}
	if args[0] == everything && len(args) == 1 {
		for _, k := range allKinds() {
			add(k)
		}
		return out, nil
	}
	for _, n := range args[1:] {
		if strings.Contains(n, "/") {
			return nil, protocol.Errorf(protocol.CodeInvalid, "", "%q is not a name", n).WithHint("name all by KIND/NAME, or one kind and then names")
		}
	}
	for k := range strings.SplitSeq(args[0], ",") {
		kind, err := ParseKind(k)
		if err != nil {
			return nil, err
		}
		add(kind, args[1:]...)
	}
	return out, nil
}

// OneTarget reads the one resource that is meant.
func OneTarget(args []string) (resource.Kind, string, error) {
	all, err := Targets(args)
	if err != nil {
		return "", "", err
	}
	if len(all) != 1 || len(all[0].Names) != 1 {
		return "", "", protocol.Errorf(protocol.CodeInvalid, "", "give one name too: %s NAME", args[0])
	}
	return all[0].Kind, all[0].Names[0], nil
}

// Named is a resource as people name it.
func Named(kind resource.Kind, name string) string { return strings.ToLower(string(kind)) + "/" + name }
