// Package schemas has a JSON Schema (draft 2020-12) for each kind that people write, and one for a file
// of any of them. The files beside it are made from the Go types and what Validate says of them:
// make openapi. A schema is never stricter than the hub, which checks more than a schema can say.
package schemas
