package route

import (
	"embed"
	"encoding/json"

	"github.com/danielgtaylor/huma/v2"
)

// fieldDocs says what types and their fields are, by Type and Type.field: the comments in the packages
// that define them, which a test holds it to.
//
//go:embed fielddocs.json
var fieldDocs embed.FS

func readFieldDocs() (out map[string]string, err error) {
	raw, err := fieldDocs.ReadFile("fielddocs.json")
	if err != nil {
		return nil, err
	}
	err = json.Unmarshal(raw, &out)
	return out, err
}

// describe gives the schemas of a document what the comments say, where they say nothing themselves.
func describe(doc *huma.OpenAPI) error {
	texts, err := readFieldDocs()
	if err != nil {
		return err
	}
	for name, schema := range doc.Components.Schemas.Map() {
		if schema.Description == "" {
			schema.Description = texts[name]
		}
		for field, s := range schema.Properties {
			if s.Description == "" {
				s.Description = texts[name+"."+field]
			}
		}
	}
	return nil
}
