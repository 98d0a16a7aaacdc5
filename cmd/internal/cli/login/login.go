package login

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"io"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/spf13/cobra"

	"rackboot/cmd/internal/cli/client"
	"rackboot/cmd/internal/cli/files"
	"rackboot/cmd/internal/cli/printer"
	"rackboot/cmd/internal/terminal"
	"rackboot/protocol"
	"rackboot/protocol/api"
)

// authorityTimeout bounds the question for a hub's authority.
const authorityTimeout = 20 * time.Second

func loginCmd(hubs *client.Hubs, src *files.Input, pr *printer.Printer) *cobra.Command {
	var name, ca, fingerprint string
	var trust bool
	var wait time.Duration
	var who credentials
	var oidc byProvider
	cmd := &cobra.Command{
		Use: "login URL", Short: "Make a hub known, and who you are there", Args: cobra.ExactArgs(1),
		Long: "Make a hub known, and who you are there, as a context that is chosen. It is kept only if the hub\n" +
			"takes the token or certificate. A token is read from a file, from standard input, or from the\n" +
			"terminal; never from an argument, which others on this host could see.\n\n" +
			"At the first login the fingerprint of the hub's CA is shown. Compare it with that of the hub:\n" +
			"  openssl x509 -in /var/lib/rackboot-hub/ca.pem -noout -fingerprint -sha256\n" +
			"and say yes, or give it with --fingerprint. From then on only that CA is trusted.",
		Example: "  rackctl login https://hub.lab:8443\n  rackctl login https://hub.lab:8443 --fingerprint sha256:… --token-file token\n  rackctl login https://hub.lab:8443 --oidc",
		RunE: func(cmd *cobra.Command, args []string) error {
			if !oidc.on && (oidc.device || oidc.ca != "") {
				return protocol.Errorf(protocol.CodeInvalid, "log in", "--device and --oidc-ca are of a login with --oidc").WithHint("add --oidc")
			}
			f, err := hubs.Load()
			if err != nil {
				return err
			}
			u, err := url.Parse(args[0])
			if err != nil {
				return protocol.Errorf(protocol.CodeInvalid, "log in", "the URL cannot be read").WithHint("rackctl login https://hub.example:8443")
			}
			if err := awaitHub(cmd.Context(), u, wait); err != nil {
				return err
			}
			if err := wrongPort(cmd.Context(), u); err != nil {
				return err
			}
			if name == "" {
				name = u.Hostname()
			}
			c := f.Named(name)
			if c.URL != args[0] {
				c.CA = "" // it was another hub's
			}
			c.URL = args[0]
			if _, err := (client.Hub{URL: c.URL}).Client(); err != nil {
				return err
			}
			switch {
			case ca != "":
				c.CA, err = src.Small(ca)
			case u.Scheme != "https": // on this host alone
			case c.CA == "" || fingerprint != "" || trust:
				c.CA, err = pinHub(cmd.Context(), src, pr, u, fingerprint, trust)
			}
			if err != nil {
				return err
			}
			if oidc.on {
				err = oidc.logIn(cmd.Context(), src, pr, c)
			} else {
				err = identify(src, pr, who, c)
			}
			if err != nil {
				return err
			}
			client, err := c.Client()
			if err != nil {
				return err
			}
			defer client.CloseIdle()
			me, err := client.Whoami(cmd.Context())
			if err != nil {
				return err
			}
			f.Current = c.Name
			if err := hubs.Save(f); err != nil {
				return err
			}
			pr.Progress("context %s is chosen", c.Name)
			return pr.Show(whoamiView(me))
		},
	}
	cmd.Flags().StringVar(&name, "name", "", "of the context (default: the hub's host)")
	cmd.Flags().StringVar(&ca, "ca", "", "file with the hub's CA in PEM")
	cmd.Flags().StringVar(&fingerprint, "fingerprint", "", "sha256:<hex> of the hub's CA, as compared at the hub")
	cmd.Flags().BoolVar(&trust, "trust-shown", false, "trust the CA that the hub shows, without comparing it")
	cmd.Flags().DurationVar(&wait, "wait", 0, "wait so long for a hub that is starting")
	cmd.MarkFlagsMutuallyExclusive("ca", "fingerprint", "trust-shown")
	who.flags(cmd)
	oidc.flags(cmd)
	return cmd
}

// hubLook is the pause between two looks for a hub that is starting.
const hubLook = 200 * time.Millisecond

