package cli

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/openharness/oh"
	"github.com/openharness/oh/internal/app"
	"github.com/openharness/oh/internal/auth"
	"github.com/openharness/oh/internal/config"
	"github.com/openharness/oh/internal/text"
)

// maxToolLine is the longest line of `oh tool run`, in bytes.
const maxToolLine = 64 << 20

const longLine = "the line is longer than 64 MB"

// toolCommand is `oh tool`: tools without a model, under the same gate.
func (p *program) toolCommand() *cobra.Command {
	c := group("tool", "list, show and run tools without a model")
	list := &cobra.Command{Use: "list", Short: "the tools of this folder", Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return p.withTools(cmd.Context(), func(rt *app.Runtime) error { return p.listTools(rt) })
		}}
	show := &cobra.Command{Use: "show NAME", Short: "what the model is told of a tool", Args: oneArg("the name of a tool"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return p.withTools(cmd.Context(), func(rt *app.Runtime) error { return p.showTool(rt, args[0]) })
		}}
	run := &cobra.Command{Use: "run NAME [JSON] | run -", Short: "run a tool: with JSON, with each line of stdin, or (-) with {\"tool\", \"input\"} lines",
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) < 1 || len(args) > 2 || args[0] == "-" && len(args) > 1 {
				return usageError{errors.New("oh tool run takes a tool and its input as JSON, or the tool alone with inputs on stdin, or - alone")}
			}
			return p.withTools(cmd.Context(), func(rt *app.Runtime) error { return p.runTool(cmd.Context(), rt, args) })
		}}
	for _, sub := range []*cobra.Command{list, show, run} {
		f := sub.Flags()
		f.StringVar(&p.flags.mode, "permission-mode", "", "plan, dontAsk, default, acceptEdits or full_auto")
		f.StringVar(&p.flags.sandbox, "sandbox", "", "on or off: whether commands are confined")
		f.StringSliceVar(&p.flags.allow, "allowed-tools", nil, "tools or rules that need no question")
		f.StringSliceVar(&p.flags.deny, "disallowed-tools", nil, "tools or rules that are refused")
		f.StringArrayVar(&p.flags.addDirs, "add-dir", nil, "a further folder to work in (repeatable)")
		f.StringVar(&p.flags.settings, "settings", "", "more settings: a file, or JSON")
		f.BoolVar(&p.flags.trust, "trust", false, "let the project's own settings do more than tighten")
		f.SetNormalizeFunc(normalizeFlag)
	}
	c.AddCommand(list, show, run)
	return c
}

// withTools builds a session without a model.
func (p *program) withTools(ctx context.Context, f func(*app.Runtime) error) error {
	return p.withSession(ctx, func(*app.Options) {}, f)
}

// withSession is withTools with further options.
func (p *program) withSession(ctx context.Context, more func(*app.Options), f func(*app.Runtime) error) (err error) {
	opts, err := p.flags.options(p.inv.sdk)
	if err != nil {
		return err
	}
	opts.NoSave, opts.NoModel = true, true
	more(&opts)
	rt, err := app.Build(ctx, opts)
	if err != nil {
		return err
	}
	p.signals.kills(rt.Kill)
	auth.Forget(rt.Secrets(), config.SecretName)
	defer func() { err = errors.Join(err, rt.Close()) }()
	for _, w := range rt.Warnings() {
		fmt.Fprintln(p.errOut, "oh: "+text.Clean(w))
	}
	return f(rt)
}

func (p *program) listTools(rt *app.Runtime) error {
	w := tabwriter.NewWriter(p.out, 0, 0, 2, ' ', 0)
	for _, spec := range rt.Tools() {
		fmt.Fprintf(w, "%s\t%s\n", spec.Name, text.OneLine(spec.Description, 100))
	}
	return w.Flush()
}

