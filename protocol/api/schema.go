package api

import (
	"context"
	"encoding/json"
	"net/http"

	"rackboot/protocol/resource"
)

// Document is what of a hub's OpenAPI document says what resources are made of.
type Document struct {
	Components struct {
		Schemas map[string]*Schema `json:"schemas"`
	} `json:"components"`
}

// Schema is a type of the document, as far as resources use JSON Schema.
type Schema struct {
	Ref         string             `json:"$ref"`
	Type        any                `json:"type"` // a word, or several
	Description string             `json:"description"`
	Properties  map[string]*Schema `json:"properties"`
	Required    []string           `json:"required"`
	Items       *Schema            `json:"items"`
	// AdditionalProperties is false, or the schema of a map's values.
	AdditionalProperties any `json:"additionalProperties"`
}

// Document reads the schemas of the hub.
func (c *Client) Document(ctx context.Context) (out Document, err error) {
	err = c.hub.call(ctx, http.MethodGet, PathOpenAPI, nil, &out)
	return out, err
}

// Schema reads the hub's JSON Schema (draft 2020-12) of a kind, or for none that of a file with resources
// of any kinds. The error is not_found where the hub has none: nobody writes the kind, or the hub is
// of before there were schemas.
func (c *Client) Schema(ctx context.Context, kind resource.Kind) (out json.RawMessage, err error) {
	err = c.hub.call(ctx, http.MethodGet, PathSchema(kind), nil, &out)
	return out, err
}
