package images

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// TestPreseed: Debian's debconf reads every preseed file that the shipped environment is
// rendered into, without a warning. A wrong type is only a warning to it.
func TestPreseed(t *testing.T) {
	const program = "debconf-set-selections"
	need(t, program)
	golden, err := os.ReadFile("../../configs/bootenvs/testdata/debian-12-install.txt")
	if err != nil {
		t.Fatal(err)
	}
	read := func(text string) string {
		cmd := exec.CommandContext(t.Context(), program, "-c")
		cmd.Stdin = strings.NewReader(text)
		out, err := cmd.CombinedOutput()
		if err != nil {
			return err.Error() + ": " + string(out)
		}
		return string(out)
	}
	if said := read("d-i time/zone strng Etc/UTC\n"); !strings.Contains(said, "strng") {
		t.Fatalf("a wrong type is taken: %q", said)
	}
	files := 0
	for part := range strings.SplitSeq(string(golden), "\n---- ") {
		name, text, _ := strings.Cut(part, "\n")
		if !strings.HasSuffix(name, "/preseed.cfg") {
			continue
		}
		text, _, _ = strings.Cut(text, "\n==== ")
		files++
		if said := read(text + "\n"); said != "" {
			t.Errorf("%s: %s", name, said)
		}
		// The installer stops and asks for another one: user-setup's reserved-usernames.
		_, user, _ := strings.Cut(text, "d-i passwd/username string ")
		user, _, _ = strings.Cut(user, "\n")
		if user == "" || slices.Contains([]string{"root", "admin", "operator", "backup", "nobody", "staff", "users"}, user) {
			t.Errorf("%s: Debian reserves the name of the account, %q", name, user)
		}
	}
	if files != 4 { // two architectures, from a file and from a repository
		t.Errorf("%d files", files)
	}
}