func (p *program) showTool(rt *app.Runtime, name string) error {
	var names []string
	for _, spec := range rt.Tools() {
		names = append(names, spec.Name)
		if spec.Name == name {
			schema, err := indent(spec.Schema)
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(p.out, "%s\n\n%s\n\n%s\n", spec.Name, spec.Description, schema)
			return err
		}
	}
	msg := fmt.Sprintf("there is no tool %q", name)
	if near := text.Nearest(name, names); near != "" {
		msg += ": did you mean " + near + "?"
	}
	return usageError{fmt.Errorf("%s (oh tool list shows all)", msg)}
}

// runTool runs one call, or one for each line of stdin.
func (p *program) runTool(ctx context.Context, rt *app.Runtime, args []string) error {
	if len(args) == 2 {
		res := p.callLine(ctx, rt, args[0], []byte(args[1]))
		if err := errors.Join(p.writeLine(res), ctx.Err()); err != nil {
			return err
		}
		if res.IsError {
			return codedError{exitOther}
		}
		return nil
	}
	named := args[0]
	if named == "-" {
		named = ""
	}
	return p.eachLine(ctx, func(_ int, line []byte, tooLong bool) error {
		res := app.ToolResult{Tool: named, IsError: true, Output: longLine}
		if !tooLong {
			res = p.callLine(ctx, rt, args[0], line)
		}
		return p.writeLine(res)
	})
}

// eachLine hands over each line of stdin that is not empty, numbered from 1.
func (p *program) eachLine(ctx context.Context, do func(num int, line []byte, tooLong bool) error) error {
	in := bufio.NewReaderSize(stoppable{ctx, p.in}, 64<<10)
	for num := 1; ; num++ {
		line, tooLong, err := readLong(in, maxToolLine)
		if num == 1 {
			line = bytes.TrimPrefix(line, []byte("\ufeff")) // some shells begin a pipe with it
		}
		if len(bytes.TrimSpace(line)) > 0 || tooLong {
			if err := do(num, line, tooLong); err != nil {
				return err
			}
		}
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("read stdin: %w", err)
		}
	}
}

// stoppable is stdin that is read until a context ends.
type stoppable struct {
	ctx context.Context
	f   *os.File
}

// Read implements io.Reader.
func (s stoppable) Read(p []byte) (int, error) { return readWithin(s.ctx, s.f, p, 0) }

// readLong reads a line of any length up to most bytes; a longer one is read to
// its end and dropped.
func readLong(in *bufio.Reader, most int) (line []byte, tooLong bool, err error) {
	for {
		part, err := in.ReadSlice('\n')
		if !tooLong {
			line = append(line, part...)
		}
		if len(line) > most {
			line, tooLong = nil, true
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, tooLong, err
		}
	}
}

// callLine runs the call that a line stands for. What is wrong with the line is
// a result like any other.
func (p *program) callLine(ctx context.Context, rt *app.Runtime, name string, line []byte) app.ToolResult {
	name, input, err := readCall(name, line)
	if err != nil {
		return app.ToolResult{Tool: name, IsError: true, Output: err.Error()}
	}
	res, err := rt.CallTool(ctx, name, input)
	if err != nil {
		res.Tool, res.IsError, res.Output = name, true, err.Error()
	}
	return res
}

// readCall reads the input of a tool, or with the name - a whole call.
func readCall(name string, line []byte) (string, json.RawMessage, error) {
	input := json.RawMessage(bytes.TrimSpace(line))
	if name == "-" {
		var call struct {
			Tool  string          `json:"tool"`
			Input json.RawMessage `json:"input"`
		}
		if err := json.Unmarshal(line, &call); err != nil {
			why := ""
			if _, wrong := errors.AsType[*json.UnmarshalTypeError](err); !wrong {
				why = ": " + err.Error()
			}
			return "", nil, errors.New(`the line is not {"tool": NAME, "input": {...}}` + why)
		}
		if call.Tool == "" {
			return "", nil, errors.New(`the line names no "tool"`)
		}
		if name, input = call.Tool, call.Input; len(input) == 0 {
			input = json.RawMessage("{}")
		}
	}
	var obj map[string]json.RawMessage
	if err := json.Unmarshal(input, &obj); err != nil || obj == nil {
		return name, nil, errors.New("the input is not a JSON object")
	}
	return name, oh.Compact(input), nil
}
