package redfish_test

import (
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"

	"rackboot/bmc"
	"rackboot/bmc/redfish"
	"rackboot/bmc/sim"
	"rackboot/protocol"
)

// memory is a session store that outlives dialers.
type memory struct {
	mu sync.Mutex
	m  map[string][]byte
}

func (m *memory) Load(key string) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.m[key], nil
}

func (m *memory) Save(key string, session []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.m == nil {
		m.m = map[string][]byte{}
	}
	m.m[key] = session
	return nil
}

func (m *memory) Delete(key string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.m, key)
	return nil
}

func (m *memory) len() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.m)
}

// door is the session service of a scripted BMC.
type door struct {
	mu     sync.Mutex
	refuse http.HandlerFunc // instead of a login; nil lets in
	tokens map[string]bool
	forget int // how many of the sessions to come are gone as soon as they were granted
	logins int
	basic  int // requests with basic authentication
	ended  int
}

func (d *door) serve(t *testing.T) bmc.Target {
	t.Helper()
	d.tokens = map[string]bool{}
	return serve(t, func(w http.ResponseWriter, r *http.Request) {
		d.mu.Lock()
		defer d.mu.Unlock()
		token := r.Header.Get("X-Auth-Token")
		_, _, basic := r.BasicAuth()
		switch {
		case r.URL.Path == "/redfish/v1/":
			fmt.Fprint(w, `{"Links":{"Sessions":{"@odata.id":"/sessions"}}}`)
		case r.URL.Path == "/sessions" && r.Method == http.MethodPost:
			d.logins++
			if d.refuse != nil {
				d.refuse(w, r)
				return
			}
			token = fmt.Sprintf("secret-token-%d", d.logins)
			d.tokens[token] = d.forget <= 0
			d.forget--
			w.Header().Set("X-Auth-Token", token)
			w.Header().Set("Location", "https://bmc.example/sessions/1")
			w.WriteHeader(http.StatusCreated)
		case basic:
			d.basic++
			fmt.Fprint(w, offSystem)
		case !d.tokens[token]:
			w.WriteHeader(http.StatusUnauthorized)
			fmt.Fprintf(w, `{"error":{"code":"x","message":"the token %s ended"}}`, token)
		case r.Method == http.MethodDelete:
			d.ended++
			delete(d.tokens, token)
			w.WriteHeader(http.StatusNoContent)
		default:
			fmt.Fprint(w, offSystem)
		}
	})
}

func (d *door) counts() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return fmt.Sprintf("logins %d, basic %d, ended %d, open %d", d.logins, d.basic, d.ended, len(d.tokens))
}

