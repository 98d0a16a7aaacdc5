//go:build host

package packaging

import (
	"archive/tar"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/validate"
	"golang.org/x/sys/unix"
)

// loaded opens an archive as a registry or a container engine would, and returns the image
// for this architecture.
func loaded(t *testing.T, name string) v1.Image {
	t.Helper()
	dir := t.TempDir()
	if _, err := run(exec.Command("tar", "-xf", filepath.Join(dist(t, thisRelease), name+"-"+thisVersion+".oci.tar"), "-C", dir)); err != nil {
		t.Fatal(err)
	}
	top, err := layout.ImageIndexFromPath(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := validate.Index(top); err != nil {
		t.Fatal(err)
	}
	list, err := top.IndexManifest()
	if err != nil || len(list.Manifests) != 1 || list.Manifests[0].Annotations["org.opencontainers.image.ref.name"] != name+":"+thisVersion {
		t.Fatalf("index.json is %+v, %v", list, err)
	}
	index, err := top.ImageIndex(list.Manifests[0].Digest)
	if err != nil {
		t.Fatal(err)
	}
	images, err := index.IndexManifest()
	if err != nil || len(images.Manifests) != 1 || images.Annotations["org.opencontainers.image.title"] != name {
		t.Fatalf("the index is %+v, %v", images, err)
	}
	if p := images.Manifests[0].Platform; p == nil || p.OS != "linux" || p.Architecture != runtime.GOARCH {
		t.Errorf("the platform is %v", p)
	}
	image, err := index.Image(images.Manifests[0].Digest)
	if err != nil {
		t.Fatal(err)
	}
	return image
}

// unpacked is the image's root, with owners and capabilities.
func unpacked(t *testing.T, image v1.Image) string {
	t.Helper()
	root := t.TempDir()
	if err := os.Chmod(root, 0o755); err != nil { // its user is another
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Dir(root), 0o755); err != nil {
		t.Fatal(err)
	}
	in := mutate.Extract(image)
	defer in.Close()
	for r := tar.NewReader(in); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return root
		}
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(root, filepath.Clean("/"+h.Name))
		if h.Typeflag == tar.TypeDir {
			err = os.MkdirAll(path, 0o755)
		} else {
			var text []byte
			if text, err = io.ReadAll(r); err == nil {
				err = os.WriteFile(path, text, 0o600)
			}
		}
		mode := h.FileInfo().Mode()
		if err := errors.Join(err, os.Chown(path, h.Uid, h.Gid), os.Chmod(path, mode)); err != nil {
			t.Fatal(err)
		}
		if attribute := h.PAXRecords["SCHILY.xattr.security.capability"]; attribute != "" {
			if err := unix.Setxattr(path, "security.capability", []byte(attribute), 0); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// command is what the image runs, as its user and with its variables only.
func imageCommand(config v1.Config, root string, args ...string) *exec.Cmd {
	words := slices.Concat(config.Entrypoint, args)
	cmd := exec.Command(words[0], words[1:]...)
	cmd.Env, cmd.Dir = config.Env, config.WorkingDir
	cmd.SysProcAttr = &syscall.SysProcAttr{Chroot: root, Pdeathsig: syscall.SIGKILL, Credential: &syscall.Credential{Uid: 65532, Gid: 65532}}
	return cmd
}

// TestImages: each is what its settings say, and its program runs in its root, alone.
func TestImages(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"rackboot-hub", "rackboot-agent"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			image := loaded(t, name)
			file, err := image.ConfigFile()
			if err != nil {
				t.Fatal(err)
			}
			config := file.Config
			yaml := "/etc/rackboot/" + strings.TrimPrefix(name, "rackboot-") + ".yaml"
			if config.User != "65532:65532" || !slices.Equal(config.Entrypoint, []string{"/usr/bin/" + name}) || !slices.Equal(config.Cmd[:3], []string{"run", "--config", yaml}) {
				t.Errorf("it runs %v %v as %s", config.Entrypoint, config.Cmd, config.User)
			}
			if l := config.Labels; l["org.opencontainers.image.version"] != thisVersion || l["org.opencontainers.image.licenses"] != "Apache-2.0" || len(l["org.opencontainers.image.revision"]) < 7 || file.Created.IsZero() {
				t.Errorf("its labels are %v, its time %v", l, file.Created)
			}
			root := unpacked(t, image)
			if said, err := run(imageCommand(config, root, "--version")); err != nil || said != name+" version "+thisVersion+"\n" {
				t.Errorf("it says %q, %v", said, err)
			}
			if text := read(t, root+"/usr/share/doc/"+name+"/copyright"); !strings.Contains(text, "Apache License") || !strings.Contains(text, "github.com/spf13/cobra") {
				t.Error("its licences are not complete")
			}
			if name == "rackboot-agent" {
				agentOfImage(t, config, root)
				return
			}
			d := &debian{t: t, root: root, ns: newNamespace(t)}
			d.write(yaml, hubConfig, 0o644)
			start(t, d.ns, imageCommand(config, root, config.Cmd...)).stop()
			read(t, root+"/var/lib/rackboot-hub/ca.pem")
		})
	}
}

// agentOfImage: the agent has its two capabilities though its user has none. It waits for a
// token meanwhile.
func agentOfImage(t *testing.T, config v1.Config, root string) {
	t.Helper()
	d := &debian{t: t, root: root}
	d.write("/etc/rackboot/agent.yaml", rackConfig, 0o644)
	cmd := imageCommand(config, root, "join", "--hub", "https://127.0.0.1:1", "--token", "-")
	token, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	// Its program is running once Start has returned: until then it holds a pipe open.
	if got := capabilities(t, cmd.Process.Pid); got != "0000000000002400" {
		t.Errorf("the agent has the capabilities %s", got)
	}
	if err := token.Close(); err != nil {
		t.Error(err)
	}
	if err := cmd.Wait(); err == nil {
		t.Error("it joined without a token")
	}
}
