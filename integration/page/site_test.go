package page

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"rackboot/integration/sim"
)

var built = flag.String("bin", "", "folder of rackboot-hub, rackboot-agent and rackctl; where it is empty they are built")

// programs is the folder of what the stage runs.
func programs(t *testing.T) (bin string) {
	t.Helper()
	if *built != "" {
		return *built
	}
	bin = t.TempDir()
	cmd := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-buildvcs=false", "-o", bin, "./cmd/rackboot-hub", "./cmd/rackboot-agent", "./cmd/rackctl")
	cmd.Dir = filepath.Join("..", "..")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	return bin
}

func token(name string) string { return "0123456789abcdef0123456789abcdef-" + name }

// callers are the clients of the hub besides the admin. A release of what somebody else holds needs two of them.
const callers = `clients:
  - {name: ann, tokenFile: %[1]s/ann.token, roles: [operator, fencer]}
  - {name: bob, tokenFile: %[1]s/bob.token, roles: [admin], breakGlass: true}
  - {name: carla, tokenFile: %[1]s/carla.token, roles: [admin], breakGlass: true}
  - {name: vera, tokenFile: %[1]s/vera.token, roles: [viewer]}
approvals:
  holdOverride: {approvers: 2}
`

// What operators do at the page with a rack: they watch a boot, hold a server and let it go, are refused what is not
// theirs, let a second person decide, and see that a rack is dark.
func TestSite(t *testing.T) {
	t.Parallel()
	b := browser(t)
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
	defer cancel()
	dir := t.TempDir()
	files := map[string]string{}
	for _, name := range []string{"ann", "bob", "carla", "vera"} {
		files[name+".token"] = token(name) + "\n"
	}
	st, err := sim.StartStage(ctx, sim.StageConfig{Bin: programs(t), Dir: dir, Manifests: os.DirFS("../../configs/demo"), Servers: 12, Hub: fmt.Sprintf(callers, dir), Files: files})
	defer func() {
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	}()
	if err != nil {
		t.Fatal(err)
	}

	wrong := open(b, t, st.URL(), "")
	wrong.login(token("nobody"))
	wrong.sees("the token is missing or wrong")
	wrong.picture("login-refused")
	wrong.accessible()

	ann := open(b, t, st.URL(), token("ann"))
	ann.sees("1 rack, 12 servers")
	ann.picture("fleet")
	ann.at("rack/demo")
	ann.until(`document.querySelectorAll(".unit.off").length === 12`, patience)

	t.Run("a boot is watched", func(t *testing.T) {
		ann.t = t
		ann.at("server/server-1")
		ann.sees("It was not booted yet.")
		if err := st.Claim(ctx); err != nil {
			t.Fatal(err)
		}
		// Each step is seen while it is so, not afterwards: the list of steps is watched as it changes.
		ann.until(`document.querySelector(".boot .steps .now")`, patience)
		ann.picture("boot-under-way")
		ann.sees("Provisioned")
		ann.until(`document.querySelectorAll(".boot .steps .done").length >= 5 && document.querySelector(".boot .rows li")`, patience)
		ann.sees("DiskBoot")
		ann.picture("booted")
		ann.accessible()
	})
	t.Run("a hold to Fenced, and its release", func(t *testing.T) {
		ann.t = t
		ann.press("Hold")
		ann.sees("keeps it off until the hold is released")
		ann.fills("reason", "a fan is loud")
		ann.picture("hold-asks")
		ann.accessible()
		ann.yes()
		ann.until(`[...document.querySelectorAll(".hold .steps .done")].some((e) => e.textContent === "Fenced")`, patience)
		ann.sees("Receipt: off since")
		ask[bool](ann, `document.querySelector(".hold details").open = true`)
		ann.picture("fenced")
		ann.press("Release")
		ann.sees("Ends the hold page of ann")
		ann.yes()
		ann.sees("Nobody holds it.")
		ann.until(`document.querySelector(".badge.on")`, patience)
	})
	t.Run("a right that is not had", func(t *testing.T) {
		vera := open(b, t, st.URL(), token("vera"))
		vera.at("server/server-2")
		vera.press("Hold")
		vera.press("Hold server-2")
		vera.sees(`no role of "vera" has the right to hold`)
		vera.sees("rackctl whoami shows what may be done")
		vera.picture("refused")
	})
	t.Run("a second person decides", func(t *testing.T) {
		ann.t = t
		ann.at("server/server-3")
		ann.until(`document.querySelector("h1").textContent === "server-3"`, patience)
		ann.press("Hold")
		ann.yes()
		ann.until(`[...document.querySelectorAll(".hold .steps .done")].some((e) => e.textContent === "Fenced")`, patience)
		bob := open(b, t, st.URL(), token("bob"))
		bob.at("server/server-3")
		bob.press("Release")
		bob.sees("It is not yours.")
		bob.fills("reason", "the owner is away")
		bob.picture("breaks-glass")
		bob.until(`(() => { document.querySelector("dialog button[type=submit]").click(); return true; })()`, patience)
		bob.at("work")
		bob.sees("hold-override")
		for name, who := range map[string]*person{"bob": bob, "carla": open(b, t, st.URL(), token("carla"))} {
			who.at("work")
			who.sees("hold-override")
			who.picture("approval-" + name)
			who.press("Approve")
			who.sees("have what bob asked for")
			who.until(`(() => { document.querySelector("dialog button[type=submit]").click(); return true; })()`, patience)
			who.until(`!document.querySelector("dialog") || document.querySelector("dialog .refused")`, patience)
		}
		ann.sees("Nobody holds it.")
		ann.at("work")
		ann.sees("Approved")
		ann.picture("work")
		ann.accessible()
	})
	bob := open(b, t, st.URL(), token("bob"))
	acts(ctx, t, st, ann, bob)
	t.Run("dark, light and narrow", func(t *testing.T) {
		ann.t = t
		for _, scheme := range []string{"dark", "light"} {
			if _, err := chromedp.Call(ann.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}}); err != nil {
				t.Fatal(err)
			}
			for _, view := range []string{"", "rack/demo", "servers", "server/server-1", "work"} {
				ann.at(view)
				ann.until(`document.querySelector("h1")`, patience)
				ann.settled()
				ann.accessible()
				if scheme == "dark" {
					ann.picture("dark-" + strings.ReplaceAll("fleet"+view, "/", "-"))
				}
			}
		}
		ann.do(chromedp.EmulateViewport(390, 800))
		for _, view := range []string{"", "rack/demo", "servers", "server/server-1", "work"} {
			ann.at(view)
			ann.until(`document.querySelector("h1")`, patience)
			ann.settled()
			ann.until(`document.documentElement.scrollWidth <= innerWidth`, time.Second)
			ann.accessible()
			ann.picture("narrow-" + strings.ReplaceAll("fleet"+view, "/", "-"))
		}
		ann.do(chromedp.EmulateViewport(1360, 900))
	})
	t.Run("a rack goes dark", func(t *testing.T) {
		ann.t = t
		ann.at("rack/demo")
		if err := st.StopAgent(); err != nil {
			t.Fatal(err)
		}
		ann.until(`document.querySelectorAll(".unit.unknown").length === 12`, 70*time.Second)
		ann.sees("No rack reports")
		ann.sees("No report from the agent")
		ann.picture("rack-dark")
		ann.at("")
		ann.until(`document.querySelector(".rackcard .note.error")`, patience)
		ann.picture("fleet-dark")
		takesBack(ctx, t, st, ann)
	})
	t.Run("a session ends", func(t *testing.T) {
		ann.t = t
		ann.press("Log out")
		ann.until(`document.querySelector("#token")`, patience)
		ann.do(chromedp.Reload())
		ann.until(`document.querySelector("#token")`, patience)
	})
}
