package object

import (
	"encoding/json"
	"strings"

	"rackboot/cmd/internal/cli/printer"
	"rackboot/protocol"
)

// changed are the items of a view that say something else than they did, and notes what they say: in a
// table what its columns show but for ages, else the resource.
func changed(shown map[string]string, v printer.View, pr *printer.Printer) (out []printer.Item, err error) {
	for _, it := range v.Items {
		now := ""
		if pr.Tabular() {
			now = keysOf(v, it, pr.Form == printer.FormWide)
		} else {
			raw, err := json.Marshal(it.Value)
			if err != nil {
				return nil, protocol.Errorf(protocol.CodeInternal, "watch", "%w", err)
			}
			now = string(raw)
		}
		if was, known := shown[it.Name]; !known || was != now {
			shown[it.Name] = now
			out = append(out, it)
		}
	}
	return out, nil
}

// keysOf is what the columns of an item say that are shown.
func keysOf(v printer.View, it printer.Item, wide bool) string {
	var keys []string
	for i, c := range v.Columns {
		if !c.Wide || wide {
			keys = append(keys, it.Keys[i])
		}
	}
	return strings.Join(keys, "\x00")
}
