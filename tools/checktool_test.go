package tools_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"image"
	"image/png"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/openharness/oh"
	"github.com/openharness/oh/ohtest"
	"github.com/openharness/oh/tools/ask"
	"github.com/openharness/oh/tools/brief"
	"github.com/openharness/oh/tools/file"
	imagetool "github.com/openharness/oh/tools/image"
	"github.com/openharness/oh/tools/index"
	"github.com/openharness/oh/tools/lsp"
	"github.com/openharness/oh/tools/plan"
	"github.com/openharness/oh/tools/search"
	"github.com/openharness/oh/tools/setting"
	"github.com/openharness/oh/tools/shell"
	"github.com/openharness/oh/tools/sleep"
	"github.com/openharness/oh/tools/todo"
	"github.com/openharness/oh/tools/web"
	"github.com/openharness/oh/workspace"
	"github.com/openharness/oh/workspace/proc"
)

// inputs are the good inputs of each built-in tool; {site} is a web server. nil:
// only its description and odd inputs are checked.
func inputs() map[string][]string {
	return map[string][]string{
		"read_file":     {`{"path":"a.txt"}`, `{"path":"dot.png"}`, `{"path":"none.txt"}`, `{"path":"a.txt","offset":1,"limit":1}`},
		"write_file":    {`{"path":"new/b.txt","content":"b\n"}`, `{"path":"a.txt","content":"other\n"}`},
		"edit_file":     {`{"path":"a.txt","old_str":"two","new_str":"2"}`, `{"path":"a.txt","old_str":"absent","new_str":"x"}`},
		"multi_edit":    {`{"path":"a.txt","edits":[{"old_str":"one","new_str":"1"},{"old_str":"two","new_str":"2"}]}`},
		"apply_patch":   {`{"patch":"*** Begin Patch\n*** Update File: a.txt\n@@\n-two\n+2\n*** Add File: new/c.txt\n+c\n*** Delete File: sub/b.go\n*** End Patch\n"}`},
		"notebook_edit": {`{"path":"n.ipynb","cell_index":0,"new_source":"print(2)"}`},
		"ls":            {`{}`, `{"path":"sub"}`},
		"glob":          {`{"pattern":"**/*"}`, `{"pattern":"*.go","root":"sub"}`},
		"grep":          {`{"pattern":"two"}`, `{"pattern":"(?i)TWO","root":"sub","output_mode":"count"}`},
		"bash":          {`{"command":"printf x > made && cat a.txt"}`, `{"command":"exit 3"}`, `{"command":"sleep 1"}`},
		"task_output":   nil, // there is no task
		"task_stop":     nil,
		"todo_write":    {`{"todos":[{"content":"x","status":"pending"}]}`},

		"ask_user_question": {`{"question":"Go on?"}`},
		"tool_search":       {`{"query":"brief"}`, `{"query":"nothing at all"}`},
		"call_tool":         nil, // never runs by itself

		"enter_plan_mode": {`{}`},
		"exit_plan_mode":  {`{"plan":"1. Do it."}`},
		"sleep":           {`{"seconds":0.2}`, `{"seconds":0}`},
		"brief":           {`{"text":"one two three four five six","max_chars":20}`},
		"config":          {`{}`, `{"action":"get","key":"theme"}`, `{"action":"set","key":"theme","value":"dark"}`},

		"lsp":        {`{"operation":"document_symbol","file_path":"sub/b.go"}`, `{"operation":"find_references","symbol":"b"}`, `{"operation":"hover","file_path":"sub/b.go","line":1}`},
		"web_fetch":  {`{"url":"{site}/"}`, `{"url":"{site}/dot.png"}`, `{"url":"{site}/none"}`},
		"web_search": {`{"query":"two"}`},

		"image_to_text": {`{"image_path":"dot.png"}`, `{"image_data":"` + base64.StdEncoding.EncodeToString(dot()) + `"}`, `{"image_path":"a.txt"}`},
		"image_generation": {`{"prompt":"a red fox"}`, `{"prompt":"x","n":2,"output_path":"pics/fox.png"}`,
			`{"prompt":"x","image_paths":["dot.png"],"output_path":"edited.png"}`},
	}
}

// dot is a png of one pixel.
func dot() []byte {
	var buf bytes.Buffer
	_ = png.Encode(&buf, image.NewGray(image.Rect(0, 0, 1, 1))) // to memory: cannot fail
	return buf.Bytes()
}

// world is a workspace with some files and all tools on it.
type world struct {
	dir   string
	site  string
	tools []oh.Tool
}

