package redfish

import (
	"context"
	"net/http"

	"rackboot/bmc"
	"rackboot/protocol"
)

// users is what an AccountService says.
type users struct {
	list           string // URI of the collection
	minimum, limit int    // of a password's length; 0 is not stated
}

// user is one ManagerAccount.
type user struct {
	uri, id, name, tag string
}

// accounts changes who may use a BMC; see bmc.Accounts.
type accounts struct {
	link    *link
	locator *locator
}

func newAccounts(l *link, at *locator) *accounts { return &accounts{link: l, locator: at} }

// put makes an account log in.
func (a *accounts) put(ctx context.Context, want bmc.Credentials, role bmc.Role) error {
	c := newCall(ctx, opPutAccount, a.link)
	a.link.report.hidePassword(want)
	own := want.Username == a.link.username()
	password := map[string]any{"Password": want.Password}
	service, err := a.users(c)
	if uri := changeAt(err); uri != "" && own {
		_, err := c.patch(uri, "", password)
		return refusedChange(err)
	}
	if err != nil {
		return err
	}
	if n := len(want.Password); n < service.minimum || service.limit > 0 && n > service.limit {
		return protocol.Errorf(protocol.CodeInvalid, c.op, "BMC %s takes passwords of %d to %d characters, and this one has %d", a.link.base, service.minimum, service.limit, n).
			WithHint("rotate again with a --length in between; nothing was changed")
	}
	found, free, slots, err := lookFor(c, service.list, want.Username)
	if err != nil {
		return err
	}
	whole := map[string]any{"UserName": want.Username, "Password": want.Password, "RoleId": string(role), "Enabled": true}
	switch {
	case found != nil && own:
		_, err = c.patch(found.uri, found.tag, password)
	case found != nil:
		delete(whole, "UserName")
		_, err = c.patch(found.uri, found.tag, whole)
	case free != nil:
		_, err = c.patch(free.uri, free.tag, whole)
	case slots:
		return protocol.Errorf(protocol.CodeConflict, c.op, "BMC %s has no empty account left", a.link.base).
			WithHint("delete a user at the BMC that nobody needs; nothing was changed")
	default:
		var resp *http.Response
		if resp, err = c.Post(service.list, whole); err == nil {
			err = resp.Body.Close()
		}
	}
	return refusedChange(err)
}

// disable disables a user.
func (a *accounts) disable(ctx context.Context, username string) error {
	c := newCall(ctx, opDisableAccount, a.link)
	if username == a.link.username() {
		return protocol.Errorf(protocol.CodeInvalid, c.op, "an account does not disable itself")
	}
	service, err := a.users(c)
	if err != nil {
		return err
	}
	found, _, _, err := lookFor(c, service.list, username)
	if err != nil || found == nil {
		return err
	}
	_, err = c.patch(found.uri, found.tag, map[string]any{"Enabled": false})
	return refusedChange(err)
}

// users reads the AccountService.
func (a *accounts) users(c *call) (u users, err error) {
	root, err := get[object](c, rootURI)
	if err != nil {
		return u, err
	}
	uri := linkOf(root.f["AccountService"])
	if uri == "" {
		return u, noAccounts(c.op)
	}
	service, err := get[object](c, uri)
	if err != nil {
		return u, err
	}
	if u = usersOf(service); u.list == "" {
		return u, noAccounts(c.op)
	}
	return u, nil
}

func usersOf(service *object) users {
	return users{
		list:    linkOf(service.f["Accounts"]),
		minimum: countOf(service.f["MinPasswordLength"]), limit: countOf(service.f["MaxPasswordLength"]),
	}
}

// lookFor finds a user, and an empty slot where the BMC has slots.
func lookFor(c *call, list, name string) (found, free *user, slots bool, err error) {
	uris, err := members(c, list)
	if err != nil {
		return nil, nil, false, err
	}
	for _, uri := range uris {
		o, err := get[object](c, uri)
		if err != nil {
			return nil, nil, false, err
		}
		u := userOf(uri, o)
		switch u.name {
		case name:
			return u, free, slots, nil
		case "":
			slots = true
			if free == nil && u.id != reservedSlot {
				free = u
			}
		}
	}
	return nil, free, slots, nil
}

func userOf(uri string, o *object) *user {
	return &user{uri: uri, id: textOf(o.f["Id"]), name: textOf(o.f["UserName"]), tag: o.tag()}
}

func noAccounts(op string) error {
	return protocol.Errorf(protocol.CodeUnsupported, op, "the BMC has no AccountService with accounts").
		WithHint("change the password at the BMC, then rackctl secret set; newer firmware may have the service")
}

// refusedChange says what may help where a BMC refuses a change of accounts.
func refusedChange(err error) error {
	hint := ""
	switch protocol.CodeOf(err) {
	case protocol.CodeUnsupported:
		hint = "the BMC's accounts cannot be changed by Redfish; change the password where they are kept, then rackctl secret set"
	case protocol.CodeInvalid:
		hint = "the BMC's password policy may want another length or has a history; rotate again, perhaps with another --length"
	case protocol.CodeDenied:
		hint = "the account in use may not change accounts; it needs the role Administrator"
	default:
		return err
	}
	return protocol.Errorf(protocol.CodeOf(err), "change account", "%w", err).WithHint("%s", hint)
}

// changeAt is the account whose password must be changed first; empty if that is not
// what the error says.
func changeAt(err error) string {
	_, said, refused := refusal(err)
	if !refused {
		return ""
	}
	return said.changeAt()
}
