package page

import (
	"context"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/prometheus/client_golang/prometheus"

	"rackboot/hub/access"
	"rackboot/hub/api"
	"rackboot/hub/api/apitest"
	"rackboot/hub/people"
	"rackboot/hub/web"
	"rackboot/integration/identity"
	"rackboot/protocol"
)

// Somebody logs in at a real provider in a real browser, and comes back to the view from before; who may do nothing, whose
// link is another's is told so in the page's words.
func TestLogin(t *testing.T) {
	t.Parallel()
	b := browser(t)
	p := identity.New(t, identity.User{Name: "ada", Email: "ada@example.com", Groups: []string{"ops"}}, identity.User{Name: "eve", Email: "eve@example.com", Groups: []string{"staff"}})
	srv := httptest.NewUnstartedServer(nil)
	redirect := "https://" + srv.Listener.Addr().String() + web.PathCallback
	p.Register("page", "of the page", redirect)
	who, err := people.New(people.Config{
		Issuer: p.URL, ClientID: identity.ClientID, Client: p.Client(), Clock: time.Now, Page: people.Page{Redirect: redirect, ClientID: "page", Secret: "of the page"},
		Groups: []people.Group{{Name: "ops", Roles: []access.Role{access.Operator}}},
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	a, h := apitest.NewHandler(t, func(c *api.Config) { c.People = who })
	f, err := web.New(web.Config{API: a, Callers: a.Gate(), Persons: func() web.Persons { return who }, Registerer: prometheus.NewRegistry()})
	if err != nil {
		t.Fatal(err)
	}
	srv.Config.Handler, srv.EnableHTTP2 = f, true
	srv.StartTLS()
	t.Cleanup(srv.Close)
	with := "Log in with " + strings.TrimPrefix(p.URL, "https://")

	ada := open(b, t, srv.URL, "")
	ada.at("work?claim=x")
	ada.press(with)
	ada.logIn("ada")
	ada.until(`document.querySelector("header .who")`, patience)
	ada.sees("oidc:ada@example.com")
	ada.until(`location.hash === "#/work?claim=x" && !location.search && document.querySelector("h1").textContent === "Work"`, patience)
	if n := ask[string](ada, "document.cookie"); n != "" {
		t.Errorf("scripts read the cookie %q", n)
	}
	logins := 0
	for _, e := range h.Records.Entries() {
		if e.Op == "login" && e.Outcome == protocol.AuditAccepted {
			logins++
			if e.Caller != "oidc:ada@example.com" || e.Issuer != p.URL || e.Subject != "ada" {
				t.Errorf("%+v", e)
			}
		}
	}
	if logins != 1 {
		t.Errorf("%d logins are in the audit log", logins)
	}

	eve := open(b, t, srv.URL, "")
	eve.press(with)
	eve.logIn("eve")
	eve.sees("the provider knows you, and this hub lets you do nothing")
	eve.sees("have one of your groups put into oidc.groups")
	eve.picture("login-nothing")
	eve.accessible()

	// A link with an answer to ada's question, who would have eve work in ada's name.
	to, err := who.Ask(t.Context(), "STATE0123", "n", strings.Repeat("v", 50))
	if err != nil {
		t.Fatal(err)
	}
	link, err := p.Return(t.Context(), to, "ada")
	if err != nil {
		t.Fatal(err)
	}
	eve.do(chromedp.Navigate(link.String()))
	eve.sees("began in another browser")
	eve.until(`!document.querySelector("header .who") && location.hash === "#/"`, patience)
}

// logIn fills in the form of the provider.
func (p *person) logIn(user string) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	if err := chromedp.Do(ctx, chromedp.SendKeys(chromedp.CSS("[name=username]"), user), chromedp.SendKeys(chromedp.CSS("[name=password]"), identity.Password+"\r")); err != nil {
		p.picture("failed-provider")
		p.t.Fatal(err)
	}
}
