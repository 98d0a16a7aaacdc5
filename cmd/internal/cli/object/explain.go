package object

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

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

func explainCmd(pr *printer.Printer) *cobra.Command {
	return &cobra.Command{
		Use: "explain [CODE]", Short: "Explain a condition, or why a boot failed; without a code, list conditions", Args: cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
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
				return protocol.Errorf(protocol.CodeNotFound, "explain", "there is no condition and no code of an attempt %q", args[0]).
					WithHint("rackctl explain lists all of them")
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
