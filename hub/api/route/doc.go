// Package route is what the handlers of the hub's API share: the table of routes with the right
// that each needs, the caller, bodies, problems, revisions, and what a caller may see. It knows
// neither the handlers nor what a request passes before it reaches one.
package route
