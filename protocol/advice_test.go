package protocol

import (
	"fmt"
	"testing"
)

func TestAdvice(t *testing.T) {
	for _, row := range []struct {
		name string
		err  error
		want string
	}{
		{"with a hint", Errorf(CodeNotFound, "open file", "there is none").WithHint("upload it"), "there is none; upload it"},
		{"wrapped", fmt.Errorf("at boot: %w", Errorf(CodeNotFound, "open file", "there is none").WithHint("upload it")), "there is none; upload it"},
		{"without a hint", Errorf(CodeNotFound, "open file", "there is none"), Errorf(CodeNotFound, "open file", "there is none").Error()},
	} {
		t.Run(row.name, func(t *testing.T) {
			if got := Advice(row.err); got != row.want {
				t.Errorf("%q, want %q", got, row.want)
			}
		})
	}
}
