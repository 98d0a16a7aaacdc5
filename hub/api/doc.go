// Package api serves the hub's HTTPS API, which package protocol/api describes.
// Each noun has its handlers on a type of its own, which holds only what they need; [New] puts them
// behind the gate. Package route is what handlers share, package gate what a request passes first.
// Huma carries the routes and writes the OpenAPI document; it judges no field:
// the Validate methods of package resource are the one rule. Every error is a
// problem (RFC 9457).
package api
