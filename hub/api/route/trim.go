package route

import (
	"github.com/danielgtaylor/huma/v2"

	protoapi "rackboot/protocol/api"
	"rackboot/protocol/resource"
	"rackboot/protocol/selector"
)

// listed is a list of resources.
type listed interface {
	ItemKind() resource.Kind
	Trim(cut func([]byte) ([]byte, error)) (any, error)
}

// trim leaves of a list the fields that were asked for; its handler has said what is wrong with them.
func trim(ctx huma.Context, _ string, v any) (any, error) {
	l, is := v.(listed)
	if !is {
		return v, nil
	}
	only, err := selector.ParseOnly(ctx.Query(protoapi.QueryOnly), l.ItemKind())
	if err != nil || only.All() {
		return v, err
	}
	return l.Trim(only.Of)
}