func (d *door) want(t *testing.T, want string) {
	t.Helper()
	if got := d.counts(); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func observe(t *testing.T, d bmc.Driver) {
	t.Helper()
	if o, err := d.Observe(deadline(t)); err != nil || o.Power != protocol.PowerOff {
		t.Fatalf("%+v, %v", o, err)
	}
}

// One session for all systems of a BMC; it ends with the last of them, and
// survives a process that has no time to end it.
func TestSessionIsSharedAndKept(t *testing.T) {
	var d door
	target := d.serve(t)
	var store memory
	dialer, err := redfish.New(redfish.Config{Sessions: &store})
	if err != nil {
		t.Fatal(err)
	}
	var drivers []bmc.Driver
	for range 3 {
		driver, err := dialer.Open(target)
		if err != nil {
			t.Fatal(err)
		}
		drivers = append(drivers, driver)
		observe(t, driver)
		observe(t, driver)
	}
	d.want(t, "logins 1, basic 0, ended 0, open 1")
	// The process dies; the next finds the session.
	next := open(t, redfish.Config{Sessions: &store}, target)
	observe(t, next)
	d.want(t, "logins 1, basic 0, ended 0, open 1")
	for i, driver := range drivers {
		if err := driver.Close(); err != nil {
			t.Fatal(err)
		}
		if i < 2 {
			d.want(t, "logins 1, basic 0, ended 0, open 1")
		}
	}
	d.want(t, "logins 1, basic 0, ended 1, open 0")
	if store.len() != 0 {
		t.Error("an ended session is still kept")
	}
	observe(t, next) // whose session was ended under it: one new login
	d.want(t, "logins 2, basic 0, ended 1, open 1")
	if store.len() != 1 {
		t.Error("the new session is not kept")
	}
}

// A BMC that restarts ends sessions that it has just granted. That says nothing of the credentials: it
// is asked again, and soon.
func TestSessionIsGoneAtOnce(t *testing.T) {
	for _, row := range []struct {
		gone  int // sessions, after the first
		code  protocol.Code
		after string
	}{
		{0, "", "logins 2, basic 0, ended 0, open 1"},
		{1, "", "logins 3, basic 0, ended 0, open 1"},
		{2, protocol.CodeUnavailable, "logins 3, basic 1, ended 0, open 0"}, // next without a session
	} {
		d := &door{}
		driver := open(t, redfish.Config{}, d.serve(t))
		observe(t, driver)
		d.mu.Lock()
		clear(d.tokens)
		d.forget = row.gone
		d.mu.Unlock()
		_, err := driver.Observe(deadline(t))
		wantCode(t, err, row.code)
		if row.code != "" {
			observe(t, driver)
		}
		d.mu.Lock()
		for token, there := range d.tokens {
			if !there {
				delete(d.tokens, token)
			}
		}
		d.mu.Unlock()
		d.want(t, row.after)
	}
}

func TestLoginRefused(t *testing.T) {
	status := func(status int, id string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			fmt.Fprintf(w, `{"error":{"@Message.ExtendedInfo":[{"MessageId":%q,"Message":"%s %s"}]}}`, id, username, password)
		}
	}
	tests := []struct {
		name   string
		source string
		refuse http.HandlerFunc
		want   protocol.Code
		counts string
	}{
		{"no session left", "Dell RAC0218, check_redfish #198", status(503, "IDRAC.2.8.RAC0218"), "", "logins 1, basic 3, ended 0, open 0"},
		{"form refused", "metal-operator basic clients", status(400, "Base.1.13.PropertyUnknown"), "", "logins 1, basic 3, ended 0, open 0"},
		{"not there", "RFC 9110", status(405, ""), "", "logins 1, basic 3, ended 0, open 0"},
		{"no token", "DSP0266 wants one", status(201, ""), "", "logins 1, basic 3, ended 0, open 0"},
		{"401", "Protocol-Validator #12: addresses are blocked", status(401, "Base.1.13.NoValidSession"), protocol.CodeDenied, "logins 1, basic 0, ended 0, open 0"},
		{"403", "DSP0266", status(403, ""), protocol.CodeDenied, "logins 1, basic 0, ended 0, open 0"},
		{"no session left, by 403", "DSP0268 SessionLimitExceeded", status(403, "Base.1.13.SessionLimitExceeded"), "", "logins 1, basic 3, ended 0, open 0"},
		{"no session left, by 429", "the same without a MessageId", status(429, ""), "", "logins 1, basic 3, ended 0, open 0"},
		{"400 that means 401", "iLO UnauthorizedLoginAttempt", status(400, "iLO.0.10.UnauthorizedLoginAttempt"), protocol.CodeDenied, "logins 1, basic 0, ended 0, open 0"},
		{"busy", "Dell SYS518", status(503, "IDRAC.2.8.SYS518"), protocol.CodeUnavailable, "logins 3, basic 0, ended 0, open 0"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := door{refuse: tt.refuse}
			driver := open(t, redfish.Config{}, d.serve(t))
			for range 3 {
				_, err := driver.Observe(deadline(t))
				wantCode(t, err, tt.want)
				if err != nil && (strings.Contains(err.Error(), password) || strings.Contains(err.Error(), username)) {
					t.Errorf("the error shows a secret: %v", err)
				}
			}
			d.want(t, tt.counts)
		})
	}
}

// Nothing that is written down shows the token, the account or the password.
func TestNoSecretsInLogs(t *testing.T) {
	var d door
	target := d.serve(t)
	var log strings.Builder
	var mu sync.Mutex
	driver := open(t, redfish.Config{Logger: slog.New(slog.NewJSONHandler(locked{&mu, &log}, &slog.HandlerOptions{Level: slog.LevelDebug}))}, target)
	observe(t, driver)
	_, err := driver.SetBoot(deadline(t), protocol.Override{Target: protocol.TargetHdd, Enabled: protocol.OverrideOnce})
	d.mu.Lock()
	clear(d.tokens)
	d.refuse = func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) }
	d.mu.Unlock()
	_, denied := driver.Observe(deadline(t))
	wantCode(t, denied, protocol.CodeDenied)
	mu.Lock()
	defer mu.Unlock()
	all := fmt.Sprintf("%s %v %v %+v %#v %+v", log.String(), err, denied, driver, target, bmc.Media{Boot: "secret-token"})
	for _, secret := range []string{username, password, "secret-token"} {
		if i := strings.Index(all, secret); i >= 0 {
			t.Errorf("%q is in %s", secret, all[max(0, i-80):min(len(all), i+80)])
		}
	}
	if len(log.String()) == 0 {
		t.Error("nothing was logged")
	}
}

type locked struct {
	mu *sync.Mutex
	b  *strings.Builder
}

func (l locked) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

// SessionsFull: the BMC's own limit, reached by others.
func TestSessionsFull(t *testing.T) {
	p, ok := sim.Preset("SessionsFull")
	if !ok {
		t.Fatal("no such preset")
	}
	p.Session.Max = 1
	r := newRig(t, p)
	r.await(t, protocol.PowerOff) // takes the one
	other := open(t, redfish.Config{}, target(r.bmc))
	observe(t, other)
	got, err := other.(bmc.Prober).Probe(deadline(t), "")
	if err != nil || !strings.HasPrefix(got.Login, "basic: ") {
		t.Errorf("login %q, %v", got.Login, err)
	}
}

// A BMC that ends every session at once is used without (AMI states a timeout
// of 30).
func TestSessionsThatEndTooSoon(t *testing.T) {
	var d door
	driver := open(t, redfish.Config{}, d.serve(t))
	for range 6 {
		observe(t, driver)
		d.mu.Lock()
		clear(d.tokens)
		d.mu.Unlock()
	}
	d.want(t, "logins 3, basic 3, ended 0, open 0")
}