func newWorld(t *testing.T) world {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{
		"a.txt": []byte("one\ntwo\nthree\n"), "sub/b.go": []byte("package b // two\n"), "dot.png": dot(), "settings.json": []byte("{}\n"),
		"n.ipynb": []byte(`{"cells":[{"cell_type":"code","metadata":{},"source":["print(1)"],"outputs":[],"execution_count":null}],"metadata":{},"nbformat":4,"nbformat_minor":4}` + "\n"),
	} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	ws, err := workspace.New(workspace.Config{Root: dir})
	if err != nil {
		t.Fatal(err)
	}
	runner := proc.New(proc.Config{})
	t.Cleanup(runner.CloseAll)
	site := httptest.NewServer(http.HandlerFunc(page))
	t.Cleanup(site.Close)
	servers := lsp.New(ws, lsp.Config{Allowed: func(lsp.Server) error { return errors.New("no servers here") }})
	t.Cleanup(servers.Close)
	w := world{dir: dir, site: site.URL}
	for _, tool := range slices.Concat(file.Tools(ws), file.More(ws)) {
		w.tools = append(w.tools, servers.Attach(tool))
	}
	w.tools = slices.Concat(w.tools, search.Tools(ws), plan.Tools(), web.Tools(online(site.URL)), imagetool.Tools(services(t, ws)),
		shell.Tools(shell.Config{Runner: runner, Roots: func() []string { return []string{dir} }}),
		[]oh.Tool{servers.Tool(), todo.New(), ask.New(), sleep.New(), brief.New(), setting.New(settings(filepath.Join(dir, "settings.json")))})
	w.tools = append(w.tools, index.Tools([]string{"brief"}, func() []oh.ToolSpec { return []oh.ToolSpec{brief.New().Spec()} })...)
	return w
}

// page is a small web site with a search.
func page(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/", "/search":
		_, _ = io.WriteString(w, `<html><body><h1>Hi</h1><div class="result"><a class="result__a" href="http://two.example/">Two</a></div></body></html>`)
	case "/dot.png":
		_, _ = w.Write(dot())
	default:
		http.NotFound(w, r)
	}
}

// online is a web of that site alone.
func online(site string) web.Config {
	return web.Config{Image: file.FitImage, Endpoints: web.Endpoints{DuckDuckGo: site + "/search"},
		Allow: func(string, netip.Addr) bool { return true }}
}

// services are a scripted vision model and an images API.
func services(t *testing.T, ws *workspace.Workspace) imagetool.Config {
	t.Helper()
	eye := ohtest.NewProvider(t)
	eye.Rule = func(*oh.Request) (ohtest.Turn, bool) { return ohtest.Reply(ohtest.Text("A dot.")), true }
	picture := `{"b64_json":"` + base64.StdEncoding.EncodeToString(dot()) + `"}`
	painter := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		_, _ = io.WriteString(w, `{"data":[`+picture+`,`+picture+`]}`)
	}))
	t.Cleanup(painter.Close)
	return imagetool.Config{Workspace: ws,
		Vision: func() (imagetool.Vision, error) { return imagetool.Vision{Provider: eye, Model: "eye"}, nil },
		Service: func() (imagetool.Service, error) {
			return imagetool.Service{BaseURL: painter.URL, Client: painter.Client()}, nil
		},
	}
}

// settings is a settings file of one setting.
type settings string

func (s settings) entry() setting.Entry {
	return setting.Entry{Key: "theme", Value: json.RawMessage(`"default"`)}
}
func (s settings) List() ([]setting.Entry, error) { return []setting.Entry{s.entry()}, nil }
func (s settings) Get(key string) (setting.Entry, error) {
	if key != "theme" {
		return setting.Entry{}, errors.New("there is only theme")
	}
	return s.entry(), nil
}
func (s settings) Set(_ context.Context, _, value string) error {
	return os.WriteFile(string(s), []byte(value+"\n"), 0o644)
}
func (s settings) File() string { return string(s) }

// TestCheckTool holds every built-in tool to the contract of tools.
func TestCheckTool(t *testing.T) {
	for _, tool := range newWorld(t).tools {
		name := tool.Spec().Name
		t.Run(name, func(t *testing.T) {
			good, ok := inputs()[name]
			if !ok {
				t.Fatalf("the tool %s has no inputs in this test: add some", name)
			}
			if name == "bash" && runtime.GOOS == "windows" {
				good = nil
			}
			w := newWorld(t)
			for i := range good {
				good[i] = strings.ReplaceAll(good[i], "{site}", w.site)
			}
			env := &oh.Env{Dir: w.dir, Mode: oh.ModeDefault, Asker: oh.AskerFunc(func(context.Context, oh.Question) (oh.Answer, error) {
				return oh.Answer{Allow: true}, nil
			})}
			if name == "exit_plan_mode" {
				env.Mode = oh.ModePlan
			}
			i := slices.IndexFunc(w.tools, func(x oh.Tool) bool { return x.Spec().Name == name })
			ohtest.CheckTool(t, w.tools[i], env, good...)
		})
	}
}
