package file

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/openharness/oh"
	"github.com/openharness/oh/internal/text"
	"github.com/openharness/oh/workspace"
)

type writeInput struct {
	Path    string `json:"path"`
	Content string `json:"content"`
	Parents bool   `json:"create_directories,omitempty" oh:"default=true"`
}

func (s set) write(_ context.Context, call *oh.Call, in writeInput) (oh.Action, error) {
	if err := isFile(in.Path); err != nil {
		return oh.Action{}, err
	}
	if err := halfChar(call.Input); err != nil {
		return oh.Action{}, err
	}
	p, err := s.ws.Locate(call.Env.Dir, in.Path)
	if err != nil {
		return oh.Action{}, err
	}
	act := oh.Action{
		Access: oh.Access{Paths: []oh.PathUse{{Path: p.Path, Write: true}}},
		Run: func(ctx context.Context, emit func(oh.Event)) (oh.Result, error) {
			if err := ctx.Err(); err != nil {
				return oh.Result{}, err
			}
			res, hash, err := s.writeFile(call.Env, p, in)
			if err == nil {
				emit(seen(p, hash))
			}
			return res, err
		},
	}
	if old, _, err := s.ws.ReadFile(p, previewLimit); err == nil {
		if data, _, err := keepForm(old, in.Content); err == nil {
			act.Preview = diff(p.Path, old, data)
		}
	} else if errors.Is(err, fs.ErrNotExist) {
		act.Preview = diff(p.Path, nil, []byte(in.Content))
	}
	return act, nil
}

// isFile refuses a path that can only be that of a folder.
func isFile(path string) error {
	if path != "" && os.IsPathSeparator(path[len(path)-1]) {
		return fmt.Errorf("%s names a folder, as it ends in a slash; give the path of a file (its folders are made with it)", path)
	}
	return nil
}

func (s set) writeFile(env *oh.Env, p workspace.Place, in writeInput) (oh.Result, string, error) {
	defer s.ws.Lock(p)()
	old, info, err := s.ws.ReadFile(p, editLimit)
	missing := errors.Is(err, fs.ErrNotExist)
	var large *workspace.SizeError
	switch {
	case missing:
	case errors.As(err, &large):
		return oh.Result{}, "", fmt.Errorf("%s has %s bytes: too large to be compared with what was read; remove it first if it is to be replaced", p.Path, text.Number(int(large.Size)))
	case err != nil:
		return oh.Result{}, "", s.explain(p, err)
	default:
		if err := mayReplace(env, p, old, info, in.Content); err != nil {
			return oh.Result{}, "", err
		}
	}
	data, kept, err := keepForm(old, in.Content)
	if err != nil {
		return oh.Result{}, "", fmt.Errorf("write %s: %w", p.Path, err)
	}
	done, err := s.ws.WriteFile(p, data, workspace.WriteOptions{Parents: in.Parents, New: missing})
	if errors.Is(err, fs.ErrExist) {
		return oh.Result{}, "", fmt.Errorf("%s was created by something else just now; read it first", p.Path)
	}
	if err != nil {
		return oh.Result{}, "", err
	}
	d := diff(p.Path, old, data)
	verb := "Overwrote"
	if done.Created {
		verb = "Created"
	}
	msg := fmt.Sprintf("%s %s (%s).", verb, p.Path, text.Plural(lineCount(in.Content), "line"))
	if kept != "" {
		msg += " Kept its " + kept + "."
	}
	if done.InPlace != "" {
		msg += " Written in place: " + done.InPlace + "."
	}
	res := oh.TextResult(msg)
	res.Display = d
	res.Meta = meta(map[string]any{"path": p.Path, "created": done.Created, "added": d.Added, "removed": d.Removed})
	return res, workspace.Hash(data), nil
}

// mayReplace refuses to overwrite what the model has not seen.
func mayReplace(env *oh.Env, p workspace.Place, old []byte, info fs.FileInfo, content string) error {
	if len(old) == 0 || string(old) == content || env.Reads == nil {
		return nil
	}
	switch read, same := known(env, p, old, info); {
	case !read:
		return fmt.Errorf("%s exists and has not been read; read it first with read_file, or change a part of it with edit_file", p.Path)
	case !same:
		return fmt.Errorf("%s has changed since it was read; read it again before it is overwritten", p.Path)
	}
	return nil
}

// keepForm gives new content the form of the file it replaces: its byte order
// mark and UTF-16, its one-byte encoding, and CRLF when all its lines end so.
// kept names what was kept, "" when nothing had to be.
func keepForm(old []byte, content string) (data []byte, kept string, err error) {
	if len(old) == 0 {
		return []byte(content), "", nil
	}
	set := workspace.Sniff(old, true)
	if set == workspace.Binary {
		return []byte(content), "", nil
	}
	if err := noNUL("the new content", content); err != nil {
		return nil, "", err
	}
	var words []string
	plain := old
	if set == workspace.UTF16LE || set == workspace.UTF16BE {
		s, _ := workspace.DecodeUTF16(old, set)
		plain = []byte(s)
	}
	crlf := bytes.Count(plain, []byte("\r\n"))
	if crlf > 0 && crlf == bytes.Count(plain, []byte("\n")) {
		whole := strings.ReplaceAll(strings.ReplaceAll(content, "\r\n", "\n"), "\n", "\r\n")
		if whole != content {
			words = append(words, "CRLF line endings")
		}
		content = whole
	}
	content = strings.TrimPrefix(content, "\ufeff")
	data, ok := set.Encode(content)
	if !ok {
		return nil, "", fmt.Errorf("the file is %s, which lacks some of the new characters; nothing was changed", set)
	}
	if set != workspace.UTF8 {
		words = append(words, "encoding ("+set.String()+")")
	}
	return concat(set.Mark(), data), strings.Join(words, " and "), nil
}

func lineCount(s string) int {
	n := strings.Count(s, "\n")
	if s != "" && !strings.HasSuffix(s, "\n") {
		n++
	}
	return n
}
