package sim

import (
	"crypto/subtle"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"rackboot/bmc/sim/delay"
	"rackboot/bmc/sim/tree"
)

const (
	uriAccountSv = tree.RootURI + "/AccountService"
	uriAccounts  = uriAccountSv + "/Accounts"
)

// The roles (DSP0266, standard roles).
const (
	roleAdministrator = "Administrator"
	roleReadOnly      = "ReadOnly"
)

// accounts are those of a BMC. Its methods are safe for concurrent use.
type accounts struct {
	manner   *manner
	tags     *tags
	later    *delay.Later
	sessions string // URI of the sessions

	mu       sync.Mutex
	users    []*account
	wrong    int // passwords in a row
	lockedAt time.Time
}

// newAccounts are those of a new BMC: that of its config, and its empty slots.
func newAccounts(m *manner, g *tags, later *delay.Later, sessions, name, password string) *accounts {
	rules := m.now().Account
	a := &accounts{manner: m, tags: g, later: later, sessions: sessions}
	a.users = []*account{{name: name, password: password, role: roleAdministrator, enabled: true, change: rules.MustChange}}
	for len(a.users) < rules.Slots {
		a.users = append(a.users, &account{role: "None"})
	}
	return a
}

func (a *accounts) routes(t *router) {
	t.add("GET", uriAccountSv, a.getService)
	t.add("GET", uriAccounts, a.getAll)
	t.add("POST", uriAccounts, a.post)
	t.addMembers(uriAccounts, a.member)
}

// rename changes the first account.
func (a *accounts) rename(username, password string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.users[0].name, a.users[0].password, a.users[0].change = username, password, false
}

// forgive forgets the wrong passwords.
func (a *accounts) forgive() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.wrong = 0
}

// authentic is the user with a password, and nil for a wrong one, which it counts.
func (a *accounts) authentic(username, password string) *account {
	rules := a.manner.now().Session
	a.mu.Lock()
	defer a.mu.Unlock()
	if rules.LockAfter > 0 && a.wrong >= rules.LockAfter && time.Since(a.lockedAt) < rules.LockFor {
		return nil
	}
	if u := a.login(username, password); u != nil {
		a.wrong = 0
		return u
	}
	if a.wrong++; a.wrong >= rules.LockAfter {
		a.lockedAt = time.Now()
	}
	return nil
}

// enabled says whether a user may still come in.
func (a *accounts) enabled(u *account) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return u.enabled
}

// nameOf is the present name of a user.
func (a *accounts) nameOf(u *account) string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return u.name
}

// login finds the user with a password; nil if there is none. a.mu is held.
func (a *accounts) login(name, password string) *account {
	for _, u := range a.users {
		if u.enabled && u.name != "" && u.name == name && subtle.ConstantTimeCompare([]byte(u.password), []byte(password)) == 1 {
			return u
		}
	}
	return nil
}

// logs says whether an account logs in now, without counting it.
func (a *accounts) logs(username, password string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.login(username, password) != nil
}

// password is that of a user; empty if there is none.
func (a *accounts) password(username string) string {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, u := range a.users {
		if u.name == username {
			return u.password
		}
	}
	return ""
}

// wrongs is how many wrong passwords came in a row.
func (a *accounts) wrongs() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.wrong
}

// restricted says what a user may not do: all but changing its password, where that
// must be changed first (DSP0266, password change required), and changing accounts
// without the right to.
func (a *accounts) restricted(r *request) *answer {
	a.mu.Lock()
	defer a.mu.Unlock()
	u := r.user
	if u == nil {
		return nil
	}
	own := uriAccounts + "/" + a.idOf(u)
	if u.change && r.uri != tree.Fold(own) && !strings.HasPrefix(r.uri, tree.Fold(a.sessions)) {
		no := refuse(&refusal{status: http.StatusForbidden, id: "Base.1.13.PasswordChangeRequired", text: "the password must be changed first"})
		if infos, ok := tree.At(no.body, "error", "@Message.ExtendedInfo").([]any); ok {
			infos[0].(tree.Object)["MessageArgs"] = []any{own}
		}
		return no
	}
	changes := r.Method == http.MethodPatch || r.Method == http.MethodPost
	switch {
	case changes && strings.HasPrefix(r.uri, tree.Fold(uriAccounts)) && u.role != roleAdministrator && r.uri != tree.Fold(own),
		changes && u.role == roleReadOnly && !strings.HasPrefix(r.uri, tree.Fold(a.sessions)):
		return refuse(&refusal{status: http.StatusForbidden, id: "Base.1.13.InsufficientPrivilege", text: "the account has not the rights"})
	}
	return nil
}

// idOf is the last part of a user's URI. a.mu is held.
func (a *accounts) idOf(u *account) string {
	for i, o := range a.users {
		if o == u {
			return strconv.Itoa(i + 1)
		}
	}
	return ""
}

