package ohtest

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/openharness/oh"
)

// writer declares the paths of its input and then does something in a folder.
func writer(do func(dir string) error, declare ...oh.PathUse) func(dir string) oh.Tool {
	return func(dir string) oh.Tool {
		var a oh.Access
		for _, p := range declare {
			p.Path = filepath.Join(dir, p.Path)
			a.Paths = append(a.Paths, p)
		}
		return NewTool("t", a, func(ctx context.Context, _ *oh.Call, _ func(oh.Event)) (oh.Result, error) {
			if ctx.Err() != nil {
				return oh.Result{}, ctx.Err()
			}
			return oh.TextResult("done"), do(dir)
		})
	}
}

// doing runs f in place of the whole call.
func doing(f func(ctx context.Context, emit func(oh.Event)) (oh.Result, error)) func(string) oh.Tool {
	return func(string) oh.Tool {
		return NewTool("t", oh.Access{ReadOnly: true}, func(ctx context.Context, _ *oh.Call, emit func(oh.Event)) (oh.Result, error) { return f(ctx, emit) })
	}
}

// preparing runs f while a call is prepared.
func preparing(f func(call *oh.Call) (oh.Action, error)) func(string) oh.Tool {
	return func(string) oh.Tool { return prepTool{f} }
}

type prepTool struct {
	f func(call *oh.Call) (oh.Action, error)
}

func (prepTool) Spec() oh.ToolSpec {
	return oh.ToolSpec{Name: "t", Description: "d", Schema: json.RawMessage(`{"type":"object","properties":{"a":{"type":"string"}}}`)}
}
func (p prepTool) Prepare(_ context.Context, call *oh.Call) (oh.Action, error) { return p.f(call) }

func fine() oh.Action {
	return oh.Action{Access: oh.Access{ReadOnly: true}, Run: func(context.Context, func(oh.Event)) (oh.Result, error) { return oh.TextResult("x"), nil }}
}

// shifty has another description each time.
type shifty struct {
	oh.Tool
	n *int
}

func (s shifty) Spec() oh.ToolSpec {
	spec := s.Tool.Spec()
	*s.n++
	spec.Description = strings.Repeat("d", *s.n)
	return spec
}

// limited says that a tool limits itself.
type limited struct{ oh.Tool }

func (l limited) Spec() oh.ToolSpec {
	spec := l.Tool.Spec()
	spec.SelfLimited = true
	return spec
}

func long(n int) func(string) oh.Tool {
	return doing(func(context.Context, func(oh.Event)) (oh.Result, error) {
		return oh.TextResult(strings.Repeat("é", n)), nil
	})
}

// deaf does not listen to its context.
func deaf(d time.Duration) func(string) oh.Tool {
	return doing(func(context.Context, func(oh.Event)) (oh.Result, error) {
		time.Sleep(d)
		return oh.TextResult("x"), nil
	})
}

