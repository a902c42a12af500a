package lsp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/openharness/oh/internal/text"
	"github.com/openharness/oh/tools/lsp/rpc"
	"github.com/openharness/oh/workspace"
)

const (
	shutdownLimit = 300 * time.Millisecond
	lateLimit     = 2 // requests in a row without an answer, after which a server is given up
	maxReports    = 10_000
	maxPerReport  = 1_000
	maxBusy       = 1_000
)

// client is the end of a connection to one running server.
type client struct {
	spec  Server
	root  string // links resolved
	ws    *workspace.Workspace
	limit time.Duration // on one request
	born  time.Time
	proc  *process
	conn  *rpc.Conn
	caps  capabilities // set before the client is shared

	turn      chan struct{} // holds one while documents are brought up to date; guards what follows
	docs      map[string]*doc
	uses      int
	files     map[string]stamp // of the project when last looked at; nil before the first time
	unwatched bool             // the project is too large to look at each time

	mu      sync.Mutex // guards what follows
	reports map[string]report
	told    uint64 // reports so far
	changed chan struct{}
	busy    map[string]bool // work in progress, by token
	works   uint64          // works that began or ended
	late    int
}

// report is what a server last said about a file.
type report struct {
	number  uint64 // its place in all reports
	version int    // of the document; 0 when it was not said
	items   []protocolDiagnostic
}

// dial starts a server and greets it. program is the path of the command.
func dial(ctx context.Context, spec Server, ws *workspace.Workspace, p *process, limit time.Duration) (*client, error) {
	c := &client{
		spec: spec, root: spec.Root, ws: ws, limit: limit, born: time.Now(), proc: p,
		turn: make(chan struct{}, 1), docs: map[string]*doc{},
		reports: map[string]report{}, changed: make(chan struct{}), busy: map[string]bool{},
	}
	c.conn = rpc.NewConn(p.out, p.in, c.handle)
	if err := c.greet(ctx); err != nil {
		if !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded) {
			err = c.wording(err)
		}
		c.kill()
		return nil, err
	}
	return c, nil
}

func (c *client) greet(ctx context.Context) error {
	folder := map[string]string{"uri": toURI(c.root), "name": filepath.Base(c.root)}
	params := map[string]any{
		"processId":        os.Getpid(),
		"clientInfo":       map[string]string{"name": "oh"},
		"rootPath":         c.root,
		"rootUri":          folder["uri"],
		"workspaceFolders": []any{folder},
		"capabilities":     json.RawMessage(clientCapabilities),
	}
	if len(c.spec.Options) > 0 {
		params["initializationOptions"] = c.spec.Options
	}
	var res struct {
		Capabilities capabilities `json:"capabilities"`
	}
	if err := c.conn.Call(ctx, "initialize", params, &res); err != nil {
		return err
	}
	c.caps = res.Capabilities
	if enc := c.caps.PositionEncoding; enc != "" && enc != "utf-16" {
		return fmt.Errorf("it insists on positions in %s, where only utf-16 was offered", text.OneLine(enc, 40))
	}
	if err := c.conn.Notify("initialized", struct{}{}); err != nil {
		return err
	}
	if len(c.spec.Settings) == 0 {
		return nil
	}
	return c.conn.Notify("workspace/didChangeConfiguration", map[string]any{"settings": c.spec.Settings})
}

// clientCapabilities tells servers what is understood here.
const clientCapabilities = `{"general":{"positionEncodings":["utf-16"]},` +
	`"window":{"workDoneProgress":true},` +
	`"workspace":{"workspaceFolders":true,"configuration":true,"didChangeConfiguration":{},"workspaceEdit":{"documentChanges":true},` +
	`"didChangeWatchedFiles":{"dynamicRegistration":true,"relativePatternSupport":true},"symbol":{}},` +
	`"textDocument":{"synchronization":{"didSave":true},"publishDiagnostics":{"versionSupport":true},` +
	`"documentSymbol":{"hierarchicalDocumentSymbolSupport":true},"definition":{"linkSupport":true},"references":{},` +
	`"hover":{"contentFormat":["markdown","plaintext"]},"rename":{},"callHierarchy":{}}}`

// alive reports whether the connection stands.
func (c *client) alive() bool { return c.conn.Err() == nil }

// stop ends the server in good order, as far as it plays along.
func (c *client) stop() {
	if c.alive() {
		ctx, cancel := context.WithTimeout(context.Background(), shutdownLimit)
		defer cancel()
		if c.conn.Call(ctx, "shutdown", nil, nil) == nil && c.conn.Notify("exit", nil) == nil {
			c.proc.await(stopGrace)
		}
	}
	c.kill()
}

// kill ends the server at once.
func (c *client) kill() {
	c.conn.Close()
	c.proc.stop()
	c.conn.Wait()
}

