package image

import (
	"context"
	"encoding/base64"
	"net/url"
	"slices"
	"strings"

	"github.com/google/go-containerregistry/pkg/authn"

	"rackboot/protocol"
)

// Account is what a registry's host takes for a login: name and password, or a token
// that is sent as it is (RFC 6750). The zero value is none.
type Account struct {
	Username string
	Password string
	Token    string
	// TokenHosts are other hosts (host[:port]) that name and password may be sent to in
	// exchange for a token, where the registry says so.
	TokenHosts []string
}

// Accounts finds the account of a registry's host, as it is asked: of a mirror, the
// mirror's; of Docker Hub, docker.io. The zero Account is that it needs none.
type Accounts func(ctx context.Context, host string) (Account, error)

// none says whether there is nothing to log in with.
func (a Account) none() bool { return a.Username == "" && a.Password == "" && a.Token == "" }

func (a Account) authenticator() authn.Authenticator {
	switch {
	case a.none():
		return authn.Anonymous
	case a.Token != "":
		return authn.FromConfig(authn.AuthConfig{RegistryToken: a.Token})
	}
	return authn.FromConfig(authn.AuthConfig{Username: a.Username, Password: a.Password})
}

// dockerTokens gives out the tokens of Docker Hub, whose own host does not.
const (
	dockerName   = "docker.io"
	dockerHub    = "index.docker.io"
	dockerTokens = "auth.docker.io"
)

// givenTo says whether name and password may be sent to a host.
func (a Account) givenTo(host, registry string) bool {
	return host == registry || slices.Contains(a.TokenHosts, host) || registry == dockerHub && host == dockerTokens
}

// hidden is what stands for a secret in a text.
const hidden = "[hidden]"

// scrub takes the secrets out of a text, and what was sent besides: a registry may answer
// with what it was sent.
func (a Account) scrub(text string, sent []string) string {
	secrets := append([]string{a.Password, a.Token}, sent...)
	if a.Password != "" {
		secrets = append(secrets, base64.StdEncoding.EncodeToString([]byte(a.Username+":"+a.Password)))
	}
	for _, s := range secrets {
		if s == "" {
			continue
		}
		for _, form := range []string{s, url.QueryEscape(s), url.PathEscape(s)} {
			text = strings.ReplaceAll(text, form, hidden)
		}
	}
	return text
}

// quieten is an error whose text and hint have no secret. What would show one loses its
// chain, and keeps its code.
func (a Account) quieten(err *protocol.Error, sent []string) error {
	if text := err.Error() + err.Hint; a.scrub(text, sent) == text {
		return err
	}
	return protocol.Errorf(err.Code, err.Op, "%s", a.scrub(err.Message, sent)).WithHint("%s", a.scrub(err.Hint, sent))
}

const hostLetters = "abcdefghijklmnopqrstuvwxyz0123456789.-_:[]"

// CheckHost says whether a text is a registry's host as references name it: host, or
// host:port, with nothing else. The error is invalid.
func CheckHost(host string) error {
	const op = "check registry host"
	u, err := url.Parse("https://" + host)
	if err != nil || host == "" || u.Host != host || u.Hostname() == "" || strings.HasSuffix(host, ":") || strings.Trim(host, hostLetters) != "" {
		return protocol.Errorf(protocol.CodeInvalid, op, "%.100q is not a registry's host", host).
			WithHint("write host or host:port in lower case, such as registry.example:5000")
	}
	return nil
}
