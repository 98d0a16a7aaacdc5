package login

import (
	"context"

	"github.com/spf13/cobra"

	"rackboot/cmd/internal/cli/client"
	"rackboot/cmd/internal/cli/files"
	"rackboot/cmd/internal/cli/person"
	"rackboot/cmd/internal/cli/printer"
	"rackboot/cmd/internal/terminal"
	"rackboot/protocol"
)

// byProvider are the flags of a login with the hub's OpenID provider.
type byProvider struct {
	on, device bool
	ca         string
}

func (b *byProvider) flags(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&b.on, "oidc", false, "log in as a person, with the OpenID provider that the hub names")
	cmd.Flags().BoolVar(&b.device, "device", false, "with --oidc: by a code that you type in where you have a browser")
	cmd.Flags().StringVar(&b.ca, "oidc-ca", "", "with --oidc: file with the CA of the provider's certificate in PEM (default: the system's)")
	cmd.MarkFlagsMutuallyExclusive("oidc", "token-file", "client-certificate")
}

// logIn has a person log in where the hub says, and puts the tokens into the context.
func (b *byProvider) logIn(ctx context.Context, src *files.Input, pr *printer.Printer, c *client.Hub) error {
	asks, err := client.Hub{URL: c.URL, CA: c.CA}.Client()
	if err != nil {
		return err
	}
	defer asks.CloseIdle()
	to, err := asks.Login(ctx)
	if err != nil {
		return err
	}
	if to.Issuer == "" {
		return protocol.Errorf(protocol.CodeUnsupported, "log in", "the hub names no OpenID provider").WithHint("give a token or a certificate; oidc in the hub's file names a provider")
	}
	at := person.At{Issuer: to.Issuer, ClientID: to.ClientID}
	if b.ca != "" {
		text, err := src.Small(b.ca)
		if err != nil {
			return err
		}
		at.CA = []byte(text)
	} else if c.Person != nil && c.Person.Issuer == to.Issuer {
		at.CA = []byte(c.Person.CA)
	}
	var got person.Tokens
	if b.device {
		got, err = at.Device(ctx, func(url, code string) {
			pr.Progress("open %s and type in the code %s", terminal.Cell(url), terminal.Cell(code))
		})
	} else {
		got, err = at.Browser(ctx, func(url string) { pr.Progress("open this page in a browser on this host:\n  %s", terminal.Cell(url)) })
	}
	if err != nil {
		return err
	}
	c.Take(at, got)
	if got.Refresh == "" {
		pr.Progress("the provider gives no refresh token: log in again after %s", got.Expires.Local().Format("15:04"))
	}
	return nil
}

func logoutCmd(hubs *client.Hubs, pr *printer.Printer) *cobra.Command {
	return &cobra.Command{
		Use: "logout", Short: "Forget who you are at the hub; its address stays", Args: cobra.NoArgs,
		Long: "Forget the tokens, or the certificate and its key, of the chosen hub. The provider is not told: a copy of an\n" +
			"ID token counts until it ends.",
		RunE: func(*cobra.Command, []string) error {
			f, err := hubs.Load()
			if err != nil {
				return err
			}
			chosen, err := hubs.Pick(f)
			if err != nil {
				return err
			}
			c := f.Named(chosen.Name)
			c.Token, c.Certificate, c.Key, c.Person = "", "", "", nil
			if err := hubs.Save(f); err != nil {
				return err
			}
			pr.Progress("context %s has no token any more", c.Name)
			return nil
		},
	}
}
