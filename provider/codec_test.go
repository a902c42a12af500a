package provider_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/openharness/oh"
	"github.com/openharness/oh/ohtest"
	"github.com/openharness/oh/provider"
	"github.com/openharness/oh/provider/anthropic"
	"github.com/openharness/oh/provider/bedrock"
	"github.com/openharness/oh/provider/gemini"
	"github.com/openharness/oh/provider/ollama"
	"github.com/openharness/oh/provider/openai"
	"github.com/openharness/oh/provider/responses"
)

var update = flag.Bool("update", false, "write what the codecs do into the archives under testdata")

// wires are the codecs under test.
var wires = map[string]func(provider.Config) oh.Provider{"ollama": ollama.New, "bedrock": bedrock.New, "responses": responses.New, "gemini": gemini.New, "anthropic": anthropic.New, "openai": openai.New}

// TestCodec runs the archives under testdata. Each holds what goes in:
// request.json (an oh.Request), traits.json and host (optional) and answer (the
// bytes of the service, see framed); and what comes out: wire.json (the request body), and
// events (the chunks, one a line, then "error: " and its text, if any).
func TestCodec(t *testing.T) {
	for wire, make := range wires {
		files, err := filepath.Glob(filepath.Join("testdata", wire, "*.txtar"))
		if err != nil || len(files) == 0 {
			t.Fatalf("no archives for %s: %v", wire, err)
		}
		for _, file := range files {
			t.Run(wire+"/"+strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
				runArchive(t, file, make)
			})
		}
	}
}

func runArchive(t *testing.T, file string, make func(provider.Config) oh.Provider) {
	ar, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	in := map[string][]byte{}
	for _, f := range ar.Files {
		in[f.Name] = f.Data
	}
	var req oh.Request
	if err := json.Unmarshal(in["request.json"], &req); err != nil {
		t.Fatalf("request.json: %v", err)
	}
	cfg := provider.Config{Profile: "p", Key: "sk-test-key"}
	if raw, ok := in["traits.json"]; ok {
		var traits provider.Traits
		if err := json.Unmarshal(raw, &traits); err != nil {
			t.Fatalf("traits.json: %v", err)
		}
		cfg.Traits = func(string) provider.Traits { return traits }
	}
	cfg.Host = provider.Host(strings.TrimSpace(string(in["host"])))
	wire := filepath.Base(filepath.Dir(file))
	sent, events := converse(t, make, cfg, &req, framed(wire, cfg.Host, in["answer"]))
	if cfg.Traits == nil && cfg.Host == "" { // traits are for services with rules of their own
		for _, bad := range ohtest.Check(ohtest.Wire(wire), sent, ohtest.Rules{}) {
			t.Errorf("the service would refuse the request: %v", bad)
		}
	}
	var pretty bytes.Buffer
	if err := json.Indent(&pretty, sent, "", " "); err != nil {
		t.Fatalf("the request body is no JSON: %v\n%s", err, sent)
	}
	pretty.WriteByte('\n')
	if *update {
		write(t, file, ar, map[string]string{"wire.json": pretty.String(), "events": events})
		return
	}
	if d := cmp.Diff(string(in["wire.json"]), pretty.String()); d != "" {
		t.Errorf("wire.json (-want +got)\n%s", d)
	}
	if d := cmp.Diff(string(in["events"]), events); d != "" {
		t.Errorf("events (-want +got)\n%s", d)
	}
}

func write(t *testing.T, file string, ar *txtar.Archive, out map[string]string) {
	t.Helper()
	kept := ar.Files[:0]
	for _, f := range ar.Files {
		if _, ok := out[f.Name]; !ok {
			kept = append(kept, f)
		}
	}
	for _, name := range []string{"wire.json", "events"} {
		kept = append(kept, txtar.File{Name: name, Data: []byte(out[name])})
	}
	ar.Files = kept
	if err := os.WriteFile(file, txtar.Format(ar), 0o644); err != nil {
		t.Fatal(err)
	}
}

// converse sends req to a server that gives the answer, and returns the body
// that was sent and the events as text.
func converse(t *testing.T, make func(provider.Config) oh.Provider, cfg provider.Config, req *oh.Request, answer []byte) (sent []byte, events string) {
	t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		sent, _ = io.ReadAll(r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = w.Write(answer)
	}))
	defer srv.Close()
	cfg.BaseURL = srv.URL
	var out strings.Builder
	for c, err := range make(cfg).Stream(t.Context(), req) {
		if err != nil {
			if _, ok := errors.AsType[*oh.Error](err); !ok {
				t.Errorf("an error that is no *oh.Error: %v", err)
			}
			out.WriteString("error: " + err.Error() + "\n")
			continue
		}
		raw, err := oh.AppendEvent(nil, c)
		if err != nil {
			t.Fatal(err)
		}
		out.Write(append(raw, '\n'))
	}
	return sent, out.String()
}
