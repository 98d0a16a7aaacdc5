package page

import (
	"bytes"
	"flag"
	"os"
	"sync"

	"github.com/chromedp/cdproto/tracing"
	"github.com/chromedp/chromedp"
)

var traced = flag.String("trace", "", "file for what the browser did while TestMany scrolls, as chrome://tracing and DevTools read it")

// trace does something, and keeps what the browser did meanwhile where a file is named for it.
func (p *person) trace(do func()) {
	p.t.Helper()
	if *traced == "" {
		do()
		return
	}
	var mu sync.Mutex
	var all [][]byte
	ended := make(chan struct{})
	if err := chromedp.Listen(p.ctx, func(ev any) {
		switch e := ev.(type) {
		case *tracing.EventDataCollected:
			mu.Lock()
			defer mu.Unlock()
			for _, v := range e.Value {
				all = append(all, bytes.Clone(v))
			}
		case *tracing.EventTracingComplete:
			close(ended)
		}
	}); err != nil {
		p.t.Fatal(err)
	}
	categories := []string{"devtools.timeline", "disabled-by-default-devtools.timeline", "blink", "cc", "v8", "toplevel", "benchmark"}
	if _, err := chromedp.Call(p.ctx, tracing.Start, tracing.StartParams{TraceConfig: &tracing.TraceConfig{IncludedCategories: categories}}); err != nil {
		p.t.Fatal(err)
	}
	do()
	if _, err := chromedp.Call(p.ctx, tracing.End, struct{}{}); err != nil {
		p.t.Fatal(err)
	}
	<-ended
	mu.Lock()
	defer mu.Unlock()
	raw := append([]byte("["), bytes.Join(all, []byte(","))...)
	if err := os.WriteFile(*traced, append(raw, ']'), 0o600); err != nil {
		p.t.Fatal(err)
	}
}
