package api

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// ProbeWait is how long the hub waits at most for an agent's answer.
const ProbeWait = 3 * time.Minute

// AcceptBMC accepts a BMC that was found: with which credentials, and how its
// certificate is known. One of Fingerprint and CA is required.
type AcceptBMC struct {
	CredentialsRef string `json:"credentialsRef"`
	Fingerprint    string `json:"fingerprint,omitempty"`
	CA             string `json:"ca,omitempty"`
	// LegacyTLS becomes spec.tls.legacy.
	LegacyTLS bool `json:"legacyTLS,omitempty"`
}

// RotateBMC changes the account of a BMC.
type RotateBMC struct {
	// User is the one of the new account; empty is the one in use.
	User string `json:"user,omitempty"`
	// Length of the new password, in characters; 0 is resource.DefaultNewPassword.
	Length int `json:"length,omitempty"`
	// Own gives the BMC a Secret of its own where its account is local or shared.
	Own bool `json:"own,omitempty"`
	// Drop is what becomes of a former user of another name.
	Drop resource.DropOld `json:"drop,omitempty"`
}

// Check sets the length and says what is wrong; the code is invalid.
func (r *RotateBMC) Check() error {
	const op = "rotate account"
	if r.Length == 0 {
		r.Length = resource.DefaultNewPassword
	}
	switch {
	case r.Length < resource.MinNewPassword || r.Length > resource.MaxNewPassword:
		return protocol.Errorf(protocol.CodeInvalid, op, "length is %d; give %d to %d", r.Length, resource.MinNewPassword, resource.MaxNewPassword).
			WithHint("BMCs with IPMI take up to 16 or 20")
	case len(r.User) > resource.MaxSecretUsername || strings.ContainsFunc(r.User, func(c rune) bool { return c <= ' ' || c == ':' || c > '~' }):
		return protocol.Errorf(protocol.CodeInvalid, op, "user is not 1 to %d printable characters without space and colon", resource.MaxSecretUsername).
			WithHint("IPMI takes up to 16")
	case !slices.Contains(resource.DropsOld(), r.Drop):
		return protocol.Errorf(protocol.CodeInvalid, op, "drop %.20q is unknown", string(r.Drop)).WithHint("leave it out, or give disable or password")
	}
	return nil
}

// pathRotate is the route that changes a BMC's account.
func pathRotate(bmc string) string { return PathObject(resource.KindBMC, bmc) + "/rotate" }

// BMCs are what is asked of BMCs besides writing them.
type BMCs struct{ hub *hub }

// Rotate begins to change a BMC's account. While it is under way, repeating it is no
// change.
func (b BMCs) Rotate(ctx context.Context, name string, r RotateBMC) (*resource.BMC, error) {
	var out resource.BMC
	return &out, b.hub.call(ctx, http.MethodPost, pathRotate(name), r, &out)
}

// AcceptServer accepts a server's board and interfaces, as they were shown.
type AcceptServer struct {
	Identity string `json:"identity"`
}

// ReEnrolServer has the agent forget the TPM of a server, as it was shown.
type ReEnrolServer struct {
	Enrolment string `json:"enrolment"`
}

// ProbeRequest asks what a BMC can do.
type ProbeRequest struct {
	// SystemURI is one system's path; empty is every host behind the BMC.
	SystemURI string `json:"systemURI,omitempty"`
}

// Probed is what a system can do, and what that comes to.
type Probed struct {
	protocol.Probe
	Verdict resource.Verdict `json:"verdict"`
}

// ProbeList is what the systems behind a BMC can do.
type ProbeList struct {
	Items []Probed `json:"items"`
}

// JudgeProbes is the list with its verdicts.
func JudgeProbes(all []protocol.Probe) (out ProbeList) {
	for _, p := range all {
		out.Items = append(out.Items, Probed{p, resource.VerdictOf(p)})
	}
	return out
}

// pathAccept is the route that accepts a BMC or a server.
func pathAccept(kind resource.Kind, name string) string { return PathObject(kind, name) + "/accept" }

// pathProbe is the route that probes a BMC.
func pathProbe(bmc string) string { return PathObject(resource.KindBMC, bmc) + "/probe" }

// Accept accepts a BMC. Repeating it is safe.
func (b BMCs) Accept(ctx context.Context, name string, r AcceptBMC) (*resource.BMC, error) {
	var out resource.BMC
	return &out, b.hub.call(ctx, http.MethodPost, pathAccept(resource.KindBMC, name), r, &out)
}

// Accept accepts what a server shows. Repeating it is safe.
func (s Servers) Accept(ctx context.Context, name string, r AcceptServer) (*resource.Server, error) {
	var out resource.Server
	return &out, s.hub.call(ctx, http.MethodPost, pathAccept(resource.KindServer, name), r, &out)
}

// ReEnrol has the agent forget the server's TPM; the next discovery enrols the one that is there. Repeating it is safe.
func (s Servers) ReEnrol(ctx context.Context, name string, r ReEnrolServer) (*resource.Server, error) {
	var out resource.Server
	return &out, s.hub.call(ctx, http.MethodPost, PathObject(resource.KindServer, name)+"/re-enrol", r, &out)
}

// Probe asks what a BMC can do and waits for the answer, for ProbeWait if ctx has no
// deadline. It only reads. Repeating it is safe.
func (b BMCs) Probe(ctx context.Context, bmc string, r ProbeRequest) (out ProbeList, err error) {
	ctx, cancel := slowRead(ctx)
	defer cancel()
	err = b.hub.call(ctx, http.MethodPost, pathProbe(bmc), r, &out)
	return out, err
}
