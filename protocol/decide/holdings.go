package decide

// holdings is what keeps a server from running.
type holdings struct {
	all  []Hold // in force; those that end with this step are not among them
	work bool   // firmware work is marked now
}
