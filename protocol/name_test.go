package protocol

import (
	"strings"
	"testing"
)

func TestValidName(t *testing.T) {
	for name, want := range map[string]bool{
		"a": true, "0": true, "a-b": true, "a--b": true, "rack-1": true, strings.Repeat("a", 63): true,
		"": false, "-": false, "-a": false, "a-": false, "A": false, "a_b": false, "a.b": false, "a/b": false, "a b": false,
		"a\n": false, "ä": false, "a\x00": false, "+": false, "#": false, strings.Repeat("a", 64): false,
	} {
		if ValidName(name) != want {
			t.Errorf("%q: want %v", name, want)
		}
	}
}