func (a *accounts) getService(r *request) *answer {
	rules := a.manner.now().Account
	body := tree.Object{
		"@odata.id": uriAccountSv, "@odata.type": "#AccountService.v1_12_0.AccountService", "Id": "AccountService", "Name": "Account Service",
		"Accounts": tree.Link(uriAccounts), "AccountLockoutThreshold": a.manner.now().Session.LockAfter,
	}
	if rules.MinLength > 0 {
		body["MinPasswordLength"] = rules.MinLength
	}
	if rules.MaxLength > 0 {
		body["MaxPasswordLength"] = rules.MaxLength
	}
	return a.tags.tagged(r, body)
}

func (a *accounts) getAll(r *request) *answer {
	a.mu.Lock()
	defer a.mu.Unlock()
	var members []string
	for i := range a.users {
		members = append(members, uriAccounts+"/"+strconv.Itoa(i+1))
	}
	body := tree.Collection("ManagerAccountCollection", members...)
	body["@odata.id"] = uriAccounts
	return a.tags.tagged(r, body)
}

// member answers for one account.
func (a *accounts) member(r *request, method, id string) *answer {
	a.mu.Lock()
	defer a.mu.Unlock()
	i, err := strconv.Atoi(id)
	if err != nil || i < 1 || i > len(a.users) {
		return nil
	}
	u := a.users[i-1]
	switch method {
	case http.MethodGet:
		return a.tags.tagged(r, tree.Object{
			"@odata.id": uriAccounts + "/" + id, "@odata.type": "#ManagerAccount.v1_9_0.ManagerAccount", "Id": id, "Name": "User Account",
			"UserName": u.name, "RoleId": u.role, "Enabled": u.enabled, "Password": nil, "PasswordChangeRequired": u.change,
		})
	case http.MethodPatch:
		return a.patch(r, u)
	}
	return nil
}

func (a *accounts) post(r *request) *answer {
	if rules := a.manner.now().Account; rules.Slots > 0 || rules.ReadOnly {
		return refuse(&refusal{status: http.StatusMethodNotAllowed, id: "Base.1.13.OperationNotAllowed", text: "accounts cannot be added"})
	}
	body, refused := r.object()
	if refused != nil {
		return refuse(refused)
	}
	if refused := a.checkPassword(body); refused != nil {
		return refuse(refused)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	u := &account{enabled: true}
	a.users = append(a.users, u)
	a.setUser(u, body)
	uri := uriAccounts + "/" + strconv.Itoa(len(a.users))
	made := reply(http.StatusCreated, tree.Object{"@odata.id": uri, "UserName": u.name})
	made.header.Set("Location", uri)
	return made
}

// patch changes a user. a.mu is held.
func (a *accounts) patch(r *request, u *account) *answer {
	rules := a.manner.now().Account
	if rules.ReadOnly {
		return refuse(&refusal{status: http.StatusBadRequest, id: "Base.1.13.PropertyNotWritable", text: "accounts are kept elsewhere"})
	}
	if refused := a.tags.precondition(r); refused != nil {
		return refuse(refused)
	}
	body, refused := r.object()
	if refused != nil {
		return refuse(refused)
	}
	if refused := a.checkPassword(body); refused != nil {
		return refuse(refused)
	}
	a.tags.touch(r.uri)
	switch {
	case rules.KeepsOld:
	case rules.ApplyAfter > 0:
		a.later.After(rules.ApplyAfter, func() {
			a.mu.Lock()
			defer a.mu.Unlock()
			a.setUser(u, body)
		})
	default:
		a.setUser(u, body)
	}
	return reply(http.StatusOK, tree.Object{"@odata.id": r.URL.Path})
}

// checkPassword refuses a password that the policy forbids; it repeats the value, as
// the standard's messages do.
func (a *accounts) checkPassword(body tree.Object) *refusal {
	rules := a.manner.now().Account
	p := tree.TextAt(body, "Password")
	if p == "" || len(p) >= rules.MinLength && (rules.MaxLength == 0 || len(p) <= rules.MaxLength) {
		return nil
	}
	return &refusal{status: http.StatusBadRequest, id: "Base.1.13.PropertyValueFormatError", text: "the value " + p + " of Password has not the right length"}
}

// setUser makes a change that was taken. a.mu is held.
func (a *accounts) setUser(u *account, body tree.Object) {
	if p := tree.TextAt(body, "Password"); p != "" {
		if cut := a.manner.now().Account.CutAt; cut > 0 && len(p) > cut {
			p = p[:cut]
		}
		u.password, u.change = p, false
	}
	if name := tree.TextAt(body, "UserName"); name != "" {
		u.name = name
	}
	if role := tree.TextAt(body, "RoleId"); role != "" {
		u.role = role
	}
	if enabled, ok := body["Enabled"].(bool); ok {
		u.enabled = enabled
	}
	if a.manner.now().Account.WeakRole && u != a.users[0] {
		u.role = roleReadOnly
	}
}
