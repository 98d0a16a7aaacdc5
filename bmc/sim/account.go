package sim

import (
	"crypto/subtle"
	"net/http"
	"strconv"
	"strings"
	"time"
)

const (
	uriAccountSv = uriRoot + "/AccountService"
	uriAccounts  = uriAccountSv + "/Accounts"
)

// The roles (DSP0266, standard roles).
const (
	roleAdministrator = "Administrator"
	roleReadOnly      = "ReadOnly"
)

// bmcUser is an account. One without a name is an empty slot.
type bmcUser struct {
	name, password, role string
	enabled              bool
	change               bool // the password must be changed first
}

// newUsers are the accounts of a new BMC: that of its config, and its empty slots.
func newUsers(c Config) []*bmcUser {
	users := []*bmcUser{{name: c.Username, password: c.Password, role: roleAdministrator, enabled: true, change: c.Personality.Account.MustChange}}
	for len(users) < c.Personality.Account.Slots {
		users = append(users, &bmcUser{role: "None"})
	}
	return users
}

// login finds the user with a password; nil if there is none. b.mu is held.
func (b *BMC) login(name, password string) *bmcUser {
	for _, u := range b.users {
		if u.enabled && u.name != "" && u.name == name && subtle.ConstantTimeCompare([]byte(u.password), []byte(password)) == 1 {
			return u
		}
	}
	return nil
}

// Logs says whether an account logs in now, without counting it.
func (b *BMC) Logs(username, password string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.login(username, password) != nil
}

// Password is that of a user, for tests that look where it is not to be.
func (b *BMC) Password(username string) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, u := range b.users {
		if u.name == username {
			return u.password
		}
	}
	return ""
}

// Wrong is how many wrong passwords came in a row.
func (b *BMC) Wrong() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.wrong
}

// restricted says what a user may not do: all but changing its password, where that
// must be changed first (DSP0266, password change required), and changing accounts
// without the right to. b.mu is held.
func (b *BMC) restricted(r *request) *answer {
	u := r.user
	if u == nil {
		return nil
	}
	own := uriAccounts + "/" + b.idOf(u)
	if u.change && r.uri != fold(own) && !strings.HasPrefix(r.uri, fold(b.layout.sessions)) {
		a := refuse(&refusal{status: http.StatusForbidden, id: "Base.1.13.PasswordChangeRequired", text: "the password must be changed first"})
		if infos, ok := at(a.body, "error", "@Message.ExtendedInfo").([]any); ok {
			infos[0].(object)["MessageArgs"] = []any{own}
		}
		return a
	}
	changes := r.Method == http.MethodPatch || r.Method == http.MethodPost
	switch {
	case changes && strings.HasPrefix(r.uri, fold(uriAccounts)) && u.role != roleAdministrator && r.uri != fold(own),
		changes && u.role == roleReadOnly && !strings.HasPrefix(r.uri, fold(b.layout.sessions)):
		return refuse(&refusal{status: http.StatusForbidden, id: "Base.1.13.InsufficientPrivilege", text: "the account has not the rights"})
	}
	return nil
}

func (b *BMC) idOf(u *bmcUser) string {
	for i, o := range b.users {
		if o == u {
			return strconv.Itoa(i + 1)
		}
	}
	return ""
}

func (b *BMC) getAccountService(r *request) *answer {
	rules := b.personality.Account
	body := object{
		"@odata.id": uriAccountSv, "@odata.type": "#AccountService.v1_12_0.AccountService", "Id": "AccountService", "Name": "Account Service",
		"Accounts": link(uriAccounts), "AccountLockoutThreshold": b.personality.Session.LockAfter,
	}
	if rules.MinLength > 0 {
		body["MinPasswordLength"] = rules.MinLength
	}
	if rules.MaxLength > 0 {
		body["MaxPasswordLength"] = rules.MaxLength
	}
	return b.tagged(r, body)
}

func (b *BMC) getAccounts(r *request) *answer {
	var members []string
	for i := range b.users {
		members = append(members, uriAccounts+"/"+strconv.Itoa(i+1))
	}
	body := collection("ManagerAccountCollection", members...)
	body["@odata.id"] = uriAccounts
	return b.tagged(r, body)
}

