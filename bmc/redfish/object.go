package redfish

import (
	"encoding/json"
	"errors"

	"github.com/stmcginnis/gofish/schemas"
)

var errNoObject = errors.New("not a JSON object")

// object is any Redfish resource, field by field.
type object struct {
	schemas.Entity

	f       map[string]json.RawMessage
	bodyTag string
}

// UnmarshalJSON decodes leniently: only what is not an object at all fails.
func (o *object) UnmarshalJSON(b []byte) error {
	f := fields(b)
	if f == nil {
		return errNoObject
	}
	*o = object{f: f, bodyTag: textOf(f["@odata.etag"])}
	o.ODataID = textOf(f["@odata.id"])
	return nil
}

// tag is the resource's ETag: the header's, which is what If-Match is compared
// with, else the one in the body.
func (o *object) tag() string {
	if o.ODataEtag != "" {
		return o.ODataEtag
	}
	return o.bodyTag
}

func (o *object) text(key string) string { return textOf(o.f[key]) }

func (o *object) link(key string) string { return linkOf(o.f[key]) }

// settingsURI is the link of @Redfish.Settings (DSP0266, settings resources).
func settingsURI(f map[string]json.RawMessage) string {
	return linkOf(fields(f["@Redfish.Settings"])["SettingsObject"])
}
