package capture_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"rackboot/bmc/capture"
	"rackboot/bmc/redfish"
	"rackboot/bmc/sim"
	"rackboot/bmc/sim/tree"
)

// Captured trees of three vendors, recorded whole: nothing of their machines is left, and what is left is
// still a BMC to which the driver says the same.
func TestCapturedTrees(t *testing.T) {
	root := os.Getenv("RACKBOOT_REDFISH_TREES")
	if root == "" {
		root = "../../../shared/redfish-trees"
	}
	entries, err := os.ReadDir(root)
	if err != nil {
		t.Skipf("no captured Redfish trees at %s; RACKBOOT_REDFISH_TREES names their folder", root)
	}
	for _, e := range entries {
		if !e.IsDir() {
			continue
		}
		t.Run(e.Name(), func(t *testing.T) {
			folder := os.DirFS(filepath.Join(root, e.Name()))
			raw := map[string][]byte{}
			r := capture.New()
			err := fs.WalkDir(folder, ".", func(p string, d fs.DirEntry, err error) error {
				if err != nil || d.Name() != "index.json" {
					return err
				}
				text, err := fs.ReadFile(folder, p)
				uri := "/" + strings.TrimSuffix(p, "/index.json")
				raw[uri] = text
				r.See(uri, text)
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			files, err := r.Files()
			if err != nil {
				t.Fatal(err)
			}
			if len(files) < len(raw) {
				t.Errorf("%d files of %d answers", len(files), len(raw))
			}
			clean(t, names(raw), files)
			scrubbed := fstest.MapFS{}
			for name, text := range files {
				scrubbed[name] = &fstest.MapFile{Data: text}
			}
			was := verdictOfTree(t, folder)
			if is := verdictOfTree(t, scrubbed); was != is {
				t.Errorf("\n was %s\n  is %s", was, is)
			}
		})
	}
}

func verdictOfTree(t *testing.T, folder fs.FS) string {
	t.Helper()
	loaded, err := tree.Load(folder)
	if err != nil {
		t.Fatal(err)
	}
	p, err := probed(t, sim.Personality{Tree: loaded}, redfish.Config{})
	if err != nil {
		t.Fatal(err)
	}
	return shape(p)["verdict"] + shape(p)["UUID"] + shape(p)["detection"]
}
