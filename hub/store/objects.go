package store

// Objects are the resources of all kinds. [Get], [Peek], [List], [Find] and what else reads resources of
// a type takes them.
type Objects struct {
	core *core
	// sets has who has lost go alone, of those who write sets of resources.
	sets *turnstile
}
