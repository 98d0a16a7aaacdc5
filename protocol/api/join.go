package api

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// JoinToken lets one agent join a rack, once, until Expires. The token is a
// secret and is shown once.
type JoinToken struct {
	// Token is secret.fingerprint: what is spent, and by which certificate the agent
	// knows the hub before it sends anything. See [SplitToken].
	Token   string    `json:"token"`
	Rack    string    `json:"rack"`
	Expires time.Time `json:"expires"`
	// Standby is of a token for an agent that stands by.
	Standby bool `json:"standby,omitempty"`
}

// TokenRequest says for whom a join token is; nothing is for an agent that serves the rack.
type TokenRequest struct {
	// Standby is for an agent that stands by for the rack's.
	Standby bool `json:"standby,omitempty"`
}

// JoinRequest is an agent's wish to join with a one-time token.
type JoinRequest struct {
	Token string `json:"token"` // the secret alone
	CSR   []byte `json:"csr"`   // PEM, for the certificate of the link
	Key   []byte `json:"key"`   // Ed25519 public key that reports are signed with
	Host  string `json:"host"`  // the agent's host name, for people
	// SealKey is the X25519 public key that secrets for the agent are sealed to.
	SealKey []byte `json:"sealKey,omitempty"`
}

// Bounds of a JoinRequest, in bytes.
const (
	MaxToken = 256
	MaxCSR   = 16 << 10
	MaxHost  = 253
)

// Validate says what is wrong with the form of a request, before anything is looked
// up. The code is invalid.
func (r JoinRequest) Validate() error {
	bad := func(format string, args ...any) error {
		return protocol.Errorf(protocol.CodeInvalid, "join", format, args...).WithHint("join with rackboot-agent join, of the hub's version")
	}
	switch {
	case r.Token == "" || len(r.Token) > MaxToken:
		return bad("the token is empty or longer than %d bytes", MaxToken)
	case len(r.Key) != 32:
		return bad("key is not an Ed25519 public key")
	case len(r.SealKey) != 0 && len(r.SealKey) != 32:
		return bad("sealKey is not an X25519 public key")
	case len(r.CSR) > MaxCSR:
		return bad("csr is longer than %d bytes", MaxCSR)
	case len(r.Host) > MaxHost || strings.ContainsFunc(r.Host, func(c rune) bool { return c <= ' ' || c > '~' }):
		return bad("host is not a host name")
	}
	return nil
}

// JoinAnswer is all that an agent needs to dial in.
type JoinAnswer struct {
	Agent       string `json:"agent"`
	Rack        string `json:"rack"`
	Term        uint64 `json:"term"`
	Standby     bool   `json:"standby,omitempty"` // it stands by for the rack's agent
	Certificate []byte `json:"certificate"`       // PEM
	CA          []byte `json:"ca"`                // PEM, of the broker
	HubKey      []byte `json:"hubKey"`            // Ed25519 public key that signs documents
	Broker      string `json:"broker"`            // mqtts://host:port; the first of Brokers
	// QoS is that of the link: 0 or 1.
	QoS byte `json:"qos,omitempty"`
	// DestructiveKey is the Ed25519 public key that signs approvals; absent from hubs
	// without one.
	DestructiveKey []byte   `json:"destructiveKey,omitempty"`
	Standing       Standing `json:"standing"`
}

// Standing is what an agent trusts and where it dials.
type Standing struct {
	// Brokers and API are URLs in the order in which they are tried.
	Brokers []string `json:"brokers,omitempty"` // mqtts://host:port
	API     []string `json:"api,omitempty"`     // https://host:port
	// BrokerCA and HubCA are PEM certificates that sign those of the brokers and of the
	// API: during a change of the authority both the old and the new one.
	BrokerCA []byte `json:"brokerCA,omitempty"`
	HubCA    []byte `json:"hubCA,omitempty"`
	// KeyStatements is the whole chain of sealed KeyStatements.
	KeyStatements [][]byte `json:"keyStatements,omitempty"`
}

