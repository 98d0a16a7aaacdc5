// Package gate is what each request to the hub's API passes before it reaches its handler: the
// limits of callers and sources, who calls, whether it may, whether it was asked before, and the
// audit log. It knows routes by their rules, and no handler.
package gate
