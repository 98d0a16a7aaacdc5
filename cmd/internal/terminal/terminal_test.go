package terminal

import "testing"

func TestCell(t *testing.T) {
	for in, want := range map[string]string{
		"":                     "-",
		"\x1b":                 "-",
		"PowerEdge R750":       "PowerEdge R750",
		"a\nb\tc":              "abc",
		"\x1b[31mred\x1b[0m":   "[31mred[0m",
		"\u009b31mred":         "31mred",
		"Zürich \u202e gnirts": "Zürich  gnirts",
	} {
		if got := Cell(in); got != want {
			t.Errorf("Cell(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestJSON(t *testing.T) {
	if got, want := string(JSON([]byte("\"a\u009bm\x7f\u00e9\""))), `"a\u009bm\u007fé"`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
