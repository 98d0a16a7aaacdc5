package api

import (
	"context"
	"net/http"
	"time"

	"rackboot/protocol"
)

// ProbeWait is how long the hub waits at most for an agent's answer.
const ProbeWait = 3 * time.Minute

// AcceptBMC accepts a BMC that was found: with which credentials, and how its
// certificate is known. One of Fingerprint and CA is required.
type AcceptBMC struct {
	CredentialsRef string `json:"credentialsRef"`
	Fingerprint    string `json:"fingerprint,omitempty"`
	CA             string `json:"ca,omitempty"`
}

// AcceptServer accepts a server's board and interfaces, as they were shown.
type AcceptServer struct {
	Identity string `json:"identity"`
}

// ProbeRequest asks what a BMC can do.
type ProbeRequest struct {
	// SystemURI is one system's path; empty is every host behind the BMC.
	SystemURI string `json:"systemURI,omitempty"`
}

// ProbeList is what the systems behind a BMC can do.
type ProbeList struct {
	Items []protocol.Probe `json:"items"`
}

// PathAccept is the route that accepts a BMC or a server.
func PathAccept(kind protocol.Kind, name string) string { return PathObject(kind, name) + "/accept" }

// PathProbe is the route that probes a BMC.
func PathProbe(bmc string) string { return PathObject(protocol.KindBMC, bmc) + "/probe" }

// AcceptBMC accepts a BMC. Repeating it is safe.
func (c *Client) AcceptBMC(ctx context.Context, name string, r AcceptBMC) (*protocol.BMC, error) {
	var out protocol.BMC
	return &out, c.call(ctx, http.MethodPost, PathAccept(protocol.KindBMC, name), r, &out)
}

// AcceptServer accepts what a server shows. Repeating it is safe.
func (c *Client) AcceptServer(ctx context.Context, name string, r AcceptServer) (*protocol.Server, error) {
	var out protocol.Server
	return &out, c.call(ctx, http.MethodPost, PathAccept(protocol.KindServer, name), r, &out)
}

// Probe asks what a BMC can do and waits for the answer, for ProbeWait if ctx has no
// deadline. It only reads. Repeating it is safe.
func (c *Client) Probe(ctx context.Context, bmc string, r ProbeRequest) (out ProbeList, err error) {
	if _, ok := ctx.Deadline(); !ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, ProbeWait+callTimeout)
		defer cancel()
	}
	err = c.call(ctx, http.MethodPost, PathProbe(bmc), r, &out)
	return out, err
}
