package apply

// outcome is what is known of a resource, in a byte.
type outcome byte

// words are the outcomes as they are said; the first is none yet.
var words = [...]string{"", "created", "configured", "unchanged", Refused, NotTried, Unknown}

// outcomeOf is the outcome of a word; none for a word of a newer hub.
func outcomeOf(word string) outcome {
	for o, w := range words {
		if w == word {
			return outcome(o)
		}
	}
	return 0
}

func (o outcome) String() string { return words[o] }

// final reports whether something is said of the resource already.
func (o outcome) final() bool { return o != 0 }

// gone reports whether what refers to the resource cannot be applied.
func (o outcome) gone() bool { return o.String() == Refused || o.String() == NotTried }
