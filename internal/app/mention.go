package app

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/openharness/oh"
	"github.com/openharness/oh/internal/text"
)

// Limits of what mentions bring into a prompt.
const (
	maxMentions = 20  // files of one prompt
	maxListed   = 100 // names of a mentioned folder
)

// mentions returns what the @paths of a prompt name: files as read_file shows
// them, folders as a list. A person named them, so nobody is asked; what is
// denied stays denied, and is said.
func (h *handling) mentions(line string) []oh.Block {
	var out []oh.Block
	for _, path := range mentioned(line) {
		full := h.r.locate(path)
		info, err := os.Stat(full)
		if err != nil {
			if strings.ContainsAny(path, "/.") { // else it may be a name
				h.emit(oh.Notice{Level: oh.Warning, Text: "@" + path + " is not attached: there is no such file"})
			}
			continue
		}
		if len(out) == maxMentions {
			h.emit(oh.Notice{Level: oh.Warning, Text: fmt.Sprintf("Only the first %d files with @ are attached.", maxMentions)})
			break
		}
		var blocks oh.Blocks
		if info.IsDir() {
			blocks, err = h.r.listFolder(h.ctx, full)
		} else {
			blocks, err = h.readMention(full)
		}
		if err != nil {
			h.emit(oh.Notice{Level: oh.Warning, Text: fmt.Sprintf("@%s is not attached: %v", path, err)})
			continue
		}
		out = append(out, oh.Text{Text: "[The user mentions " + path + ":]", Context: true})
		for _, b := range blocks {
			if t, ok := b.(oh.Text); ok {
				t.Context = true
				b = t
			}
			out = append(out, b)
		}
	}
	return out
}

// mentioned lists the paths after an @ that begins a word, each once. Quotes
// hold a path with spaces: @"a b.txt".
func mentioned(line string) []string {
	var out []string
	add := func(path string) {
		if path != "" && !slices.Contains(out, path) {
			out = append(out, path)
		}
	}
	for i := 0; i < len(line); i++ {
		if line[i] != '@' || i > 0 && !strings.ContainsRune(" \t\r\n(\"'", rune(line[i-1])) {
			continue
		}
		rest := line[i+1:]
		if quoted, ok := strings.CutPrefix(rest, `"`); ok {
			if path, _, closed := strings.Cut(quoted, `"`); closed {
				add(path)
			}
			continue
		}
		end := strings.IndexAny(rest, " \t\r\n\"'")
		if end < 0 {
			end = len(rest)
		}
		add(strings.TrimRight(rest[:end], ".,;:!?)"))
	}
	return out
}

func (r *Runtime) locate(path string) string {
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		return filepath.Join(r.paths.Home, rest)
	}
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(r.conv.State().Dir, path)
}

// readMention reads a file through the tool that the model would use.
func (h *handling) readMention(path string) (oh.Blocks, error) {
	i := slices.IndexFunc(h.r.tools, func(t oh.Tool) bool { return oh.ToolName(t) == "read_file" })
	if i < 0 {
		return nil, fmt.Errorf("the tool read_file is not available")
	}
	input, err := oh.Marshal(map[string]string{"path": path})
	if err != nil {
		return nil, err
	}
	st := h.r.conv.State()
	call := &oh.Call{ID: "mention", Name: "read_file", Input: input,
		Env: &oh.Env{Dir: st.Dir, Mode: st.Mode, Reads: h.r.conv, Limits: h.r.config.Limits, Session: st.Session}}
	act, err := h.r.tools[i].Prepare(h.ctx, call)
	if err != nil {
		return nil, err
	}
	if err := h.r.mayRead(h.ctx, call, act.Access); err != nil {
		return nil, err
	}
	res, err := act.Run(h.ctx, func(ev oh.Event) {
		if ch, ok := ev.(oh.StateChanged); ok {
			h.record(ch)
		}
	})
	switch {
	case err != nil:
		return nil, err
	case res.IsError:
		return nil, fmt.Errorf("%s", text.OneLine(res.Content.Text(), 200))
	}
	return res.Content, nil
}

func (r *Runtime) mayRead(ctx context.Context, call *oh.Call, access oh.Access) error {
	// The widest mode: a person named the file, so only rules and protected
	// places count; what they ask about is answered by a person being there.
	v := r.policy.Check(ctx, oh.GateRequest{ID: call.ID, Tool: call.Name, Input: call.Input, Access: access,
		Mode: oh.ModeFullAuto, Dir: call.Env.Dir})
	if v.Decision == oh.Deny || v.Decision == oh.Ask && !r.opts.Interactive {
		return fmt.Errorf("permission denied: %s", v.Reason)
	}
	return nil
}

// listFolder names what is in a folder.
func (r *Runtime) listFolder(ctx context.Context, dir string) (oh.Blocks, error) {
	input, err := oh.Marshal(map[string]string{"path": dir})
	if err != nil {
		return nil, err
	}
	call := &oh.Call{ID: "mention", Name: "glob", Input: input, Env: &oh.Env{Dir: r.conv.State().Dir}}
	if err := r.mayRead(ctx, call, oh.Access{ReadOnly: true, Paths: []oh.PathUse{{Path: dir}}}); err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		if len(names) == maxListed {
			names = append(names, fmt.Sprintf("... and %d more", len(entries)-maxListed))
			break
		}
		name := e.Name()
		if e.IsDir() {
			name += "/"
		}
		names = append(names, name)
	}
	if len(names) == 0 {
		names = []string{"(empty folder)"}
	}
	return oh.Blocks{oh.Text{Text: strings.Join(names, "\n")}}, nil
}
