package redfish

import (
	"context"
	"io"
	"net/http"

	"github.com/stmcginnis/gofish/schemas"

	"rackboot/protocol"
)

// call is one operation on a link as gofish's schemas see it. schemas.Client
// has no context, so a call carries it, and lives as long as the operation.
type call struct {
	ctx    context.Context
	op     string
	link   *link
	urgent bool // overtakes what waits for the BMC
	slow   bool // inventory: off the power path
}

var _ schemas.Client = (*call)(nil)

func newCall(ctx context.Context, op string, l *link) *call { return &call{ctx: ctx, op: op, link: l} }

// newSlowCall is newCall for what does not delay power control.
func newSlowCall(ctx context.Context, op string, l *link) *call {
	return &call{ctx: ctx, op: op, link: l, slow: true}
}

func (c *call) GetSettings() schemas.ClientSettings { return schemas.ClientSettings{} }

func (c *call) do(method, uri string, payload any, h map[string]string) (*http.Response, error) {
	return c.link.do(c.ctx, request{op: c.op, method: method, uri: uri, payload: payload, headers: h, urgent: c.urgent, slow: c.slow})
}

func (c *call) Get(uri string) (*http.Response, error) { return c.GetWithHeaders(uri, nil) }

func (c *call) GetWithHeaders(uri string, h map[string]string) (*http.Response, error) {
	return c.do(http.MethodGet, uri, nil, h)
}

func (c *call) Post(uri string, payload any) (*http.Response, error) {
	return c.PostWithHeaders(uri, payload, nil)
}

func (c *call) PostWithHeaders(uri string, payload any, h map[string]string) (*http.Response, error) {
	return c.do(http.MethodPost, uri, payload, h)
}

func (c *call) PostMultipart(uri string, payload map[string]io.Reader) (*http.Response, error) {
	return c.PostMultipartWithHeaders(uri, payload, nil)
}

// PostMultipartWithHeaders is for firmware uploads, which nothing here does.
func (c *call) PostMultipartWithHeaders(string, map[string]io.Reader, map[string]string) (*http.Response, error) {
	return nil, protocol.Errorf(protocol.CodeUnsupported, c.op, "uploads are not supported")
}

func (c *call) Patch(uri string, payload any) (*http.Response, error) {
	return c.PatchWithHeaders(uri, payload, nil)
}

func (c *call) PatchWithHeaders(uri string, payload any, h map[string]string) (*http.Response, error) {
	return c.do(http.MethodPatch, uri, payload, h)
}

func (c *call) Put(uri string, payload any) (*http.Response, error) {
	return c.PutWithHeaders(uri, payload, nil)
}

func (c *call) PutWithHeaders(uri string, payload any, h map[string]string) (*http.Response, error) {
	return c.do(http.MethodPut, uri, payload, h)
}

func (c *call) Delete(uri string) (*http.Response, error) { return c.DeleteWithHeaders(uri, nil) }

func (c *call) DeleteWithHeaders(uri string, h map[string]string) (*http.Response, error) {
	return c.do(http.MethodDelete, uri, nil, h)
}

// get reads one object.
func get[T any, PT schemas.GenericSchemaObjectPointer[T]](c *call, uri string) (*T, error) {
	return decoded(c, func() (*T, error) { return schemas.GetObject[T, PT](c, uri) })
}

// decoded is an object that gofish decodes. gofish returns decoding errors as they are; here they
// become an unusable answer.
func decoded[T any](c *call, decode func() (*T, error)) (*T, error) {
	v, err := decode()
	if err == nil {
		return v, nil
	}
	if protocol.CodeOf(err) != protocol.CodeInternal {
		return nil, err
	}
	return nil, c.link.report.cut(c.op, printable(err.Error()))
}
