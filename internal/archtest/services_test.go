package archtest

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/openharness/oh/internal/catalog"
)

var update = flag.Bool("update", false, "rewrite the table of docs/services.md")

// The table of docs/services.md stands between these lines.
const (
	tableBegins = "<!-- The table is made from the catalogue: go test ./internal/archtest -run TestServicesDoc -update -->\n"
	tableEnds   = "<!-- end of the table -->\n"
)

// TestServicesDoc holds the table of services to the catalogue.
func TestServicesDoc(t *testing.T) {
	path := filepath.Join("..", "..", "docs", "services.md")
	doc := read(t, "docs/services.md")
	head, rest, ok := strings.Cut(doc, tableBegins)
	have, tail, ends := strings.Cut(rest, tableEnds)
	if !ok || !ends {
		t.Fatalf("docs/services.md has lost the line %q or %q", tableBegins, tableEnds)
	}
	var want strings.Builder
	want.WriteString("| profile | service | wire | address | key from | model |\n|---|---|---|---|---|---|\n")
	for _, p := range catalog.Profiles() {
		if p.Missing != "" {
			fmt.Fprintf(&want, "| `%s` | not imitated | | | | |\n", p.Name)
			continue
		}
		fmt.Fprintf(&want, "| `%s` | %s | %s | %s | %s | %s |\n", p.Name, p.Label, p.Wire, addressOf(p), keyOf(p), modelOf(p))
	}
	if *update {
		if err := os.WriteFile(path, []byte(head+tableBegins+want.String()+tableEnds+tail), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(have, want.String()); diff != "" {
		t.Errorf("the table of docs/services.md is not true; go test ./internal/archtest -run TestServicesDoc -update (-it says +the catalogue says):\n%s", diff)
	}
}

func addressOf(p catalog.Profile) string {
	out := strings.TrimPrefix(p.BaseURL, "https://")
	switch {
	case out != "":
	case p.Chain == catalog.AWS:
		out = "by region"
	case p.Chain == catalog.Google:
		out = "by project and location"
	}
	bases := named(p.Bases, " or ")
	switch {
	case out != "" && bases != "":
		out += ", moved by " + bases
	case bases != "":
		out = "in " + bases
	}
	if len(p.Versions) > 0 {
		out += ", version in " + named(p.Versions, " or ")
	}
	return out
}

func keyOf(p catalog.Profile) string {
	var from []string
	if len(p.Keys) > 0 {
		from = append(from, named(p.Keys, ", "))
	}
	if len(p.Tokens) > 0 {
		from = append(from, "the token "+named(p.Tokens, ", "))
	}
	switch {
	case p.Chain == catalog.AWS:
		from = append(from, "AWS's own places")
	case p.Chain == catalog.Google:
		from = append(from, "Google's own places")
	case p.Local:
		from = append(from, "none needed")
	case len(from) == 0:
		from = append(from, "`oh auth login "+p.Name+"`")
	}
	return strings.Join(from, ", else ")
}

func modelOf(p catalog.Profile) string {
	if p.Model == "" {
		return "the first that the server lists"
	}
	return p.Model
}

func named(list []string, between string) string {
	if len(list) == 0 {
		return ""
	}
	return "`" + strings.Join(list, "`"+between+"`") + "`"
}
