package provider_test

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/openharness/oh"
	"github.com/openharness/oh/ohtest"
	"github.com/openharness/oh/provider"
)

// schemas are the input schemas of the bridge's corpus by name.
func schemas(t *testing.T) map[string]string {
	t.Helper()
	ar, err := txtar.ParseFile(filepath.Join("internal", "bridge", "testdata", "corpus.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, f := range ar.Files {
		out[f.Name] = strings.TrimSpace(string(f.Data))
	}
	return out
}

// A tool with any schema of the corpus is offered on each wire in each dialect,
// or left out alone when there is no way; the service takes the request.
func TestToolSchemas(t *testing.T) {
	corpus := schemas(t)
	for wire := range wires {
		for _, dialect := range []string{provider.PlainSchema, provider.FlatSchema, provider.GeminiSchema} {
			if wire == "gemini" && dialect != provider.GeminiSchema {
				continue
			}
			cfg := provider.Config{Key: "k", Traits: func(string) provider.Traits { return provider.Traits{Schema: dialect, NoCache: true} }}
			for name, raw := range corpus {
				req := hello()
				req.Tools = []oh.ToolSpec{
					{Name: "subject", Description: "A tool.", Schema: json.RawMessage(raw)},
					{Name: "other", Description: "Another tool.", Schema: json.RawMessage(`{"type":"object","properties":{"x":{"type":"string"}}}`)}}
				body := sent(t, voice{wire: wire}, cfg, req)
				for _, bad := range ohtest.Check(ohtest.Wire(wire), []byte(body), ohtest.Rules{}) {
					t.Errorf("%s, %q, %s: the service would refuse it: %v\n%s", wire, dialect, name, bad, body)
				}
				if strings.Contains(body, `"subject"`) == strings.HasPrefix(name, "hopeless") || !strings.Contains(body, `"other"`) {
					t.Errorf("%s, %q, %s: %s", wire, dialect, name, body)
				}
			}
		}
	}
}
