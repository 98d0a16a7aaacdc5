package redfish

import (
	"slices"
	"testing"
)

func TestTags(t *testing.T) {
	tests := []struct {
		name  string
		given string
		want  []string
	}{
		{"weak (sushy's ladder: given, strong, none)", `W/"7"`, []string{`W/"7"`, `"7"`, ""}},
		{"strong", `"7"`, []string{`"7"`, ""}},
		{"none", "", []string{""}},
		{"empty (sushy: 412)", `""`, []string{""}},
		{"weak and empty", `W/""`, []string{""}},
		{"quoted twice (ansible #3268)", `""7""`, []string{`"7"`, ""}},
		{"without quotes", `7`, []string{"7", ""}},
	}
	for _, tt := range tests {
		if got := tags(tt.given); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}
