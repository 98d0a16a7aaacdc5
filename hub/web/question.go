package web

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"sync"
	"time"

	"rackboot/protocol"
)

const (
	// askedName is the cookie of a browser that was sent to the provider. It is SameSite=Lax: the provider sends
	// the browser back, which is a navigation from another site.
	askedName = "__Host-rackboot-login"
	// Asked is how long somebody may take to log in at the provider.
	Asked = 10 * time.Minute
	// maxAsked bounds what is looked at of that cookie, maxView the view that somebody comes from.
	maxAsked, maxView = 2048, 512
	// maxSpent bounds the questions that are known to be answered; the oldest makes room.
	maxSpent = 4096
)

// question is what a browser was sent to the provider with. The browser keeps it, sealed, so that whoever asks much has
// the hub remember nothing.
type question struct {
	State    string    `json:"s"`
	Nonce    string    `json:"n"`
	Verifier string    `json:"v"`
	View     string    `json:"w"` // which is shown afterwards
	Until    time.Time `json:"u"`
}

// questions seals questions, and knows which were answered. A hub that starts anew knows those of before no more. It
// is safe for concurrent use.
type questions struct {
	seal cipher.AEAD

	mu    sync.Mutex
	spent map[string]struct{} // states
	order [maxSpent]string    // of spent, in a ring
	next  int                 // of order
}

func newQuestions() (*questions, error) {
	key := make([]byte, 32)
	_, _ = rand.Read(key) // never fails
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeInternal, "configure the page", "%w", err)
	}
	seal, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeInternal, "configure the page", "%w", err)
	}
	return &questions{seal: seal, spent: map[string]struct{}{}}, nil
}

// ask makes a question, and the cookie that keeps it.
func (q *questions) ask(view string) (question, *http.Cookie, error) {
	one := question{State: rand.Text(), Nonce: rand.Text(), Verifier: rand.Text() + rand.Text(), View: view, Until: time.Now().Add(Asked)}
	raw, err := json.Marshal(one)
	if err != nil {
		return question{}, nil, protocol.Errorf(protocol.CodeInternal, "log in", "%w", err)
	}
	return one, askedCookie(base64.RawURLEncoding.EncodeToString(q.seal.Seal(nil, nil, raw, []byte(askedName)))), nil
}

// askedCookie is that of a question; empty takes it from the browser.
func askedCookie(sealed string) *http.Cookie {
	c := &http.Cookie{Name: askedName, Value: sealed, Path: "/", MaxAge: int(Asked.Seconds()), HttpOnly: true, Secure: true, SameSite: http.SameSiteLaxMode}
	if sealed == "" {
		c.MaxAge = -1
	}
	return c
}

// errStale is why an answer is to no question of this browser that counts.
var errStale = errors.New("it is no answer to a question that this browser was sent with in the last minutes")

// answered returns the question of a browser that an answer with a state is to, once.
func (q *questions) answered(r *http.Request, state string) (question, error) {
	all := r.CookiesNamed(askedName)
	if len(all) != 1 || len(all[0].Value) > maxAsked || state == "" {
		return question{}, errStale
	}
	sealed, err := base64.RawURLEncoding.DecodeString(all[0].Value)
	if err != nil {
		return question{}, errStale
	}
	raw, err := q.seal.Open(nil, nil, sealed, []byte(askedName))
	if err != nil {
		return question{}, errStale
	}
	var one question
	now := time.Now()
	if json.Unmarshal(raw, &one) != nil || subtle.ConstantTimeCompare([]byte(one.State), []byte(state)) != 1 || !now.Before(one.Until) {
		return question{}, errStale
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if _, ok := q.spent[one.State]; ok {
		return question{}, errStale
	}
	// The provider trades a code once too, so that whoever answers much takes nobody's place.
	if old := q.order[q.next]; old != "" {
		delete(q.spent, old)
	}
	q.spent[one.State], q.order[q.next] = struct{}{}, one.State
	q.next = (q.next + 1) % maxSpent
	return one, nil
}

// viewOf is the view that somebody comes from, the fleet where it is none: what follows the # of the page, so that
// it leads nowhere else.
func viewOf(s string) string {
	if len(s) > maxView || len(s) == 0 || s[0] != '/' {
		return "/"
	}
	for i := range len(s) {
		if s[i] <= ' ' || s[i] > '~' || s[i] == '#' {
			return "/"
		}
	}
	return s
}
