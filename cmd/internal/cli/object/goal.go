package object

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"rackboot/cmd/internal/cli/path"
	"rackboot/cmd/internal/cli/printer"
	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
	"rackboot/protocol/selector"
)

// goal is what is waited for.
type goal struct {
	// ofServers says that only claims and servers come so far.
	ofServers bool
	look      func(ctx context.Context, c *api.Client, kind resource.Kind, name string) (state string, done bool, err error)
}

// parseGoal reads what --for says. A goal that can never be reached is refused: somebody would wait for it.
func parseGoal(until string) (goal, error) {
	what, value, _ := strings.Cut(until, "=")
	switch what {
	case "provisioned", "released":
		if value == "" {
			return serverGoal(what, ""), nil
		}
	case "phase":
		if slices.Contains(resource.Phases(), resource.Phase(value)) {
			return serverGoal(what, resource.Phase(value)), nil
		}
		return goal{}, protocol.Errorf(protocol.CodeInvalid, "", "--for %q is no phase", until).WithHint("the phases are %s", printer.Join(resource.Phases()))
	case "delete":
		if value == "" {
			return goal{look: lookGone}, nil
		}
	case "condition":
		return conditionGoal(value)
	case "jsonpath":
		return pathGoal(until, value)
	}
	return goal{}, protocol.Errorf(protocol.CodeInvalid, "", "--for %q is not one of provisioned, released, phase=PHASE, condition=CODE[=false], delete, jsonpath={.PATH}=VALUE", until).
		WithHint("the phases are %s", printer.Join(resource.Phases()))
}

// serverGoal is one that claims and servers come to.
func serverGoal(what string, phase resource.Phase) goal {
	return goal{ofServers: true, look: func(ctx context.Context, c *api.Client, kind resource.Kind, name string) (string, bool, error) {
		p, err := readProgress(ctx, c, kind, name)
		if kind == resource.KindClaim && what == "released" && protocol.CodeOf(err) == protocol.CodeNotFound {
			return "", true, nil
		}
		if err != nil {
			return "", false, err
		}
		switch what {
		case "provisioned":
			return p.text, p.provisioned, nil
		case "released":
			return p.text, kind == resource.KindServer && p.claim == "", nil
		}
		return p.text, p.phase == phase, nil
	}}
}

func lookGone(ctx context.Context, c *api.Client, kind resource.Kind, name string) (string, bool, error) {
	_, err := c.Objects.Get(ctx, kind, name)
	if protocol.CodeOf(err) == protocol.CodeNotFound {
		return "gone", true, nil
	}
	return "there", false, err
}

// conditionGoal is CODE, CODE=true or CODE=false.
func conditionGoal(text string) (goal, error) {
	code, value, given := strings.Cut(text, "=")
	i := slices.IndexFunc(resource.Conditions(), func(c resource.Condition) bool { return strings.EqualFold(string(c.Code), code) })
	want := !given || strings.EqualFold(value, "true")
	if i < 0 || given && !want && !strings.EqualFold(value, "false") {
		return goal{}, protocol.Errorf(protocol.CodeInvalid, "", "--for condition=%s names no condition, true or false", text).WithHint("rackctl explain lists the conditions")
	}
	code = string(resource.Conditions()[i].Code)
	return goal{look: func(ctx context.Context, c *api.Client, kind resource.Kind, name string) (string, bool, error) {
		codes, err := found(ctx, c, kind, name, ".status.conditions[*].code")
		if err != nil {
			return "", false, err
		}
		return "conditions " + printer.Dash(strings.Join(codes, ", ")), conditionReached(codes, code, want), nil
	}}, nil
}

// conditionReached says whether a condition is there, or is known not to be: while nothing new is heard of
// a resource, that something is not said of it means nothing.
func conditionReached(codes []string, code string, want bool) bool {
	if slices.Contains(codes, code) {
		return want
	}
	return !want && !slices.ContainsFunc(codes, func(c string) bool {
		return slices.Contains([]resource.ConditionCode{resource.CondDark, resource.CondNoAgent, resource.CondStale, resource.CondGuardMode, resource.CondStoreLost}, resource.ConditionCode(c))
	})
}

// pathGoal is {.PATH}=VALUE, or {.PATH} for any value.
func pathGoal(until, text string) (goal, error) {
	expression, value, given := text, "", false
	if end := strings.LastIndex(text, "}"); end >= 0 {
		expression = text[:end+1]
		value, given = strings.CutPrefix(text[end+1:], "=")
		if !given && text[end+1:] != "" {
			return goal{}, protocol.Errorf(protocol.CodeInvalid, "", "--for %q has something behind its path", until).WithHint("give --for jsonpath='{.status.state}'=Fenced")
		}
	} else {
		expression, value, given = strings.Cut(text, "=")
	}
	if _, err := path.Parse(expression); err != nil {
		return goal{}, protocol.Errorf(protocol.CodeInvalid, "", "--for %q: %w", until, err).WithHint("give --for jsonpath='{.status.state}'=Fenced")
	}
	return goal{look: func(ctx context.Context, c *api.Client, kind resource.Kind, name string) (string, bool, error) {
		values, err := found(ctx, c, kind, name, expression)
		if err != nil {
			return "", false, err
		}
		return fmt.Sprintf("%s is %s", expression, printer.Dash(strings.Join(values, ", "))), len(values) > 0 && (!given || slices.Contains(values, value)), nil
	}}, nil
}

// found is what a path finds in a resource.
func found(ctx context.Context, c *api.Client, kind resource.Kind, name, expression string) (out []string, err error) {
	obj, err := c.Objects.Get(ctx, kind, name)
	if err != nil {
		return nil, err
	}
	plain, err := selector.Plain(obj)
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeInternal, "wait", "%w", err)
	}
	p, err := path.Parse(expression)
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeInvalid, "wait", "%w", err)
	}
	values, err := p.Values(plain)
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeInvalid, "wait", "%w", err)
	}
	for _, v := range values {
		out = append(out, selector.Text(v))
	}
	return out, nil
}
