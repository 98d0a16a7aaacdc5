package decide

// rule is a row of a decision: Then is decided where When fits. A decision is a list of
// rules. The first that fits decides, and the last fits always. Facts are enums and
// booleans: clocks and records are read before, by the function that makes the facts, and
// nothing is written before the function that applies the verdict.
type rule[F, V any] struct {
	Name string
	When func(F) bool
	Then V
}

// verdict returns what the first rule says that fits.
func verdict[F, V any](rules []rule[F, V], f F) (v V) {
	for i := range rules {
		if rules[i].When(f) {
			return rules[i].Then
		}
	}
	return v
}
