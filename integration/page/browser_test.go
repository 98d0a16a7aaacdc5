package page

import (
	"context"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/audits"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

var required = flag.String("require", "", "comma separated resources whose absence is a failure instead of a skip: chromium, axe")

// need skips the test, or fails it where Chromium is required, where it is not installed.
func need(t *testing.T) (program string) {
	t.Helper()
	program, err := exec.LookPath("chromium")
	if err == nil {
		return program
	}
	const text = "chromium is not installed; run integration/packages as root, then go test ./integration/page -require=chromium"
	if requires("chromium") {
		t.Fatal(text)
	}
	t.Skip(text)
	return ""
}

func requires(what string) bool { return slices.Contains(strings.Split(*required, ","), what) }

// browser is Chromium with a folder of its own, which asks nobody but the hub.
func browser(t *testing.T) context.Context { return browserWith(t, t.TempDir()) }

// browserWith is one with a profile.
func browserWith(t *testing.T, profile string, more ...chromedp.ExecAllocatorOption) context.Context {
	t.Helper()
	opts := []chromedp.ExecAllocatorOption{
		chromedp.ExecPath(need(t)), chromedp.UserDataDir(profile), chromedp.WindowSize(1360, 900),
		// The hub's authority is the test's own. That its certificate is checked is not what is tested here.
		chromedp.Flag("ignore-certificate-errors", true),
	}
	for _, f := range []string{"headless", "no-sandbox", "disable-gpu", "disable-quic", "no-first-run", "disable-background-networking", "disable-component-update", "disable-sync"} {
		opts = append(opts, chromedp.Flag(f, true))
	}
	ctx, cancel := chromedp.NewExecAllocator(t.Context(), append(opts, more...)...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	if err := chromedp.Do(ctx, chromedp.Navigate("about:blank")); err != nil {
		t.Fatal(err)
	}
	return ctx
}

// person is somebody before the page, with cookies of their own.
type person struct {
	t    *testing.T
	ctx  context.Context
	axe  string // judges what is shown; empty where it is not there
	mu   sync.Mutex
	said []string // errors of the page's scripts, and what its policy refused
}

// patience is how long something may take to be seen.
const patience = 30 * time.Second

// open has somebody open the page, and log in where there is a token.
func open(from context.Context, t *testing.T, url, token string) *person {
	t.Helper()
	ctx, cancel := chromedp.NewContext(from, chromedp.WithNewBrowserContext())
	t.Cleanup(cancel)
	p := &person{t: t, ctx: ctx, axe: axe(t)}
	// The first action of a context opens the tab, which lives as long as its context: without a deadline.
	if err := chromedp.Listen(ctx, p.listen); err != nil {
		t.Fatal(err)
	}
	p.do(chromedp.Navigate(url + "/"))
	p.until(`document.querySelector("#token")`, patience)
	if token != "" {
		p.login(token)
		p.until(`document.querySelector("header .who")`, patience)
	}
	t.Cleanup(func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		for _, s := range p.said {
			t.Errorf("the page's scripts said: %s", s)
		}
	})
	return p
}

// listen keeps what went wrong in the page's scripts. What its policy refuses is an entry of the log.
func (p *person) listen(ev any) {
	said := ""
	switch e := ev.(type) {
	case *runtime.EventExceptionThrown:
		said = e.ExceptionDetails.Text
		if e.ExceptionDetails.Exception != nil {
			said += " " + e.ExceptionDetails.Exception.Description
		}
	case *audits.EventIssueAdded:
		if e.Issue.Code == audits.InspectorIssueCodeContentSecurityPolicyIssue {
			said = "refused by the page's policy"
		}
	}
	if said != "" {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.said = append(p.said, said)
	}
}

func (p *person) login(token string) {
	p.t.Helper()
	p.do(chromedp.SendKeys(chromedp.CSS("#token"), token+"\r"))
}

// do does something, and fails the test with a picture where that does not come to its end in time.
func (p *person) do(what ...chromedp.Action[chromedp.Void]) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	if err := chromedp.Do(ctx, what...); err != nil {
		p.picture("failed-" + strings.ReplaceAll(p.t.Name(), "/", "-"))
		p.t.Fatalf("%v", err)
	}
}

// ask evaluates a script.
func ask[T any](p *person, script string) T {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	out, err := chromedp.Run(ctx, chromedp.Evaluate[T](script))
	if err != nil {
		p.t.Fatalf("%s: %v", script, err)
	}
	return out
}

// at opens a view.
func (p *person) at(view string) {
	p.t.Helper()
	ask[string](p, `location.hash = "#/`+view+`"`)
}

// until waits until a script is true, looking each 50 ms.
func (p *person) until(script string, within time.Duration) {
	p.t.Helper()
	look := time.NewTicker(50 * time.Millisecond)
	defer look.Stop()
	for end := time.Now().Add(within); !ask[bool](p, "!!(document.body && ("+script+"))"); <-look.C {
		if time.Now().After(end) {
			p.picture("failed-" + strings.ReplaceAll(p.t.Name(), "/", "-"))
			p.t.Fatalf("not seen within %s: %s\n%s", within, script, ask[string](p, "document.body?.innerText ?? \"\""))
		}
	}
}

// settled waits until what a view shows was read.
func (p *person) settled() {
	p.t.Helper()
	p.until(`!document.body.innerText.includes("Reading…") && (!location.hash.startsWith("#/server/") || document.querySelector(".is dt"))`, patience)
}

// sees waits until the page says something.
func (p *person) sees(text string) {
	p.t.Helper()
	p.until(`document.body.innerText.includes(`+quote(text)+`)`, patience)
}

// press presses the button with a text, the last if there are more: that of a dialog lies above.
func (p *person) press(text string) {
	p.t.Helper()
	p.until(`(() => { const b = [...document.querySelectorAll("button")].filter((b) => b.textContent === `+quote(text)+` && !b.disabled).pop(); if (b) b.click(); return !!b; })()`, patience)
}

// fills writes into a field of the dialog.
func (p *person) fills(name, text string) {
	p.t.Helper()
	p.until(`(() => { const f = document.querySelector("dialog [name=`+name+`]"); if (f) f.value = `+quote(text)+`; return !!f; })()`, patience)
}

func quote(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
}

// picture keeps what is seen.
func (p *person) picture(name string) {
	p.t.Helper()
	raw, err := chromedp.Run(p.ctx, chromedp.CaptureScreenshot())
	if err != nil {
		p.t.Logf("no picture %s: %v", name, err)
		return
	}
	dir := os.Getenv("RACKBOOT_PAGE_PICTURES")
	if dir == "" {
		dir = p.t.ArtifactDir()
	}
	if err := os.WriteFile(filepath.Join(dir, name+".png"), raw, 0o600); err != nil {
		p.t.Error(err)
	}
}
