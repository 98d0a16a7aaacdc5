package tree

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestIdentity: every tree shows the machine that is behind it, in adapters and boot
// options too, and nothing of it is changed for another BMC that has the tree.
func TestIdentity(t *testing.T) {
	want := Identity{MAC: "52:54:00:00:00:07", UUID: "3f1c9a52-0000-4000-8000-525400000007"}
	all := func(tree *Tree) string {
		text, err := json.Marshal(tree.made())
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	for name, tree := range trees() {
		before := all(tree)
		own := tree.WithIdentity(want)
		if all(tree) != before {
			t.Errorf("%s: the tree itself was changed", name)
		}
		system := own.Look(own.Survey().Systems[0].URI)
		if got := TextAt(system, "UUID"); got != want.UUID {
			t.Errorf("%s: the UUID is %q", name, got)
		}
		if tree.WithIdentity(Identity{}) != tree {
			t.Errorf("%s: a tree without an identity is another", name)
		}
		ports := linksAt(own.Look(linkAt(system, "EthernetInterfaces")), "Members")
		if len(ports) == 0 {
			continue
		}
		if got := TextAt(own.Look(ports[0]), "MACAddress"); !strings.EqualFold(got, want.MAC) {
			t.Errorf("%s: %s has %q", name, ports[0], got)
		}
		was := TextAt(tree.Look(ports[0]), "MACAddress")
		for _, form := range []string{was, strings.ReplaceAll(was, ":", "")} {
			if strings.Contains(strings.ToLower(all(own)), strings.ToLower(form)) {
				t.Errorf("%s: something says %s still", name, form)
			}
		}
	}
}
