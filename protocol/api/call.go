package api

import (
	"context"
	"encoding/json"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

func loopback(host string) bool {
	a, err := netip.ParseAddr(host)
	return host == "localhost" || (err == nil && a.IsLoopback())
}

// Get reads the resource of type T.
func Get[T resource.Object](ctx context.Context, c *Client, name string) (T, error) {
	var none T
	obj, err := c.GetObject(ctx, resource.KindOf[T](), name)
	if err != nil {
		return none, err
	}
	return obj.(T), nil
}

// GetAll reads all resources of type T, sorted by name.
func GetAll[T resource.Object](ctx context.Context, c *Client) ([]T, error) {
	objs, err := c.ListObjects(ctx, resource.KindOf[T]())
	if err != nil {
		return nil, err
	}
	out := make([]T, len(objs))
	for i, o := range objs {
		out[i] = o.(T)
	}
	return out, nil
}

// GetObject reads a resource of the kind.
func (c *Client) GetObject(ctx context.Context, kind resource.Kind, name string) (resource.Object, error) {
	obj, err := blank(kind)
	if err != nil {
		return nil, err
	}
	return obj, c.call(ctx, http.MethodGet, PathObject(kind, name), nil, obj)
}

// ListObjects reads all resources of the kind, sorted by name.
func (c *Client) ListObjects(ctx context.Context, kind resource.Kind) ([]resource.Object, error) {
	if _, err := blank(kind); err != nil {
		return nil, err
	}
	var list List[json.RawMessage]
	if err := c.call(ctx, http.MethodGet, PathKind(kind), nil, &list); err != nil {
		return nil, err
	}
	out := make([]resource.Object, len(list.Items))
	for i, raw := range list.Items {
		out[i] = resource.NewObject(kind)
		if err := json.Unmarshal(raw, out[i]); err != nil {
			return nil, protocol.Errorf(protocol.CodeInternal, "list "+kind.Plural(), "item %d cannot be read: %w", i, err)
		}
	}
	return out, nil
}

// Apply writes a set of resources, all or after a failure some; see
// [ApplyRequest]. Repeating it is safe.
func (c *Client) Apply(ctx context.Context, objs []resource.Object, dryRun bool) (out ApplyAnswer, err error) {
	req := ApplyRequest{DryRun: dryRun, Objects: make([]json.RawMessage, len(objs))}
	for i, o := range objs {
		raw, err := reveal(o)
		if err != nil {
			return out, protocol.Errorf(protocol.CodeInternal, "encode request", "%w", err)
		}
		req.Objects[i] = raw
	}
	err = c.call(ctx, http.MethodPost, PathApply, req, &out)
	return out, err
}

// Delete asks to delete a resource and returns it as it is now: a Claim stays
// until its server was proved Off.
func (c *Client) Delete(ctx context.Context, kind resource.Kind, name string) (resource.Object, error) {
	obj, err := blank(kind)
	if err != nil {
		return nil, err
	}
	return obj, c.call(ctx, http.MethodDelete, PathObject(kind, name), nil, obj)
}

// DeleteClaim deletes a claim. Holds on its server refuse that, unless release is the
// reason why they are all released.
func (c *Client) DeleteClaim(ctx context.Context, name, release string) (*resource.Claim, error) {
	path := PathObject(resource.KindClaim, name)
	if release != "" {
		path += "?" + url.Values{QueryReleaseHolds: {release}}.Encode()
	}
	var out resource.Claim
	return &out, c.call(ctx, http.MethodDelete, path, nil, &out)
}

// CreateHold places a hold on a server. Repeating it is safe.
func (c *Client) CreateHold(ctx context.Context, server string, r HoldRequest) (*resource.Hold, error) {
	var out resource.Hold
	return &out, c.call(ctx, http.MethodPost, PathHolds(server), r, &out)
}

// ReleaseHold releases a hold. Repeating it is safe.
func (c *Client) ReleaseHold(ctx context.Context, id string, r ReleaseRequest) (*resource.Hold, error) {
	var out resource.Hold
	return &out, c.call(ctx, http.MethodPost, PathRelease(id), r, &out)
}

// ConfirmDown says that a held server is down. Repeating it is safe.
func (c *Client) ConfirmDown(ctx context.Context, id string, r ConfirmRequest) (*resource.Hold, error) {
	var out resource.Hold
	return &out, c.call(ctx, http.MethodPost, PathConfirmDown(id), r, &out)
}

// Firmware marks firmware work on a server, or ends the mark. Repeating it is safe.
func (c *Client) Firmware(ctx context.Context, server string, r FirmwareRequest) (*resource.Server, error) {
	var out resource.Server
	return &out, c.call(ctx, http.MethodPost, PathFirmware(server), r, &out)
}

// Discover asks for another discovery of a server. Repeating it is safe.
func (c *Client) Discover(ctx context.Context, server string) (*resource.Server, error) {
	var out resource.Server
	return &out, c.call(ctx, http.MethodPost, PathDiscover(server), DiscoverRequest{}, &out)
}

// Annotate gives a server a reboot annotation of metal3. Repeating it is safe for one
// that places a hold.
func (c *Client) Annotate(ctx context.Context, server string, r AnnotationRequest) (out AnnotationAnswer, err error) {
	err = c.call(ctx, http.MethodPost, PathAnnotations(server), r, &out)
	return out, err
}

// Reboot asks for one reboot. It is not safe to repeat.
func (c *Client) Reboot(ctx context.Context, server string, r RebootRequest) (out RequestStatus, err error) {
	err = c.call(ctx, http.MethodPost, PathServerRequests(server), r, &out)
	return out, err
}

// Request reads a one-shot request.
func (c *Client) Request(ctx context.Context, id string) (out RequestStatus, err error) {
	err = c.call(ctx, http.MethodGet, PathRequest(id), nil, &out)
	return out, err
}

// Events reads up to limit events with an index greater than after.
func (c *Client) Events(ctx context.Context, after uint64, limit int) (out EventList, err error) {
	q := url.Values{"after": {strconv.FormatUint(after, 10)}, "limit": {strconv.Itoa(limit)}}
	err = c.call(ctx, http.MethodGet, PathEvents+"?"+q.Encode(), nil, &out)
	return out, err
}

// NewJoinToken makes a one-time token with which an agent joins a rack.
func (c *Client) NewJoinToken(ctx context.Context, rack string) (out JoinToken, err error) {
	err = c.call(ctx, http.MethodPost, PathJoinToken(rack), nil, &out)
	return out, err
}

// Join joins an agent with its one-time token. It is not safe to repeat.
func (c *Client) Join(ctx context.Context, r JoinRequest) (out JoinAnswer, err error) {
	err = c.call(ctx, http.MethodPost, PathJoin, r, &out)
	return out, err
}

// Renew asks where an agent stands, and for its next certificate. Repeating it is
// safe.
func (c *Client) Renew(ctx context.Context, r RenewRequest) (out RenewAnswer, err error) {
	err = c.call(ctx, http.MethodPost, PathRenew, r, &out)
	return out, err
}

// RevokeAgent refuses an agent from now on. Repeating it is safe.
func (c *Client) RevokeAgent(ctx context.Context, agent string, r EndRequest) (out EndAnswer, err error) {
	err = c.call(ctx, http.MethodPost, PathRevoke(agent), r, &out)
	return out, err
}

// ReplaceAgent ends the term of a rack's agent and makes a token for another. Each
// call makes a new token.
func (c *Client) ReplaceAgent(ctx context.Context, rack string, r EndRequest) (out EndAnswer, err error) {
	err = c.call(ctx, http.MethodPost, PathReplaceAgent(rack), r, &out)
	return out, err
}

// Ready is nil when the hub is ready to serve.
func (c *Client) Ready(ctx context.Context) error {
	return c.call(ctx, http.MethodGet, PathReady, nil, nil)
}

// reveal is a resource as it is written: of a Secret with its data, which no other
// form has.
func reveal(o resource.Object) ([]byte, error) {
	if s, ok := o.(*resource.Secret); ok {
		return s.Reveal()
	}
	return json.Marshal(o)
}

func blank(kind resource.Kind) (resource.Object, error) {
	obj := resource.NewObject(kind)
	if obj == nil {
		return nil, protocol.Errorf(protocol.CodeInvalid, "name resource", "%q is not a kind", kind)
	}
	return obj, nil
}