// accountMember answers for one account.
func (b *BMC) accountMember(r *request, method, id string) *answer {
	i, err := strconv.Atoi(id)
	if err != nil || i < 1 || i > len(b.users) {
		return nil
	}
	u := b.users[i-1]
	switch method {
	case http.MethodGet:
		return b.tagged(r, object{
			"@odata.id": uriAccounts + "/" + id, "@odata.type": "#ManagerAccount.v1_9_0.ManagerAccount", "Id": id, "Name": "User Account",
			"UserName": u.name, "RoleId": u.role, "Enabled": u.enabled, "Password": nil, "PasswordChangeRequired": u.change,
		})
	case http.MethodPatch:
		return b.patchAccount(r, u)
	}
	return nil
}

func (b *BMC) postAccount(r *request) *answer {
	if rules := b.personality.Account; rules.Slots > 0 || rules.ReadOnly {
		return refuse(&refusal{status: http.StatusMethodNotAllowed, id: "Base.1.13.OperationNotAllowed", text: "accounts cannot be added"})
	}
	body, refused := r.object()
	if refused != nil {
		return refuse(refused)
	}
	if refused := b.checkPassword(body); refused != nil {
		return refuse(refused)
	}
	u := &bmcUser{enabled: true}
	b.users = append(b.users, u)
	b.setUser(u, body)
	uri := uriAccounts + "/" + strconv.Itoa(len(b.users))
	a := reply(http.StatusCreated, object{"@odata.id": uri, "UserName": u.name})
	a.header.Set("Location", uri)
	return a
}

func (b *BMC) patchAccount(r *request, u *bmcUser) *answer {
	rules := b.personality.Account
	if rules.ReadOnly {
		return refuse(&refusal{status: http.StatusBadRequest, id: "Base.1.13.PropertyNotWritable", text: "accounts are kept elsewhere"})
	}
	if refused := b.precondition(r); refused != nil {
		return refuse(refused)
	}
	body, refused := r.object()
	if refused != nil {
		return refuse(refused)
	}
	if refused := b.checkPassword(body); refused != nil {
		return refuse(refused)
	}
	b.touch(r.uri)
	switch {
	case rules.KeepsOld:
	case rules.ApplyAfter > 0:
		b.after(rules.ApplyAfter, func() {
			b.mu.Lock()
			defer b.mu.Unlock()
			b.setUser(u, body)
		})
	default:
		b.setUser(u, body)
	}
	return reply(http.StatusOK, object{"@odata.id": r.URL.Path})
}

// checkPassword refuses a password that the policy forbids; it repeats the value, as
// the standard's messages do.
func (b *BMC) checkPassword(body object) *refusal {
	rules := b.personality.Account
	p := textAt(body, "Password")
	if p == "" || len(p) >= rules.MinLength && (rules.MaxLength == 0 || len(p) <= rules.MaxLength) {
		return nil
	}
	return &refusal{status: http.StatusBadRequest, id: "Base.1.13.PropertyValueFormatError", text: "the value " + p + " of Password has not the right length"}
}

func (b *BMC) setUser(u *bmcUser, body object) {
	if p := textAt(body, "Password"); p != "" {
		if cut := b.personality.Account.CutAt; cut > 0 && len(p) > cut {
			p = p[:cut]
		}
		u.password, u.change = p, false
	}
	if name := textAt(body, "UserName"); name != "" {
		u.name = name
	}
	if role := textAt(body, "RoleId"); role != "" {
		u.role = role
	}
	if enabled, ok := body["Enabled"].(bool); ok {
		u.enabled = enabled
	}
	if b.personality.Account.WeakRole && u != b.users[0] {
		u.role = roleReadOnly
	}
}

// AccountRules say how a BMC keeps accounts.
type AccountRules struct {
	Slots                int           // so many fixed slots, changed by PATCH; 0 adds accounts by POST
	MinLength, MaxLength int           // of passwords, stated and enforced; 0 is any
	CutAt                int           // longer passwords are cut, without a word
	MustChange           bool          // the first password must be changed before anything else
	KeepsOld             bool          // a change is answered with 200 and not made
	ApplyAfter           time.Duration // a change is answered with 200 and made later
	ReadOnly             bool          // accounts cannot be changed
	WeakRole             bool          // what is added can only read, whatever RoleId says
}
