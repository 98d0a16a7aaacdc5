package decode

import (
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"rackboot/cmd/internal/cli/files"
	"rackboot/cmd/internal/cli/printer"
	"rackboot/cmd/internal/cli/publickey"
	"rackboot/protocol"
)

// maxCapture bounds what wire decode reads, in bytes: about 60 messages of the
// largest size in hexadecimal, or very many ordinary ones.
const maxCapture = 16 << 20

// Command is rackctl wire.
func Command(src *files.Input, pr *printer.Printer) *cobra.Command {
	cmd := &cobra.Command{
		Use: "wire", Short: "Look at messages between hub and agents", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(wireDecodeCmd(src, pr))
	return cmd
}

func wireDecodeCmd(src *files.Input, pr *printer.Printer) *cobra.Command {
	var topic string
	var keys []string
	cmd := &cobra.Command{
		Use: "decode [FILE]", Short: "Show captured messages and check their signatures", Args: cobra.MaximumNArgs(1),
		Long: "Show captured messages and check their signatures. It talks to no hub.\n\n" +
			"FILE, or standard input, is one message in its bytes, in hexadecimal or in base64; or\n" +
			"lines of topic and message, as mosquitto_sub -F '%t %x' prints them.\n\n" +
			"A signature is for one topic, which is not inside of the message: without the topic\n" +
			"nothing can be verified. --key is the key that the sender signs with: an agent's is in\n" +
			"rackctl get agent NAME -o json, spec.key. Facts that a message carries (grant,\n" +
			"provisioned, receipt) are opened too; where the key of one is not given, that is said\n" +
			"and is no error.\n\n" +
			"Messages hold no secrets: passwords of BMCs, boot tokens and access tokens do not travel\n" +
			"in them. Names, addresses and images of the rack do.\n\n" +
			"The exit code is 0 if everything was shown and nothing that was asked for failed, 8 if\n" +
			"a signature could not be verified with the keys given, and 2 if a message is malformed.",
		Example: "  mosquitto_sub ... -t 'rb/v1/#' -F '%t %x' > capture.txt\n" +
			"  rackctl wire decode capture.txt --key hub.pub --key rack-1.pub\n" +
			"  rackctl wire decode message.bin --topic rb/v1/a/rack-1/d/hold --key hub.pub -o json",
		RunE: func(cmd *cobra.Command, args []string) error {
			form, err := wireForm(pr, cmd)
			if err != nil {
				return err
			}
			d := decoder{topic: topic}
			for _, path := range keys {
				text, err := src.Small(path)
				if err != nil {
					return err
				}
				more, err := publickey.Parse(path, text)
				if err != nil {
					return err
				}
				d.keys = append(d.keys, more...)
			}
			raw, err := readCapture(src, args)
			if err != nil {
				return err
			}
			messages, err := parseCapture(raw)
			if err != nil {
				return err
			}
			return showMessages(pr, form, d, messages)
		},
	}
	cmd.Flags().StringVar(&topic, "topic", "", "the topic of messages that come without one")
	cmd.Flags().StringArrayVar(&keys, "key", nil, "file with a public key of hub or agent: PEM, or 32 bytes in hex or base64; may be repeated")
	return cmd
}

// wireForm is yaml where nothing else was asked for: a message is no table.
func wireForm(pr *printer.Printer, cmd *cobra.Command) (string, error) {
	if !cmd.Flags().Changed("output") {
		return printer.FormYAML, nil
	}
	if f := pr.Form; f == printer.FormYAML || f == printer.FormJSON {
		return f, nil
	}
	return "", protocol.Errorf(protocol.CodeInvalid, "wire decode", "messages are not printed as %s", pr.Form).WithHint("use -o yaml or -o json")
}

func readCapture(src *files.Input, args []string) ([]byte, error) {
	const op = "read capture"
	r, name := src.Stdin, "standard input"
	if len(args) == 1 && args[0] != "-" {
		f, err := os.Open(args[0])
		if err != nil {
			return nil, protocol.Errorf(protocol.CodeNotFound, op, "%w", err).WithHint("check the path %s", args[0])
		}
		defer f.Close()
		r, name = f, args[0]
	}
	raw, err := io.ReadAll(io.LimitReader(r, maxCapture+1))
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeUnavailable, op, "%w", err)
	}
	if len(raw) > maxCapture {
		return nil, protocol.Errorf(protocol.CodeInvalid, op, "%s is larger than %d bytes", name, maxCapture).WithHint("split it by lines")
	}
	return raw, nil
}

// showMessages prints all messages, whatever is wrong with them, and then says what
// was wrong with the first of the worst.
func showMessages(pr *printer.Printer, form string, d decoder, messages []captured) error {
	p := *pr
	p.Form = form
	var malformed, unverified error
	for i, m := range messages {
		if i > 0 && form == printer.FormYAML {
			fmt.Fprintln(p.Out, "---")
		}
		shown := d.decode(m)
		if err := p.Encode(shown); err != nil {
			return err
		}
		where := shown.Topic
		if m.line > 0 {
			where = fmt.Sprintf("line %d", m.line)
		}
		switch {
		case shown.malformed() != "" && malformed == nil:
			malformed = protocol.Errorf(protocol.CodeInvalid, "wire decode", "%s", prefixed(where, shown.malformed())).
				WithHint("it may have been cut short, changed, or be of another version")
		case shown.failure() != "" && unverified == nil:
			unverified = protocol.Errorf(protocol.CodeDenied, "wire decode", "%s", prefixed(where, shown.failure())).
				WithHint("give the key that the sender signs with, and the topic on which the message was captured")
		}
	}
	if malformed != nil {
		return malformed
	}
	return unverified
}

func prefixed(where, what string) string {
	if where == "" {
		return what
	}
	return where + ": " + what
}