// Digest names the standing: sha256:<hex>.
func (s Standing) Digest() string {
	raw, err := json.Marshal(s)
	if err != nil {
		panic(err) // strings and bytes always can be
	}
	sum := sha256.Sum256(raw)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// RenewRequest carries a sealed message.Renewal.
type RenewRequest struct {
	// Agent says whose key opens it.
	Agent   string `json:"agent"`
	Renewal []byte `json:"renewal"`
}

// RenewAnswer says where the agent stands, and has its next certificate if it asked
// for one. Of an agent whose term is over it has Ended alone.
type RenewAnswer struct {
	Standing    Standing `json:"standing,omitzero"`
	Certificate []byte   `json:"certificate,omitempty"` // PEM
	Ended       []byte   `json:"ended,omitempty"`       // sealed message.EndOfTerm
}

// EndRequest ends the term of an agent: revokes it, or gives its rack to another.
type EndRequest struct {
	Reason string `json:"reason"`
	// Standby replaces the agent that stands by, and not the one that serves the rack.
	Standby bool `json:"standby,omitempty"`
}

// MaxReason bounds the reason of an [EndRequest] in bytes.
const MaxReason = 1024

// Validate says what is wrong with the form. The code is invalid.
func (r EndRequest) Validate() error {
	if strings.TrimSpace(r.Reason) == "" || len(r.Reason) > MaxReason {
		return protocol.Errorf(protocol.CodeInvalid, "end a term", "the reason is empty or longer than %d bytes", MaxReason).
			WithHint("say why with --reason; it is filed with your name")
	}
	return nil
}

// KeepRequest says which of several agents of one disk goes on.
type KeepRequest struct {
	// Run is that of the agent, or its beginning, or what the agent calls itself.
	Run    string `json:"run"`
	Reason string `json:"reason"`
}

// Validate says what is wrong with the form. The code is invalid.
func (r KeepRequest) Validate() error {
	const op = "keep an agent"
	switch {
	case strings.TrimSpace(r.Reason) == "" || len(r.Reason) > MaxReason:
		return protocol.Errorf(protocol.CodeInvalid, op, "the reason is empty or longer than %d bytes", MaxReason).
			WithHint("say why with --reason; it is filed with your name")
	case r.Run == "" || len(r.Run) > MaxReason:
		return protocol.Errorf(protocol.CodeInvalid, op, "no run is named").WithHint("rackctl describe agent AGENT lists the runs")
	}
	return nil
}

// KeepAnswer says which agent goes on.
type KeepAnswer struct {
	Agent string `json:"agent"`
	Rack  string `json:"rack"`
	Run   string `json:"run"`
}

// EndAnswer says what was done.
type EndAnswer struct {
	Agent string                 `json:"agent"`
	Rack  string                 `json:"rack"`
	Code  resource.ConditionCode `json:"code"`
	// Cut is how many connections of the agent the broker ended; Broker says who
	// refuses it from now on where that is not the hub's own broker.
	Cut    int    `json:"cut"`
	Broker string `json:"broker,omitempty"`
	// Token lets another agent join, where one was asked for.
	Token *JoinToken `json:"token,omitempty"`
}

// Fingerprint names a certificate by its DER: base64url of its SHA-256.
func Fingerprint(der []byte) string {
	sum := sha256.Sum256(der)
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// SplitToken takes a token apart. fingerprint is empty where the token has none.
func SplitToken(token string) (secret, fingerprint string) {
	secret, fingerprint, _ = strings.Cut(token, ".")
	return secret, fingerprint
}

// pathJoinToken is the route that makes a join token for a rack.
func pathJoinToken(rack string) string { return PathObject(resource.KindRack, rack) + "/join-token" }

// Agents are how agents join, renew and end.
type Agents struct{ hub *hub }

// NewToken makes a one-time token with which an agent joins a rack.
func (a Agents) NewToken(ctx context.Context, rack string, r TokenRequest) (out JoinToken, err error) {
	err = a.hub.call(ctx, http.MethodPost, pathJoinToken(rack), r, &out)
	return out, err
}

// Join joins an agent with its one-time token. It is not safe to repeat.
func (a Agents) Join(ctx context.Context, r JoinRequest) (out JoinAnswer, err error) {
	err = a.hub.call(ctx, http.MethodPost, PathJoin, r, &out)
	return out, err
}

// Renew asks where an agent stands, and for its next certificate. Repeating it is
// safe.
func (a Agents) Renew(ctx context.Context, r RenewRequest) (out RenewAnswer, err error) {
	err = a.hub.call(ctx, http.MethodPost, PathRenew, r, &out)
	return out, err
}

// pathRevoke revokes an agent.
func pathRevoke(agent string) string { return PathObject(resource.KindAgent, agent) + "/revoke" }

// pathReplaceAgent ends the term of a rack's agent.
func pathReplaceAgent(rack string) string {
	return PathObject(resource.KindRack, rack) + "/replace-agent"
}

// pathKeepAgent says which of several agents of one disk goes on.
func pathKeepAgent(rack string) string {
	return PathObject(resource.KindRack, rack) + "/keep-agent"
}

// Keep says which of several agents of one disk goes on. Repeating it is safe.
func (a Agents) Keep(ctx context.Context, rack string, r KeepRequest) (out KeepAnswer, err error) {
	err = a.hub.call(ctx, http.MethodPost, pathKeepAgent(rack), r, &out)
	return out, err
}

// Revoke refuses an agent from now on. Repeating it is safe.
func (a Agents) Revoke(ctx context.Context, agent string, r EndRequest) (out EndAnswer, err error) {
	err = a.hub.call(ctx, http.MethodPost, pathRevoke(agent), r, &out)
	return out, err
}

// Replace ends the term of a rack's agent and makes a token for another. Each
// call makes a new token.
func (a Agents) Replace(ctx context.Context, rack string, r EndRequest) (out EndAnswer, err error) {
	err = a.hub.call(ctx, http.MethodPost, pathReplaceAgent(rack), r, &out)
	return out, err
}
