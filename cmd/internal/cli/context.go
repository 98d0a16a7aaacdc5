package cli

import (
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"rackboot/protocol"
	"rackboot/protocol/api"
)

// maxSmallFile bounds a token or CA file in bytes.
const maxSmallFile = 256 << 10

func (a *app) configCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use: "config", Aliases: []string{"context"}, Short: "Keep the addresses of hubs, and who you are there", Args: cobra.NoArgs,
		Long: "Keep the addresses of hubs, and who you are there. Each hub is a context, in a file that only its\n" +
			"owner reads: $RACKCTL_CONFIG, or rackctl/config.yaml in $XDG_CONFIG_HOME or ~/.config.\n" +
			"rackctl login makes one and looks whether it works.",
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.contextSetCmd(), &cobra.Command{
		Use: "use-context NAME", Aliases: []string{"use"}, Short: "Choose the hub that commands talk to", Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			f, err := a.loadContexts()
			if err != nil {
				return err
			}
			if _, err := f.pick(args[0]); err != nil {
				return err
			}
			f.Current = args[0]
			return a.saveContexts(f)
		},
	}, &cobra.Command{
		Use: "get-contexts", Aliases: []string{"list"}, Short: "List the hubs that are known", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			f, err := a.loadContexts()
			if err != nil {
				return err
			}
			v := view{columns: []column{{name: "CURRENT"}, {name: "NAME"}, {name: "URL"}, {name: "BY"}}}
			for _, c := range f.Contexts {
				mark := ""
				if c.Name == f.Current {
					mark = "*"
				}
				v.items = append(v.items, item{value: c, name: c.Name, cells: []string{mark, c.Name, c.URL, c.by()}})
			}
			return a.print.show(v)
		},
	}, &cobra.Command{
		Use: "current-context", Short: "Show the hub that commands talk to", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			f, err := a.loadContexts()
			if err != nil {
				return err
			}
			c, err := f.pick(a.context)
			if err != nil {
				return err
			}
			return a.print.text(c, []string{c.Name}, c.Name)
		},
	}, &cobra.Command{
		Use: "delete-context NAME", Aliases: []string{"delete"}, Short: "Forget a hub, and the token for it", Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			f, err := a.loadContexts()
			if err != nil {
				return err
			}
			if _, err := f.pick(args[0]); err != nil {
				return err
			}
			f.Contexts = slices.DeleteFunc(f.Contexts, func(c hubContext) bool { return c.Name == args[0] })
			if f.Current == args[0] {
				f.Current = ""
				a.progress("no hub is chosen now; rackctl config use-context NAME chooses one")
			}
			return a.saveContexts(f)
		},
	})
	return cmd
}

func (a *app) contextSetCmd() *cobra.Command {
	var url, ca, key string
	var who credentials
	cmd := &cobra.Command{
		Use: "set-context NAME", Aliases: []string{"set"}, Short: "Add or change a hub; the first one is also chosen", Args: cobra.ExactArgs(1),
		Example: "  rackctl config set-context lab --url https://hub.lab:8443 --ca ca.pem --token-file token",
		RunE: func(_ *cobra.Command, args []string) error {
			f, err := a.loadContexts()
			if err != nil {
				return err
			}
			c := f.named(args[0])
			if url != "" {
				c.URL = url
			}
			if ca != "" {
				if c.CA, err = a.readSmall(ca); err != nil {
					return err
				}
			}
			if key != "" {
				if c.HubKey, err = a.readSmall(key); err != nil {
					return err
				}
				if _, err := parseKeys(key, c.HubKey); err != nil {
					return err
				}
			}
			if err := who.read(a, c); err != nil {
				return err
			}
			if _, err := c.client(); err != nil {
				return err
			}
			if f.Current == "" {
				f.Current = c.Name
			}
			return a.saveContexts(f)
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
func (c *credentials) read(a *app, into *hubContext) (err error) {
	if c.token != "" {
		token, err := a.readSmall(c.token)
		if err != nil {
			return err
		}
		into.Token, into.Certificate, into.Key = strings.TrimSpace(token), "", ""
	}
	if c.certificate != "" {
		into.Token = ""
		if into.Certificate, err = a.readSmall(c.certificate); err != nil {
			return err
		}
		into.Key, err = a.readSmall(c.key)
	}
	return err
}

// client talks to the hub of the context.
func (c hubContext) client() (*api.Client, error) {
	return api.NewClient(api.Config{
		BaseURL: c.URL, CA: []byte(c.CA), Token: c.Token, Certificate: []byte(c.Certificate), Key: []byte(c.Key),
	})
}

// readSmall reads a file, or with - standard input.
func (a *app) readSmall(path string) (string, error) {
	r := a.cfg.In
	if path != "-" {
		f, err := os.Open(path)
		if err != nil {
			return "", protocol.Errorf(protocol.CodeNotFound, "read", "%w", err).WithHint("check the path %s", path)
		}
		defer f.Close()
		r = f
	}
	raw, err := io.ReadAll(io.LimitReader(r, maxSmallFile+1))
	if err != nil {
		return "", protocol.Errorf(protocol.CodeUnavailable, "read", "%w", err)
	}
	if len(raw) > maxSmallFile {
		return "", protocol.Errorf(protocol.CodeInvalid, "read", "%s is longer than %d bytes", path, maxSmallFile)
	}
	return string(raw), nil
}
