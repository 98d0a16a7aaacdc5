package login

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"rackboot/cmd/internal/cli/client"
	"rackboot/cmd/internal/cli/files"
	"rackboot/cmd/internal/cli/printer"
	"rackboot/cmd/internal/cli/publickey"
)

func configCmd(hubs *client.Hubs, src *files.Input, pr *printer.Printer) *cobra.Command {
	cmd := &cobra.Command{
		Use: "config", Aliases: []string{"context"}, Short: "Keep the addresses of hubs, and who you are there", Args: cobra.NoArgs,
		Long: "Keep the addresses of hubs, and who you are there. Each hub is a context, in a file that only its\n" +
			"owner reads: $RACKCTL_CONFIG, or rackctl/config.yaml in $XDG_CONFIG_HOME or ~/.config.\n" +
			"rackctl login makes one and looks whether it works.",
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(contextSetCmd(hubs, src), &cobra.Command{
		Use: "use-context NAME", Aliases: []string{"use"}, Short: "Choose the hub that commands talk to", Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			f, err := hubs.Load()
			if err != nil {
				return err
			}
			if _, err := f.Pick(args[0]); err != nil {
				return err
			}
			f.Current = args[0]
			return hubs.Save(f)
		},
	}, &cobra.Command{
		Use: "get-contexts", Aliases: []string{"list"}, Short: "List the hubs that are known", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			f, err := hubs.Load()
			if err != nil {
				return err
			}
			v := printer.View{Columns: printer.Columns("CURRENT NAME URL BY")}
			for _, c := range f.Contexts {
				mark := ""
				if c.Name == f.Current {
					mark = "*"
				}
				v.Items = append(v.Items, printer.Item{Value: c, Name: c.Name, Cells: []string{mark, c.Name, c.URL, c.By()}})
			}
			return pr.Show(v)
		},
	}, &cobra.Command{
		Use: "current-context", Short: "Show the hub that commands talk to", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			c, err := hubs.Chosen()
			if err != nil {
				return err
			}
			return pr.Text(c, []string{c.Name}, c.Name)
		},
	}, &cobra.Command{
		Use: "delete-context NAME", Aliases: []string{"delete"}, Short: "Forget a hub, and the token for it", Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			f, err := hubs.Load()
			if err != nil {
				return err
			}
			if _, err := f.Pick(args[0]); err != nil {
				return err
			}
			f.Contexts = slices.DeleteFunc(f.Contexts, func(c client.Hub) bool { return c.Name == args[0] })
			if f.Current == args[0] {
				f.Current = ""
				pr.Progress("no hub is chosen now; rackctl config use-context NAME chooses one")
			}
			return hubs.Save(f)
		},
	})
	return cmd
}

func contextSetCmd(hubs *client.Hubs, src *files.Input) *cobra.Command {
	var url, ca, key string
	var who credentials
	cmd := &cobra.Command{
		Use: "set-context NAME", Aliases: []string{"set"}, Short: "Add or change a hub; the first one is also chosen", Args: cobra.ExactArgs(1),
		Example: "  rackctl config set-context lab --url https://hub.lab:8443 --ca ca.pem --token-file token",
		RunE: func(_ *cobra.Command, args []string) error {
			f, err := hubs.Load()
			if err != nil {
				return err
			}
			c := f.Named(args[0])
			if url != "" {
				c.URL = url
			}
			if ca != "" {
				if c.CA, err = src.Small(ca); err != nil {
					return err
				}
			}
			if key != "" {
				if c.HubKey, err = src.Small(key); err != nil {
					return err
				}
				if _, err := publickey.Parse(key, c.HubKey); err != nil {
					return err
				}
			}
			if err := who.read(src, c); err != nil {
				return err
			}
			if _, err := c.Client(); err != nil {
				return err
			}
			if f.Current == "" {
				f.Current = c.Name
			}
			return hubs.Save(f)
		},
	}
	cmd.Flags().StringVar(&url, "url", "", "https://host[:port] of the hub")
	cmd.Flags().StringVar(&ca, "ca", "", "file with the hub's CA in PEM; none: the system's")
	cmd.Flags().StringVar(&key, "hub-key", "", "file with the hub's public key, hub.pub in its dataDir; audit verify believes it")
	who.flags(cmd)
	return cmd
}

// credentials are the flags that say who somebody is.
type credentials struct{ token, certificate, key string }

func (c *credentials) flags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&c.token, "token-file", "", "file with the token, or - for standard input")
	cmd.Flags().StringVar(&c.certificate, "client-certificate", "", "file with a client certificate in PEM, instead of a token")
	cmd.Flags().StringVar(&c.key, "client-key", "", "file with its key in PEM")
	cmd.MarkFlagsRequiredTogether("client-certificate", "client-key")
	cmd.MarkFlagsMutuallyExclusive("token-file", "client-certificate")
}

func (c *credentials) given() bool { return c.token != "" || c.certificate != "" }

// read puts what the flags name into a context.
func (c *credentials) read(src *files.Input, into *client.Hub) (err error) {
	if c.token != "" {
		token, err := src.Small(c.token)
		if err != nil {
			return err
		}
		into.Token, into.Certificate, into.Key, into.Person = strings.TrimSpace(token), "", "", nil
	}
	if c.certificate != "" {
		into.Token, into.Person = "", nil
		if into.Certificate, err = src.Small(c.certificate); err != nil {
			return err
		}
		into.Key, err = src.Small(c.key)
	}
	return err
}
