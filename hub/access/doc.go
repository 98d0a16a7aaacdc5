// Package access says who may do what to the hub: callers have roles and a scope, an
// operation needs a right, and a target is judged by the labels of the servers and
// racks that it touches. It is pure: everything that it judges is passed in.
package access
