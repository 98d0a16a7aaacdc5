// Package api serves the hub's HTTPS API, which package protocol/api describes.
// Huma carries the routes and writes the OpenAPI document; it judges no field:
// the Validate methods of package resource are the one rule. Every error is a
// problem (RFC 9457).
package api
