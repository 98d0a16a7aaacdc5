package object

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"rackboot/cmd/internal/cli/client"
	"rackboot/cmd/internal/cli/printer"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// conditionValue is a condition of the registry, for other programs.
type conditionValue struct {
	Code          resource.ConditionCode   `json:"code"`
	Title         string                   `json:"title"`
	Severity      resource.Severity        `json:"severity"`
	DependsOn     []resource.ConditionCode `json:"dependsOn,omitempty"`
	TimeToVisible string                   `json:"timeToVisible,omitempty"`
	Hint          string                   `json:"hint"`
}

// explainColumns is how wide an explanation is where no screen says it.
const explainColumns = 80

func explainCmd(hubs *client.Hubs, pr *printer.Printer) *cobra.Command {
	var recursive, schema bool
	cmd := &cobra.Command{
		Use: "explain [KIND[.FIELD...] | CODE]", Short: "Explain a kind or field of the hub's API, a condition, or why a boot failed; alone, list conditions", Args: cobra.MaximumNArgs(1),
		Example: "  rackctl explain claim.spec.bootPolicy\n  rackctl explain server --recursive\n  rackctl explain claim --schema > claim.json\n  rackctl explain BMCUnreachable",
		RunE: func(cmd *cobra.Command, args []string) error {
			if schema {
				return explainSchema(cmd, hubs, pr, args)
			}
			if len(args) == 1 {
				if kind, path, is := explainedKind(args[0]); is {
					return explainField(cmd, hubs, pr, kind, path, recursive)
				}
			}
			v := printer.View{Columns: printer.Columns("CODE SEVERITY TITLE", "HINT")}
			for _, c := range resource.Conditions() {
				if len(args) == 1 && !strings.EqualFold(args[0], string(c.Code)) {
					continue
				}
				value := conditionValue{Code: c.Code, Title: c.Title, Severity: c.Severity, DependsOn: c.DependsOn, Hint: c.Hint}
				if c.TimeToVisible > 0 {
					value.TimeToVisible = c.TimeToVisible.Round(time.Second).String()
				}
				v.Items = append(v.Items, printer.Item{
					Value: value, Name: string(c.Code),
					Cells: []string{string(c.Code), string(c.Severity), c.Title, c.Hint},
				})
			}
			if len(args) == 0 {
				return pr.Show(v)
			}
			if len(v.Items) == 0 {
				if f, ok := attemptFailure(args[0]); ok {
					v.Items = append(v.Items, printer.Item{Value: f, Name: string(f.Code), Cells: []string{string(f.Code), "", f.Title, f.Hint}})
					v.Single = true
					return pr.Describe(v, []printer.Fact{{"Code", string(f.Code)}, {"Title", f.Title}, {"Of", "a power-on that failed"}}, fmt.Sprintf("\n%s\n", f.Hint))
				}
				return protocol.Errorf(protocol.CodeNotFound, "explain", "there is no kind, no condition and no code of an attempt %q", args[0]).
					WithHint("rackctl explain lists all conditions, rackctl api-resources all kinds")
			}
			v.Single = true
			c := v.Items[0].Value.(conditionValue)
			facts := []printer.Fact{{"Code", string(c.Code)}, {"Title", c.Title}, {"Severity", string(c.Severity)}}
			if c.TimeToVisible != "" {
				facts = append(facts, printer.Fact{"Shown after", c.TimeToVisible})
			}
			if len(c.DependsOn) > 0 {
				facts = append(facts, printer.Fact{"Explained by", printer.Join(c.DependsOn)})
			}
			return pr.Describe(v, facts, fmt.Sprintf("\n%s\n", c.Hint))
		},
	}
	cmd.Flags().BoolVar(&recursive, "recursive", false, "all fields below, without what they are")
	cmd.Flags().BoolVar(&schema, "schema", false, "the JSON Schema of the kind, for editors; without a kind that of files with any")
	return cmd
}

// explainField explains a kind or a field of it, by the schema of the hub.
func explainField(cmd *cobra.Command, hubs *client.Hubs, pr *printer.Printer, kind resource.Kind, path []string, recursive bool) error {
	c, err := hubs.Connect()
	if err != nil {
		return err
	}
	doc, err := c.Document(cmd.Context())
	if err != nil {
		return err
	}
	f, err := schemas(doc.Components.Schemas).explain(kind, path, recursive)
	if err != nil {
		return err
	}
	return pr.Text(f, []string{strings.Join(append([]string{strings.ToLower(string(kind))}, path...), ".")}, f.text(explainColumns, recursive))
}

// explainSchema prints the hub's JSON Schema of a kind, as it is.
func explainSchema(cmd *cobra.Command, hubs *client.Hubs, pr *printer.Printer, args []string) error {
	var kind resource.Kind
	if len(args) == 1 {
		found, path, is := explainedKind(args[0])
		switch {
		case !is:
			return protocol.Errorf(protocol.CodeNotFound, "explain", "there is no kind %q", args[0]).WithHint("rackctl api-resources lists the kinds")
		case len(path) > 0:
			return protocol.Errorf(protocol.CodeInvalid, "explain", "a schema is of a whole kind").WithHint("rackctl explain %s --schema", strings.ToLower(string(found)))
		case !found.Appliable():
			return protocol.Errorf(protocol.CodeInvalid, "explain", "nobody writes a %s, which therefore has no schema", found).WithHint("rackctl explain %s has its fields", strings.ToLower(string(found)))
		}
		kind = found
	}
	c, err := hubs.Connect()
	if err != nil {
		return err
	}
	raw, err := c.Schema(cmd.Context(), kind)
	if err != nil {
		return err
	}
	return pr.Text(raw, []string{strings.ToLower(string(kind))}, strings.TrimSpace(string(raw)))
}

// failureValue is why an attempt failed, for other programs.
type failureValue struct {
	Code  resource.AttemptCode `json:"code"`
	Title string               `json:"title"`
	Hint  string               `json:"hint"`
}

func attemptFailure(code string) (failureValue, bool) {
	for _, f := range resource.AttemptFailures() {
		if strings.EqualFold(code, string(f.Code)) {
			return failureValue{f.Code, f.Title, f.Hint}, true
		}
	}
	return failureValue{}, false
}