// call asks the server, within the limit of a request.
func (c *client) call(ctx context.Context, method string, params, result any) error {
	limited, cancel := context.WithTimeout(ctx, c.limit)
	defer cancel()
	for pause := 50 * time.Millisecond; ; pause *= 2 {
		err := c.conn.Call(limited, method, params, result)
		var answer *rpc.Error
		if errors.As(err, &answer) && (answer.Code == rpc.CodeContentModified || answer.Code == rpc.CodeServerCancelled) {
			if wait(limited, pause) == nil { // it was busy with a change: asking again is what it expects
				continue
			}
		}
		return c.settle(ctx, limited, method, err)
	}
}

// wait waits for d, or returns the error of ctx.
func wait(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// settle words the outcome of a request.
func (c *client) settle(ctx, limited context.Context, method string, err error) error {
	var answer *rpc.Error
	late := err != nil && limited.Err() != nil
	switch {
	case ctx.Err() != nil && err != nil:
		return ctx.Err()
	case late:
		if c.countLate() >= lateLimit {
			c.conn.Close() // the next question starts it anew
		}
		return fmt.Errorf("%s did not answer %s within %s", c.spec.Name, method, c.limit)
	}
	c.punctual()
	switch {
	case err == nil:
		return nil
	case errors.As(err, &answer):
		return fmt.Errorf("%s: %s", c.spec.Name, text.OneLine(text.Clean(answer.Error()), 500))
	case c.alive():
		return fmt.Errorf("%s: %w", c.spec.Name, err)
	}
	return c.wording(err)
}

func (c *client) countLate() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.late++
	return c.late
}

func (c *client) punctual() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.late = 0
}

// wording says why the connection is lost.
func (c *client) wording(err error) error {
	switch {
	case errors.Is(err, rpc.ErrClosed):
		return fmt.Errorf("%s was stopped", c.spec.Name)
	case isEnd(err):
		return fmt.Errorf("%s ended unexpectedly: %s", c.spec.Name, c.proc.ending())
	}
	return fmt.Errorf("%s: %s", c.spec.Name, text.Clean(err.Error()))
}

// handle answers the server. It runs on the goroutine that reads.
func (c *client) handle(method string, params json.RawMessage) (any, error) {
	switch method {
	case "textDocument/publishDiagnostics":
		c.publish(params)
	case "$/progress":
		c.progress(params)
	case "workspace/configuration":
		return c.configuration(params), nil
	case "workspace/workspaceFolders":
		return []map[string]string{{"uri": toURI(c.root), "name": filepath.Base(c.root)}}, nil
	case "workspace/applyEdit":
		return map[string]any{"applied": false, "failureReason": "edits are not taken unasked"}, nil
	case "window/showDocument":
		return map[string]bool{"success": false}, nil
	case "client/registerCapability", "client/unregisterCapability", "window/workDoneProgress/create", "window/showMessageRequest",
		"workspace/semanticTokens/refresh", "workspace/codeLens/refresh", "workspace/inlayHint/refresh", "workspace/diagnostic/refresh":
	default:
		return nil, &rpc.Error{Code: rpc.CodeNoMethod, Message: "not supported: " + text.OneLine(method, 100)}
	}
	return nil, nil
}

func (c *client) configuration(params json.RawMessage) []json.RawMessage {
	var in struct {
		Items []struct {
			Section string `json:"section"`
		} `json:"items"`
	}
	_ = json.Unmarshal(params, &in) // nothing was asked for that can be understood
	out := make([]json.RawMessage, len(in.Items))
	for i, item := range in.Items {
		out[i] = c.spec.setting(item.Section)
	}
	return out
}

// progress notes what the server is at, such as reading the project.
func (c *client) progress(params json.RawMessage) {
	var in struct {
		Token json.RawMessage `json:"token"`
		Value struct {
			Kind string `json:"kind"`
		} `json:"value"`
	}
	if json.Unmarshal(params, &in) != nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	switch in.Value.Kind {
	case "begin":
		c.works++
		if len(c.busy) < maxBusy {
			c.busy[string(in.Token)] = true
		}
	case "end":
		c.works++
		delete(c.busy, string(in.Token))
		c.announce()
	}
}

// announce wakes who waits for a change. The caller holds mu.
func (c *client) announce() {
	close(c.changed)
	c.changed = make(chan struct{})
}

// worked counts the works that the server began or ended so far.
func (c *client) worked() uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.works
}

// working reports whether the server is at something, and returns what is
// closed when that may have changed.
func (c *client) working() (bool, <-chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.busy) > 0, c.changed
}

// idle waits until the server has read the project, at most until its start is
// patience ago. It reports whether the server is still at it.
func (c *client) idle(ctx context.Context, patience time.Duration) (busy bool) {
	rest := time.Until(c.born.Add(patience))
	limited, cancel := context.WithTimeout(ctx, rest)
	defer cancel()
	for {
		busy, changed := c.working()
		if !busy || rest <= 0 {
			return busy
		}
		select {
		case <-changed:
		case <-limited.Done():
			return true
		case <-c.conn.Done():
			return false
		}
	}
}

// isEnd reports whether a connection just ended, rather than being broken.
func isEnd(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, fs.ErrClosed) || errors.Is(err, syscall.EPIPE)
}
