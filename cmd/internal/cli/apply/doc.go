// Package apply writes a set of resources of any size to a hub, in parts. All of the set is checked by the hub before
// any of it is written. After that each resource has a result of its own, and what is refused then stops nothing but
// what refers to it. The set is read while it is sent, so that memory holds one part of it. It prints nothing.
package apply
