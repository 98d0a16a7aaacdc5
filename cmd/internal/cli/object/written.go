package object

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"rackboot/cmd/internal/cli/choice"
	"rackboot/cmd/internal/manifest"
	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
)

// readWritten reads a resource that is to be written again: with the revision that it has, so that the
// hub refuses the write when somebody has changed it meanwhile.
func readWritten(ctx context.Context, c *api.Client, op string, kind resource.Kind, name string) (resource.Object, error) {
	switch {
	case kind == resource.KindSecret:
		return nil, protocol.Errorf(protocol.CodeInvalid, op, "the data of Secret %q is not read back, so it cannot be written as it is", name).
			WithHint("apply its file again, or rackctl secret set")
	case !kind.Appliable():
		return nil, protocol.Errorf(protocol.CodeInvalid, op, "a %s is made by the hub and cannot be written", kind)
	}
	return c.Objects.Get(ctx, kind, name)
}

// writtenJSON is what somebody wrote of a resource, as JSON: without its status.
func writtenJSON(o resource.Object) ([]byte, error) {
	raw, err := json.Marshal(o)
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeInternal, "encode", "%w", err)
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(raw, &fields); err != nil {
		return nil, protocol.Errorf(protocol.CodeInternal, "encode", "%w", err)
	}
	delete(fields, "status")
	if raw, err = json.Marshal(fields); err != nil {
		return nil, protocol.Errorf(protocol.CodeInternal, "encode", "%w", err)
	}
	return raw, nil
}

// rewritten reads what became of a resource. It is as strict as apply is with a file, and it is the same
// resource still.
func rewritten(source string, text []byte, kind resource.Kind, name string) (*manifest.Set, error) {
	set, err := manifest.Parse([]manifest.Source{{Name: source, Data: text}})
	if err != nil {
		return nil, err
	}
	if len(set.Objects()) != 1 {
		return nil, protocol.Errorf(protocol.CodeInvalid, "", "%d resources are there in place of one", len(set.Objects()))
	}
	h := set.Objects()[0].Head()
	if h.Kind != kind || h.Metadata.Name != name {
		return nil, protocol.Errorf(protocol.CodeInvalid, "", "it has become %s, and was %s", choice.Named(h.Kind, h.Metadata.Name), choice.Named(kind, name)).
			WithHint("kind and metadata.name are what a resource is; apply a file to make another one")
	}
	return set, nil
}

// put writes sets of one resource each, all or none, and says what became of them.
func put(ctx context.Context, c *api.Client, sets []*manifest.Set, dryRun bool) (api.ApplyAnswer, error) {
	var objs []resource.Object
	for _, s := range sets {
		objs = append(objs, s.Objects()...)
	}
	out, err := c.Objects.Apply(ctx, objs, dryRun)
	if err != nil && len(sets) == 1 {
		err = located(err, sets[0])
	}
	return out, err
}

// outcomeText is what became of each, in a line.
func outcomeText(results []api.ApplyResult, word string, dryRun bool) (names, lines []string) {
	for _, r := range results {
		name, outcome := choice.Named(r.Kind, r.Name), word
		if r.Outcome == "unchanged" {
			outcome += " (no change)"
		}
		if dryRun {
			outcome += " (dry run)"
		}
		names, lines = append(names, name), append(lines, fmt.Sprintf("%s %s", name, outcome))
		for _, b := range r.Reboots {
			lines = append(lines, rebootText(b, dryRun))
		}
	}
	return names, lines
}

// namesAnd splits what names resources from what is to be done with them: words with =, or with - at
// their ends, which no name has.
func namesAnd(args []string) (names, changes []string) {
	for i, a := range args {
		if i > 0 && (strings.Contains(a, "=") || strings.HasSuffix(a, "-")) {
			return args[:i], args[i:]
		}
	}
	return args, nil
}
