package file

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/openharness/oh/internal/text"
)

const (
	patchFirst = "*** Begin Patch"
	patchLast  = "*** End Patch"
)

// wrapped is a patch as it was sent: its lines between the first and the last,
// and what of the text around it has a meaning.
type wrapped struct {
	lines   []string // from *** Begin Patch to before *** End Patch
	skipped int      // lines before them
	dir     string   // folder that a cd before the patch goes to, "" for none
}

// unwrap finds the patch in a text. Prose before it and a code fence are passed
// over. A shell command that feeds it to apply_patch is taken for what it
// does; anything else that it would do is refused, rather than left undone.
func unwrap(lines []string) (wrapped, error) {
	begin := slices.IndexFunc(lines, func(l string) bool { return strings.HasSuffix(strings.TrimSpace(l), patchFirst) })
	if begin < 0 {
		first := strings.TrimSpace(strings.Join(lines, "\n"))
		first, _, _ = strings.Cut(first, "\n")
		return wrapped{}, fmt.Errorf("the patch must begin with the line %s, not %q", patchFirst, text.Cut(first, 80))
	}
	before := slices.Clone(lines[:begin])
	if same := strings.TrimSuffix(strings.TrimSpace(lines[begin]), patchFirst); strings.TrimSpace(same) != "" {
		before = append(before, same)
	}
	all := len(before)
	before = slices.DeleteFunc(before, func(l string) bool { return strings.HasPrefix(strings.TrimSpace(l), "```") })
	fence := len(before) < all
	cmd := script{}
	if all > begin || slices.ContainsFunc(before, isCommand) {
		from := slices.IndexFunc(before, func(l string) bool { return isCommand(l) || !isProse(l) })
		var err error
		if cmd, err = parseScript(strings.Join(before[max(from, 0):], "\n")); err != nil {
			return wrapped{}, err
		}
	}
	end, err := cmd.end(lines, begin)
	if err != nil {
		return wrapped{}, err
	}
	for i, l := range lines[end+1:] {
		rest := strings.TrimSpace(l)
		if rest == "" || fence && rest == "```" || cmd.closes(rest) {
			continue
		}
		return wrapped{}, fmt.Errorf("line %d of the patch: %q follows %s; give nothing after the patch, and run a command by a call of its own; nothing was changed",
			end+i+2, text.Cut(rest, 80), patchLast)
	}
	return wrapped{lines: lines[begin:end], skipped: begin, dir: cmd.dir}, nil
}

// isCommand reports whether a line before a patch is for a shell.
func isCommand(line string) bool {
	words := strings.Fields(strings.TrimLeft(line, " \t("))
	if len(words) == 0 {
		return false
	}
	return strings.Contains(line, "<<") || strings.Contains(line, "&&") ||
		slices.Contains([]string{"apply_patch", "cd", "pushd", "bash", "sh", "zsh"}, words[0])
}

// isProse reports whether a line above a command is not for the shell: a
// sentence, a comment or nothing. In doubt it is a command.
func isProse(line string) bool {
	line = strings.TrimSpace(line)
	return line == "" || line[0] == '#' || strings.ContainsRune(":.!?", rune(line[len(line)-1]))
}

// script is a shell command around a patch.
type script struct {
	dir   string
	word  string // that ends the here-document, "" when there is none
	quote string // before *** Begin Patch on the same line
	outer bool   // a quote or parenthesis is open around the command
}

