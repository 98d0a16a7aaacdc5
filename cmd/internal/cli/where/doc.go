// Package where says in which rack a resource is, and so which labels it has there.
package where