func TestCheckTool(t *testing.T) {
	put := func(name, content string) func(string) error {
		return func(dir string) error { return os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644) }
	}
	w := func(path string) oh.PathUse { return oh.PathUse{Path: path, Write: true} }
	for _, c := range []struct {
		name  string
		tool  func(dir string) oh.Tool
		input string
		want  []string // rules, each once
	}{
		{name: "does nothing", tool: doing(func(context.Context, func(oh.Event)) (oh.Result, error) { return oh.TextResult("x"), nil })},
		{name: "fails", tool: doing(func(context.Context, func(oh.Event)) (oh.Result, error) { return oh.Result{}, errors.New("no") })},
		{name: "declares what it writes", tool: writer(put("a", "new"), w("a"))},
		{name: "declares the tree", tool: writer(put("sub/b", "new"), oh.PathUse{Path: "sub", Write: true, Tree: true})},
		{name: "makes folders above", tool: writer(func(dir string) error {
			if err := os.MkdirAll(filepath.Join(dir, "x/y"), 0o755); err != nil {
				return err
			}
			return put("x/y/z", "new")(dir)
		}, w("x/y/z"))},
		{name: "runs a command", tool: func(dir string) oh.Tool {
			return NewTool("t", oh.Access{Command: "x", Dir: dir}, func(context.Context, *oh.Call, func(oh.Event)) (oh.Result, error) {
				return oh.TextResult("x"), put("a", time.Now().String())(dir)
			})
		}},
		{name: "writes more", tool: writer(put("b", "new"), w("a")), want: []string{"undeclared"}},
		{name: "declares only a read", tool: writer(put("a", "new"), oh.PathUse{Path: "a"}), want: []string{"undeclared"}},
		{name: "writes into a folder that is no tree", tool: writer(put("sub/b", "new"), w("sub")), want: []string{"undeclared"}},
		{name: "a name that only begins alike", tool: writer(put("sub2", "new"), oh.PathUse{Path: "sub", Write: true, Tree: true}), want: []string{"undeclared"}},
		{name: "changes a mode", tool: writer(func(dir string) error { return os.Chmod(filepath.Join(dir, "a"), 0o600) }, w("b")), want: []string{"undeclared"}},
		{name: "changes a time", tool: writer(func(dir string) error {
			return os.Chtimes(filepath.Join(dir, "a"), time.Time{}, time.Unix(1, 0))
		}), want: []string{"undeclared"}},
		{name: "removes", tool: writer(func(dir string) error { return os.RemoveAll(filepath.Join(dir, "sub")) }, w("sub/b")), want: []string{"undeclared"}},
		{name: "is deaf for a while", tool: deaf(4 * time.Second)},
		{name: "is deaf", tool: deaf(16 * time.Second), want: []string{"cancel-ignored"}},
		{name: "is deaf when it was cancelled before", tool: doing(func(ctx context.Context, _ func(oh.Event)) (oh.Result, error) {
			if ctx.Err() != nil {
				time.Sleep(6 * time.Second)
			}
			return oh.TextResult("x"), nil
		}), want: []string{"cancel-ignored"}},
		{name: "waits for ever, but listens", tool: doing(func(ctx context.Context, emit func(oh.Event)) (oh.Result, error) {
			emit(oh.Status{Text: "waiting"})
			<-ctx.Done()
			return oh.Result{}, ctx.Err()
		})},
		{name: "panics", tool: doing(func(context.Context, func(oh.Event)) (oh.Result, error) { panic("oops") }), want: []string{"run-panic"}},
		{name: "sends bytes", tool: doing(func(context.Context, func(oh.Event)) (oh.Result, error) { return oh.TextResult("\xff"), nil }), want: []string{"output-utf8"}},
		{name: "fails in bytes", tool: doing(func(context.Context, func(oh.Event)) (oh.Result, error) { return oh.Result{}, errors.New("\xff") }), want: []string{"output-utf8"}},
		{name: "shows bytes", tool: doing(func(_ context.Context, emit func(oh.Event)) (oh.Result, error) {
			emit(oh.ToolOutput{Text: "\xff"})
			return oh.TextResult("x"), nil
		}), want: []string{"output-utf8"}},
		{name: "is long", tool: long(60_001)},
		{name: "is within its limit", tool: func(dir string) oh.Tool { return limited{long(60_000)(dir)} }},
		{name: "exceeds its limit", tool: func(dir string) oh.Tool { return limited{long(60_001)(dir)} }, want: []string{"output-limit"}},
		{name: "odd metadata", tool: doing(func(context.Context, func(oh.Event)) (oh.Result, error) {
			return oh.Result{Content: oh.TextResult("x").Content, Meta: json.RawMessage(`[1]`)}, nil
		}), want: []string{"output-meta"}},
		{name: "ends the run", tool: doing(func(_ context.Context, emit func(oh.Event)) (oh.Result, error) {
			emit(oh.RunDone{})
			return oh.TextResult("x"), nil
		}), want: []string{"event-type"}},
		{name: "emits late", tool: doing(func(_ context.Context, emit func(oh.Event)) (oh.Result, error) {
			time.AfterFunc(time.Millisecond, func() { emit(oh.Status{Text: "late"}) })
			return oh.TextResult("x"), nil
		}), want: []string{"event-late"}},
		{name: "refuses", tool: preparing(func(*oh.Call) (oh.Action, error) { return oh.Action{}, errors.New("no") }), want: []string{"input-refused"}},
		{name: "prepares nothing", tool: preparing(func(*oh.Call) (oh.Action, error) { return oh.Action{}, nil }), want: []string{"prepare-empty"}},
		{name: "panics for odd input", tool: preparing(func(call *oh.Call) (oh.Action, error) {
			if strings.Contains(string(call.Input), `"a":null`) {
				panic("null")
			}
			return fine(), nil
		}), want: []string{"prepare-panic"}},
		{name: "hangs for odd input", tool: preparing(func(call *oh.Call) (oh.Action, error) {
			if string(call.Input) == `{"__proto__":{}}` {
				time.Sleep(time.Minute)
			}
			return fine(), nil
		}), want: []string{"prepare-hang"}},
		{name: "panics without a session", tool: preparing(func(call *oh.Call) (oh.Action, error) {
			_ = call.Env.Dir[0]
			return fine(), nil
		}), want: []string{"prepare-panic"}},
		{name: "changes its input", tool: preparing(func(call *oh.Call) (oh.Action, error) {
			if len(call.Input) > 0 {
				call.Input[0]++
			}
			return fine(), nil
		}), want: []string{"prepare-changes"}},
		{name: "writes while it prepares", tool: preparing(func(call *oh.Call) (oh.Action, error) {
			if call.Env.Dir == "" {
				return fine(), nil
			}
			return fine(), put("c", time.Now().String())(call.Env.Dir)
		}), want: []string{"prepare-changes"}},
		{name: "writes while it prepares odd input", tool: preparing(func(call *oh.Call) (oh.Action, error) {
			if call.Env.Dir == "" || string(call.Input) == `{"a":"b"}` {
				return fine(), nil
			}
			return fine(), put("c", time.Now().String())(call.Env.Dir)
		}), want: []string{"prepare-changes"}},
		{name: "a relative path", tool: func(string) oh.Tool { return NewTool("t", oh.Access{Paths: []oh.PathUse{{Path: "a"}}}, nil) }, want: []string{"access-path"}},
		{name: "a path that is not clean", tool: func(dir string) oh.Tool {
			return NewTool("t", oh.Access{ReadOnly: true, Paths: []oh.PathUse{{Path: dir + "/x/../a"}}}, nil)
		}, want: []string{"access-path"}},
		{name: "contradicts itself", tool: func(dir string) oh.Tool {
			return NewTool("t", oh.Access{ReadOnly: true, Paths: []oh.PathUse{{Path: filepath.Join(dir, "a"), Write: true}}}, nil)
		}, want: []string{"access-contrary"}},
		{name: "changes its words", tool: func(dir string) oh.Tool { return shifty{long(1)(dir), new(int)} }, want: []string{"spec-unstable"}},
		{name: "has no schema", tool: func(string) oh.Tool { return &Tool{Name: "t", Schema: `{"type":"string"}`} }, want: []string{"schema"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.Mkdir(filepath.Join(dir, "sub"), 0o755); err != nil {
				t.Fatal(err)
			}
			for _, name := range []string{"a", "sub/b"} {
				if err := put(name, "old")(dir); err != nil {
					t.Fatal(err)
				}
			}
			synctest.Test(t, func(t *testing.T) {
				check := &toolCheck{tool: c.tool(dir), env: oh.Env{Dir: dir}}
				check.all([]string{`{"a":"b"}`})
				time.Sleep(time.Hour) // in the bubble's time: until the deaf have ended
				var got []string
				for _, v := range check.found {
					if len(got) == 0 || got[len(got)-1] != v.Rule {
						got = append(got, v.Rule)
					}
				}
				if diff := cmp.Diff(c.want, got); diff != "" {
					t.Errorf("%s\n%s", diff, describe(check.found))
				}
			})
		})
	}
}