// awaitHub looks until the deadline whether somebody listens at the URL: by then the hub's
// files are there. Without a wait it does not look; who asks next says it better.
func awaitHub(ctx context.Context, u *url.URL, wait time.Duration) error {
	port := u.Port()
	if port == "" {
		port = "443"
	}
	for deadline := time.Now().Add(wait); wait > 0; {
		conn, err := (&net.Dialer{Timeout: authorityTimeout}).DialContext(ctx, "tcp", net.JoinHostPort(u.Hostname(), port))
		if err == nil {
			return conn.Close()
		}
		if time.Now().After(deadline) {
			return protocol.Errorf(protocol.CodeUnavailable, "log in", "nobody listens at %s after %s: %w", u.Host, wait, err).
				WithHint("look at the hub's log; its api address is in hub.yaml")
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(hubLook):
		}
	}
	return nil
}

// identify reads who somebody is, from the terminal if nothing else says it.
func identify(src *files.Input, pr *printer.Printer, who credentials, c *client.Hub) error {
	if who.given() {
		return who.read(src, c)
	}
	person := terminal.Person(src.Stdin)
	if person == nil {
		return protocol.Errorf(protocol.CodeInvalid, "log in", "nothing says who you are").
			WithHint("give --token-file FILE, --token-file - for standard input, or --client-certificate and --client-key")
	}
	token, err := terminal.Ask(pr.Err, person, "Token: ", true)
	if err != nil {
		return protocol.Errorf(protocol.CodeUnavailable, "log in", "the token cannot be read from the terminal: %w", err).WithHint("give --token-file FILE")
	}
	c.Token, c.Certificate, c.Key, c.Person = token, "", "", nil
	return nil
}

// pinHub asks a hub for the certificate of its authority, which anybody between could
// have exchanged, and gives it back once its fingerprint is known to be right.
func pinHub(ctx context.Context, src *files.Input, pr *printer.Printer, u *url.URL, want string, trust bool) (string, error) {
	const op = "trust hub"
	shown, err := authorityOf(ctx, u)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(shown.Raw)
	got := "sha256:" + hex.EncodeToString(sum[:])
	ca := string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: shown.Raw}))
	if want != "" {
		if got != want {
			return "", protocol.Errorf(protocol.CodeDenied, op, "the CA of %s has the fingerprint %s, not %s", u.Host, got, want).
				WithHint("this may be another hub, or somebody in between; compare it at the hub")
		}
		return ca, nil
	}
	if trust {
		pr.Progress("the CA of %s has the fingerprint %s; it is trusted from now on", u.Host, got)
		return ca, nil
	}
	person := terminal.Person(src.Stdin)
	if person == nil {
		return "", protocol.Errorf(protocol.CodeInvalid, op, "the CA of %s has the fingerprint %s", u.Host, got).
			WithHint("compare it at the hub and give it with --fingerprint; --trust-shown takes it as it is")
	}
	pr.Progress("The CA of %s has the fingerprint\n  %s\nCompare it with that of ca.pem at the hub.", u.Host, got)
	yes, err := terminal.Ask(pr.Err, person, "Trust it (yes/no)? ", false)
	if err != nil || yes != "yes" {
		return "", protocol.Errorf(protocol.CodeDenied, op, "the CA is not trusted; nothing was changed").WithHint("answer yes, in full, once you have compared it")
	}
	return ca, nil
}

// authorityOf reads the authority of the hub that answers at a URL, and checks that the
// certificate which the hub shows is of it. Nothing else is sent there.
func authorityOf(ctx context.Context, u *url.URL) (*x509.Certificate, error) {
	const op = "trust hub"
	ctx, cancel := context.WithTimeout(ctx, authorityTimeout)
	defer cancel()
	transport := &http.Transport{
		Proxy:           http.ProxyFromEnvironment,
		TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS13, InsecureSkipVerify: true}, // its fingerprint is shown to a person
	}
	defer transport.CloseIdleConnections()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.Scheme+"://"+u.Host+api.PathAuthority, http.NoBody)
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeInvalid, op, "%w", err)
	}
	resp, err := transport.RoundTrip(req)
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeUnavailable, op, "hub not reached: %w", err).WithHint("check that the hub runs at %s://%s", u.Scheme, u.Host)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(resp.Body, files.MaxSmall))
	block, _ := pem.Decode(raw)
	if err != nil || resp.StatusCode != http.StatusOK || block == nil || resp.TLS == nil {
		return nil, protocol.Errorf(protocol.CodeInvalid, op, "%s does not show a CA as a hub does", u.Host).
			WithHint("check the URL, or give the hub's ca.pem with --ca")
	}
	ca, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeInvalid, op, "the CA that %s shows cannot be read: %w", u.Host, err).WithHint("give the hub's ca.pem with --ca")
	}
	pool := x509.NewCertPool()
	pool.AddCert(ca)
	if _, err := resp.TLS.PeerCertificates[0].Verify(x509.VerifyOptions{Roots: pool, DNSName: u.Hostname()}); err != nil {
		return nil, protocol.Errorf(protocol.CodeDenied, op, "the certificate of %s is not of the CA that it shows, or for another name: %w", u.Host, err).
			WithHint("use a name that is in names of the hub's file")
	}
	return ca, nil
}
