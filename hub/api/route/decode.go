package route

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"rackboot/protocol"
	protoapi "rackboot/protocol/api"
	"rackboot/protocol/resource"
)

// strict decodes one JSON value; unknown fields, wrong types and anything after
// the value are field errors.
func strict(raw []byte, into any) protocol.FieldErrors {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	err := d.Decode(into)
	if err == nil {
		if _, err := d.Token(); !errors.Is(err, io.EOF) {
			return protocol.FieldErrors{{Path: "", Message: "there is more after the JSON value"}}
		}
		return nil
	}
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return protocol.FieldErrors{{Path: wrong.Field, Message: fmt.Sprintf("is a %s, which does not fit", wrong.Value)}}
	}
	message := strings.TrimPrefix(err.Error(), "json: ")
	if name, ok := strings.CutPrefix(message, "unknown field "); ok {
		return protocol.FieldErrors{{Path: strings.Trim(name, `"`), Message: "is no field here"}}
	}
	return protocol.FieldErrors{{Path: "", Message: message}}
}

// Body decodes the body of a request that is not a resource. Its error is a problem with the code
// invalid.
func Body(op string, raw []byte, into any) error {
	if f := strict(raw, into); len(f) > 0 {
		return Problem(protocol.Errorf(protocol.CodeInvalid, op, "the body is wrong: %w", f).
			WithHint("%s describes the request", protoapi.PathOpenAPI))
	}
	return nil
}

// Object decodes a resource whose kind is in the text. The resource is nil when the text names no kind
// that is known.
func Object(raw []byte) (resource.Object, protocol.FieldErrors) {
	var head struct {
		APIVersion string        `json:"apiVersion"`
		Kind       resource.Kind `json:"kind"`
	}
	if err := json.Unmarshal(raw, &head); err != nil {
		return nil, protocol.FieldErrors{{Path: "", Message: strings.TrimPrefix(err.Error(), "json: ")}}
	}
	if head.APIVersion != resource.APIVersion {
		return nil, protocol.FieldErrors{{Path: "apiVersion", Message: fmt.Sprintf("%q is not %s", head.APIVersion, resource.APIVersion)}}
	}
	obj := resource.NewObject(head.Kind)
	if obj == nil {
		text := fmt.Sprintf("%q is not a kind", head.Kind)
		if other, ok := resource.OtherKind(string(head.Kind)); ok {
			text += "; say " + string(other)
		}
		return nil, protocol.FieldErrors{{Path: "kind", Message: text}}
	}
	return obj, strict(raw, obj)
}
