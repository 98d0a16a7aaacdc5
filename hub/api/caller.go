package api

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
	"strings"

	"rackboot/protocol"
)

// admin is the name of the caller that every hub has.
const admin = "admin"

// MinClientToken is the least length of a client's token in bytes.
const MinClientToken = 32

// Caller is who sends a request: the owner of the holds that it places, and the "by"
// in records.
type Caller struct {
	Name string
	// BreakGlass is the right to release what others hold, with a reason.
	BreakGlass bool
}

// Client is a caller besides the admin.
type Client struct {
	Caller
	Token string // bearer token, at least 32 bytes
}

// known is a caller by the digest of its token.
type known struct {
	Caller
	token [sha256.Size]byte
}

// knownCallers are the admin, who may break glass, and the clients.
func knownCallers(cfg Config) ([]known, error) {
	const op = "configure api"
	out := []known{{Caller{admin, true}, sha256.Sum256([]byte(cfg.Token))}}
	for _, c := range cfg.Clients {
		if err := CheckClientName(c.Name); err != nil {
			return nil, protocol.Errorf(protocol.CodeInvalid, op, "client %q: %w", c.Name, err)
		}
		if len(c.Token) < MinClientToken {
			return nil, protocol.Errorf(protocol.CodeInvalid, op, "the token of client %q is shorter than %d bytes", c.Name, MinClientToken).
				WithHint("openssl rand -hex 32 makes one")
		}
		k := known{c.Caller, sha256.Sum256([]byte(c.Token))}
		for _, o := range out {
			switch {
			case o.Name == k.Name:
				return nil, protocol.Errorf(protocol.CodeInvalid, op, "there are two clients %q", c.Name)
			case o.token == k.token:
				return nil, protocol.Errorf(protocol.CodeInvalid, op, "clients %q and %q have the same token", o.Name, c.Name).
					WithHint("nobody could say who calls; make each its own: openssl rand -hex 32")
			}
		}
		out = append(out, k)
	}
	return out, nil
}

// CheckClientName says what is wrong with the name of a client. Names that the hub
// and its agents give themselves are not to be had: records would lie.
func CheckClientName(name string) error {
	const op = "name a client"
	switch {
	case name == admin, name == "hub", name == "expiry":
		return protocol.Errorf(protocol.CodeInvalid, op, "%q is a name of Rackboot's own; choose another", name)
	case !protocol.ValidName(name):
		// So are local:USER and what else has a colon.
		return protocol.Errorf(protocol.CodeInvalid, op, "%q is not a name: use a-z, 0-9 and -, at most 63 characters", name)
	}
	return nil
}

type callerKey struct{}

// caller is who sent the request; the routes that need one are behind ServeHTTP.
func caller(ctx context.Context) Caller {
	who, _ := ctx.Value(callerKey{}).(Caller)
	return who
}

// authenticate compares digests, and always all of them, so that the time tells
// neither a token nor its length, nor whose it is.
func (a *API) authenticate(r *http.Request) (who Caller, ok bool) {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	sum := sha256.Sum256([]byte(token))
	at := -1
	for i := range a.callers {
		at = subtle.ConstantTimeSelect(subtle.ConstantTimeCompare(sum[:], a.callers[i].token[:]), i, at)
	}
	if at < 0 || !strings.EqualFold(scheme, "Bearer") {
		return Caller{}, false
	}
	return a.callers[at].Caller, true
}
