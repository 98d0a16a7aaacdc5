package people

import (
	"context"
	"crypto"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/go-jose/go-jose/v4"
	"golang.org/x/oauth2"

	"rackboot/state"
)

const (
	// askTimeout bounds both questions to the provider together.
	askTimeout = 5 * time.Second
	// askEvery is the least pause between two attempts to ask the provider: anybody can show a token of a
	// key that does not exist.
	askEvery = 10 * time.Second
	// keysAge is when keys are asked for anew although they are enough: one that the provider has withdrawn
	// is forgotten.
	keysAge = time.Hour
	// renewEvery is the least pause between two attempts where what is known is enough.
	renewEvery = time.Minute
	// maxKeys bounds the answer with the provider's keys in bytes.
	maxKeys = 1 << 20
)

// awayError says that the provider's keys are needed, and could not be had.
type awayError struct {
	issuer string
	err    error
}

func (e *awayError) Error() string {
	return fmt.Sprintf("the OpenID provider %s was not reached: %v", e.issuer, e.err)
}
func (e *awayError) Unwrap() error { return e.err }

// keys are the public keys of a provider. It implements oidc.KeySet, and is safe for concurrent use.
type keys struct {
	issuer string
	client *http.Client
	clock  state.Clock

	asking sync.Mutex // one asks at a time

	mu    sync.Mutex
	known []jose.JSONWebKey
	at    offers
	got   time.Time // when known and at came
	tried time.Time // when they were last asked for
	err   error     // why the last attempt failed
}

func newKeys(issuer string, client *http.Client, clock state.Clock) *keys {
	return &keys{issuer: issuer, client: client, clock: clock}
}

// take goes on with what others know.
func (k *keys) take(from *keys) {
	from.mu.Lock()
	defer from.mu.Unlock()
	k.known, k.at, k.got = from.known, from.at, from.got
}

// provider returns what the provider says of itself. The error is an awayError.
func (k *keys) provider(ctx context.Context) (offers, error) {
	read := func() (offers, time.Time, error) {
		k.mu.Lock()
		defer k.mu.Unlock()
		return k.at, k.got, k.err
	}
	at, got, err := read()
	if got.IsZero() {
		k.asking.Lock() // whoever comes while another asks waits for that answer
		k.ask(ctx, askEvery)
		at, got, err = read()
	}
	switch {
	case got.IsZero():
		return offers{}, &awayError{k.issuer, err}
	case at.authorize == "":
		return offers{}, &awayError{k.issuer, errors.New("it names no https URL to log in at")}
	}
	return at, nil
}

// VerifySignature implements oidc.KeySet. The error is an awayError if a key is needed that is not known,
// and the provider is not reached.
func (k *keys) VerifySignature(ctx context.Context, token string) ([]byte, error) {
	var allowed []jose.SignatureAlgorithm
	for _, a := range algorithms() {
		allowed = append(allowed, jose.SignatureAlgorithm(a))
	}
	signed, err := jose.ParseSignedCompact(token, allowed)
	if err != nil {
		return nil, fmt.Errorf("the token cannot be read: %w", err)
	}
	id := signed.Signatures[0].Header.KeyID
	fitting, fresh := k.of(id)
	switch {
	case len(fitting) == 0:
		k.asking.Lock() // whoever comes while another asks waits for that answer
		k.ask(ctx, askEvery)
		fitting, _ = k.of(id)
	case !fresh && k.asking.TryLock(): // the others go on with what is known
		k.ask(ctx, renewEvery)
		fitting, _ = k.of(id)
	}
	if len(fitting) == 0 {
		k.mu.Lock()
		defer k.mu.Unlock()
		if k.err != nil {
			return nil, &awayError{k.issuer, k.err}
		}
		return nil, fmt.Errorf("no key of the provider has the id %.80q", id)
	}
	return (&oidc.StaticKeySet{PublicKeys: fitting}).VerifySignature(ctx, token)
}

// of returns the known keys with an id, all for a token that names none, and whether they are fresh.
func (k *keys) of(id string) (list []crypto.PublicKey, fresh bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, one := range k.known {
		if (id == "" || one.KeyID == id) && (one.Use == "" || one.Use == "sig") && one.IsPublic() && one.Valid() {
			list = append(list, one.Key)
		}
	}
	return list, k.clock().Sub(k.got) < keysAge
}

// ask asks the provider, unless it was asked within a pause. The caller holds asking, and no longer afterwards.
func (k *keys) ask(ctx context.Context, pause time.Duration) {
	defer k.asking.Unlock()
	k.mu.Lock()
	now := k.clock()
	if !k.tried.IsZero() && now.Sub(k.tried) < pause && now.Sub(k.tried) >= 0 {
		k.mu.Unlock()
		return
	}
	k.tried = now
	k.mu.Unlock()
	// The answer is for all that wait, also if the one that asks is gone.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), askTimeout)
	defer cancel()
	list, at, err := k.fetch(ctx)
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.err = err; err == nil {
		k.known, k.at, k.got = list, at, k.clock()
	}
}

// fetch reads the provider's discovery document (OpenID Connect Discovery 1.0, section 4), whose issuer must be the
// one that was asked, and the keys that it names (RFC 7517).
func (k *keys) fetch(ctx context.Context) ([]jose.JSONWebKey, offers, error) {
	ctx = oidc.ClientContext(ctx, k.client)
	provider, err := oidc.NewProvider(ctx, k.issuer)
	if err != nil {
		return nil, offers{}, err
	}
	var at discovery
	if err := provider.Claims(&at); err != nil {
		return nil, offers{}, err
	}
	if !https(at.JWKS) {
		return nil, offers{}, fmt.Errorf("its keys are at %q, which is no https URL", at.JWKS)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, at.JWKS, http.NoBody)
	if err != nil {
		return nil, offers{}, err
	}
	resp, err := k.client.Do(r)
	if err != nil {
		return nil, offers{}, err
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(resp.Body, maxKeys))
	if err != nil {
		return nil, offers{}, err
	}
	var set jose.JSONWebKeySet
	if err := json.Unmarshal(raw, &set); err != nil || resp.StatusCode != http.StatusOK || len(set.Keys) == 0 {
		return nil, offers{}, fmt.Errorf("%s answers %d without keys", at.JWKS, resp.StatusCode)
	}
	return set.Keys, at.offers(), nil
}

// discovery is what is read of the provider's document beyond its issuer.
type discovery struct {
	JWKS      string   `json:"jwks_uri"`
	Authorize string   `json:"authorization_endpoint"`
	Token     string   `json:"token_endpoint"`
	Methods   []string `json:"token_endpoint_auth_methods_supported"`
}

// offers are empty of a provider that has no login for browsers by https.
func (d discovery) offers() offers {
	if !https(d.Authorize) || !https(d.Token) {
		return offers{}
	}
	style := oauth2.AuthStyleInHeader // client_secret_basic, also where nothing is said
	if len(d.Methods) > 0 && !slices.Contains(d.Methods, "client_secret_basic") {
		style = oauth2.AuthStyleInParams
	}
	return offers{d.Authorize, d.Token, style}
}

func https(s string) bool {
	u, err := url.Parse(s)
	return err == nil && u.Scheme == "https" && u.Host != ""
}

// asked are keys for one token. It keeps why the signature was not verified: the verifier's error does not wrap it.
type asked struct {
	*keys
	err error
}

// VerifySignature implements oidc.KeySet.
func (a *asked) VerifySignature(ctx context.Context, token string) (payload []byte, err error) {
	payload, a.err = a.keys.VerifySignature(ctx, token)
	return payload, a.err
}
