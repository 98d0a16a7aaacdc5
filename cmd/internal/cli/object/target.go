package object

import (
	"strings"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

func parseKind(s string) (resource.Kind, error) {
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

// target reads "KIND NAME" or "KIND/NAME"; without a name, name is empty.
func target(args []string) (kind resource.Kind, name string, err error) {
	first := args[0]
	if len(args) > 1 {
		name = args[1]
	} else if k, n, ok := strings.Cut(first, "/"); ok {
		first, name = k, n
	}
	kind, err = parseKind(first)
	return kind, name, err
}

func oneTarget(args []string) (resource.Kind, string, error) {
	kind, name, err := target(args)
	if err == nil && name == "" {
		err = protocol.Errorf(protocol.CodeInvalid, "", "give the name too: %s NAME", args[0])
	}
	return kind, name, err
}

// selector is a list of labels that must match; a nil value means that the
// label must exist.
type selector map[string]*string

func parseSelector(s string) (selector, error) {
	out := selector{}
	for part := range strings.SplitSeq(s, ",") {
		part = strings.TrimSpace(part)
		if part == "" {
			continue
		}
		key, value, hasValue := strings.Cut(part, "=")
		value = strings.TrimPrefix(value, "=") // kubectl's ==
		if key == "" || strings.HasSuffix(key, "!") {
			return nil, protocol.Errorf(protocol.CodeInvalid, "", "%q is not a selector", part).
				WithHint("give key=value or key, joined by commas")
		}
		out[key] = nil
		if hasValue {
			out[key] = &value
		}
	}
	return out, nil
}

func (s selector) matches(labels map[string]string) bool {
	for key, want := range s {
		if got, ok := labels[key]; !ok || (want != nil && got != *want) {
			return false
		}
	}
	return true
}
