package daemon

// Scope is a selection by labels.
type Scope struct {
	MatchLabels map[string]string `yaml:"matchLabels"`
}