func TestCheckToolReports(t *testing.T) {
	dir := t.TempDir()
	tb := &recordTB{}
	CheckTool(tb, writer(func(dir string) error { return os.WriteFile(filepath.Join(dir, "x"), nil, 0o644) })(dir), &oh.Env{Dir: dir}, `{}`)
	want := "tool t: input 1, run: " + filepath.Join(resolved(dir), "x") + " was created (rule undeclared)"
	if got := tb.finish(); len(got) == 0 || !strings.Contains(strings.Join(got, "\n"), want) {
		t.Errorf("%q is missing in %q", want, got)
	}
	tb = &recordTB{}
	CheckTool(tb, NewTool("t", oh.Access{}, nil), &oh.Env{})
	if got := tb.finish(); len(got) != 1 || !strings.Contains(got[0], "name the folder to watch") {
		t.Errorf("got %q", got)
	}
}

// What is declared by a way over links counts for the place they lead to.
func TestCheckToolFollowsLinks(t *testing.T) {
	real, link := t.TempDir(), filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(real, link); err != nil {
		t.Skipf("no links here: %v", err)
	}
	CheckTool(t, writer(func(dir string) error { return os.WriteFile(filepath.Join(dir, "x"), []byte("x"), 0o644) },
		oh.PathUse{Path: "x", Write: true})(link), &oh.Env{Dir: link}, `{}`)
}
