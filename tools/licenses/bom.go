package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A document of CycloneDX 1.6 (https://cyclonedx.org/docs/1.6/json), of which it has what a
// program of Go says of itself.
type document struct {
	Format       string       `json:"bomFormat"`
	Spec         string       `json:"specVersion"`
	Version      int          `json:"version"` // of this document
	Metadata     metadata     `json:"metadata"`
	Components   []component  `json:"components"`
	Dependencies []dependency `json:"dependencies"`
}

type metadata struct {
	Timestamp string    `json:"timestamp"`
	Component component `json:"component"`
}

type component struct {
	Type     string     `json:"type"`
	Ref      string     `json:"bom-ref"`
	Name     string     `json:"name"`
	Version  string     `json:"version"`
	Hashes   []hash     `json:"hashes,omitempty"`
	Licences []licence  `json:"licenses"`
	PURL     string     `json:"purl,omitempty"`
	Property []property `json:"properties,omitempty"`
}

type hash struct {
	Algorithm string `json:"alg"`
	Content   string `json:"content"`
}

type licence struct {
	Licence struct {
		ID string `json:"id"`
	} `json:"license"`
}

type property struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

type dependency struct {
	Ref string   `json:"ref"`
	On  []string `json:"dependsOn,omitempty"`
}

// writeBOM writes the bill of materials of the programs. Its time is SOURCE_DATE_EPOCH, and
// it has no number of its own, so that two builds write the same.
func writeBOM(w io.Writer, version string, programs []program, modules []*module) error {
	seconds, err := strconv.ParseInt(os.Getenv("SOURCE_DATE_EPOCH"), 10, 64)
	if err != nil {
		return fmt.Errorf("SOURCE_DATE_EPOCH is not a number of seconds: %w", err)
	}
	own := component{Type: "application", Ref: "rackboot", Name: "rackboot", Version: version, Licences: licencesOf("Apache-2.0")}
	d := document{
		Format: "CycloneDX", Spec: "1.6", Version: 1,
		Metadata: metadata{Timestamp: time.Unix(seconds, 0).UTC().Format(time.RFC3339), Component: own},
	}
	refs := map[string]string{}
	for _, m := range modules {
		purl := "pkg:golang/" + m.Path + "@" + strings.ReplaceAll(m.Version, "+", "%2B")
		refs[m.Path] = purl
		d.Components = append(d.Components, component{Type: "library", Ref: purl, Name: m.Path, Version: m.Version, Licences: licencesOf(m.licences...), PURL: purl})
	}
	root := dependency{Ref: own.Ref}
	for _, p := range programs {
		raw, err := os.ReadFile(p.file)
		if err != nil {
			return err
		}
		sum := sha256.Sum256(raw)
		c := component{
			Type: "application", Ref: p.name() + "/" + p.setting("GOOS") + "/" + p.setting("GOARCH"), Name: p.name(), Version: version,
			Hashes: []hash{{"SHA-256", hex.EncodeToString(sum[:])}}, Licences: licencesOf("Apache-2.0"),
			Property: []property{{"rackboot:goos", p.setting("GOOS")}, {"rackboot:goarch", p.setting("GOARCH")}, {"rackboot:commit", p.setting("vcs.revision")}},
		}
		on := []string{refs["std"]}
		for _, dep := range p.info.Deps {
			on = append(on, refs[dep.Path])
		}
		slices.Sort(on)
		d.Components = append(d.Components, c)
		d.Dependencies = append(d.Dependencies, dependency{c.Ref, on})
		root.On = append(root.On, c.Ref)
	}
	d.Dependencies = append([]dependency{root}, d.Dependencies...)
	e := json.NewEncoder(w)
	e.SetIndent("", " ")
	return e.Encode(d)
}

func licencesOf(ids ...string) []licence {
	out := make([]licence, len(ids))
	for i, id := range ids {
		out[i].Licence.ID = id
	}
	return out
}