// parseScript reads the command up to the patch.
func parseScript(s string) (script, error) {
	var c script
	rest := strings.TrimSpace(s)
	if shell, after, ok := strings.Cut(rest, " "); ok && (shell == "bash" || shell == "sh" || shell == "zsh") {
		flags := strings.TrimLeft(after, "-lc ")
		if inner := strings.TrimLeft(flags, `"'`); len(inner)+1 == len(flags) {
			rest, c.outer = strings.TrimSpace(inner), true
		}
	}
	if inner, ok := strings.CutPrefix(rest, "("); ok {
		rest, c.outer = strings.TrimSpace(inner), true
	}
	for strings.HasPrefix(rest, "cd ") {
		dir, after, ok := plainCD(rest[len("cd "):])
		if !ok {
			return c, fmt.Errorf("%q before the patch is not understood: only cd FOLDER && apply_patch is; better, give the patch alone with the full paths of its files; nothing was changed", text.Cut(rest, 80))
		}
		c.dir, rest = below(c.dir, dir), after
	}
	feed := strings.TrimSpace(strings.TrimPrefix(rest, "apply_patch"))
	switch word, ok := strings.CutPrefix(feed, "<<"); {
	case ok:
		c.word = strings.Trim(strings.TrimPrefix(word, "-"), " \t'\"\\")
		if c.word != "" && !strings.ContainsAny(c.word, " \t\n'\"|;&<>") {
			return c, nil
		}
	case feed == "" && strings.HasPrefix(rest, "apply_patch"):
		return c, nil
	case (feed == `"` || feed == "'") && strings.HasPrefix(rest, "apply_patch"):
		c.quote = feed
		return c, nil
	}
	return c, fmt.Errorf("%q before the patch is a command that apply_patch does not run: give the patch alone, and run commands by a call of their own; nothing was changed", text.Cut(rest, 80))
}

// plainCD reads the folder after cd and what comes after && or the like.
func plainCD(s string) (dir, rest string, ok bool) {
	s = strings.TrimLeft(s, " ")
	if s != "" && (s[0] == '"' || s[0] == '\'') {
		if dir, rest, ok = strings.Cut(s[1:], s[:1]); !ok {
			return "", "", false
		}
	} else {
		i := strings.IndexAny(s, " \t\n;&")
		if i < 0 {
			return "", "", false
		}
		dir, rest = s[:i], s[i:]
	}
	if dir == "" || dir[0] == '-' || strings.ContainsAny(dir, "$`*?[]{}\\|<>()\"'&\n") {
		return "", "", false
	}
	rest = strings.TrimLeft(rest, " \t")
	for _, sep := range []string{"&&", ";", "\n"} {
		if after, ok := strings.CutPrefix(rest, sep); ok {
			return dir, strings.TrimSpace(after), true
		}
	}
	return "", "", false
}

// below is a path as seen from a folder; "" is the folder one is in.
func below(dir, path string) string {
	if dir == "" || path == "" || filepath.IsAbs(path) || path == "~" || strings.HasPrefix(path, "~/") {
		return path
	}
	slash := ""
	if strings.HasSuffix(path, "/") {
		slash = "/"
	}
	return filepath.Join(dir, path) + slash
}

// end returns the index of the last line of the patch.
func (c script) end(lines []string, begin int) (int, error) {
	for i := begin + 1; i < len(lines); i++ {
		line := strings.TrimRight(lines[i], " \t")
		if line == patchLast || i == len(lines)-1 && strings.TrimSpace(line) == patchLast {
			return i, nil
		}
		if tail, ok := strings.CutPrefix(line, patchLast); ok && c.quote != "" && strings.Trim(tail, `"')`) == "" {
			return i, c.escaped(lines[begin:i])
		}
	}
	return 0, errors.New("the patch does not end with the line *** End Patch: it was cut off, or the line is missing; nothing was changed")
}

// escaped refuses a quoted patch in which a shell would change characters: they
// may be meant as they stand.
func (c script) escaped(lines []string) error {
	signs := []string{`\"`, `\$`, "\\`", `\\`}
	if c.quote == "'" {
		signs = []string{`'\''`, `'"'"'`}
	}
	for i, l := range lines {
		for _, s := range signs {
			if strings.Contains(l, s) {
				return fmt.Errorf("line %d after %s holds %s, which has another meaning between quotes: give the patch alone, without apply_patch and quotes; nothing was changed", i, patchFirst, s)
			}
		}
	}
	return nil
}

// closes reports whether a line after the patch only ends the command.
func (c script) closes(line string) bool {
	if line == c.word && c.word != "" {
		return true
	}
	bare := strings.TrimRight(line, ` )"'`)
	return (c.outer || c.quote != "") && (bare == "" || bare == c.word)
}
