package prompt

import (
	"crypto/sha256"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"unicode/utf8"

	"github.com/openharness/oh/internal/text"
)

//go:embed instructions.md
var instructionWords string

// origin says who wrote an instruction file.
type origin int

const (
	byAdmin origin = iota
	byPerson
	byProject
)

// doc is one instruction file that is in the prompt.
type doc struct {
	path string
	by   string // the file that imports it, "" when none does
	from origin
	text string
}

// gather collects instruction files, each once: by the file that a path leads
// to, and by content, so that a copy or link under another name counts too.
type gather struct {
	cfg   Config
	root  string // resolved
	seen  map[string]bool
	same  map[[sha256.Size]byte]bool
	docs  []doc
	rules []Rule
	full  bool // FilesMax was told
	warn  func(format string, args ...any)
}

func newGather(cfg Config, warn func(string, ...any)) *gather {
	return &gather{cfg: cfg, root: resolve(cfg.Root), warn: warn,
		seen: map[string]bool{}, same: map[[sha256.Size]byte]bool{}}
}

// instructions adds the instruction files: those of the administrator, of the
// person, and of each folder from the project root down to the working
// directory. Nothing above the root is looked at.
func (p *page) instructions(cfg Config) {
	g := newGather(cfg, p.warn)
	if cfg.Managed != "" {
		g.load(cfg.Managed, byAdmin)
	}
	if cfg.Config != "" {
		g.load(filepath.Join(cfg.Config, "CLAUDE.md"), byPerson)
	}
	if cfg.Home != "" {
		g.load(filepath.Join(cfg.Home, ".claude", "CLAUDE.md"), byPerson)
		g.loadRules(cfg.Home, byPerson)
	}
	for _, dir := range folders(cfg.Root, cfg.Dir) {
		g.folder(dir)
	}
	p.out.Rules = g.rules
	p.write(g.docs, instructionWords)
}

// folders lists the folders from root down to dir, both included; dir alone
// when it does not lie in root.
func folders(root, dir string) []string {
	root, dir = filepath.Clean(root), filepath.Clean(dir)
	if !within(dir, root) {
		if root, dir = resolve(root), resolve(dir); !within(dir, root) {
			return []string{dir}
		}
	}
	list := []string{dir}
	for dir != root {
		dir = filepath.Dir(dir)
		list = append(list, dir)
	}
	slices.Reverse(list)
	return list
}

// folder loads what one folder of the project has to say. AGENTS.md counts
// beside CLAUDE.md, unless that imports or equals it.
func (g *gather) folder(dir string) {
	g.load(filepath.Join(dir, "CLAUDE.md"), byProject)
	g.load(filepath.Join(dir, ".claude", "CLAUDE.md"), byProject)
	g.loadRules(dir, byProject)
	if !g.load(filepath.Join(dir, "AGENTS.override.md"), byProject) {
		g.load(filepath.Join(dir, "AGENTS.md"), byProject)
	}
	g.load(filepath.Join(dir, "CLAUDE.local.md"), byProject)
}

// load loads a file and what it imports, and reports whether it is there.
func (g *gather) load(path string, from origin) bool {
	if !g.exists(path) {
		return false
	}
	if real := resolve(path); g.allowed(real, from) {
		g.read(path, real, "", from, 0)
	} else {
		g.warn("%s: not loaded, as it links to %s outside of the project and the folder is not trusted", path, real)
	}
	return true
}

// exists reports whether there is something at path, a broken link included.
func (g *gather) exists(path string) bool {
	_, err := os.Lstat(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR) {
		g.warn("%s: not loaded: %v", path, bare(err))
	}
	return err == nil
}

// bare is err without the path, which the warning has.
func bare(err error) error {
	var perr *fs.PathError
	if errors.As(err, &perr) {
		return perr.Err
	}
	return err
}

// allowed tells whether a file may be read on behalf of another: a project
// reaches nothing outside of itself until its folder is trusted, as what is
// read goes to a model service.
func (g *gather) allowed(real string, from origin) bool {
	return from != byProject || g.cfg.Trusted || within(real, g.root)
}

func (g *gather) read(path, real, by string, from origin, hop int) {
	if g.seen[real] {
		return
	}
	if s, ok := g.text(path, real); ok {
		g.take(doc{path: path, by: by, from: from, text: s}, hop)
	}
}

// text reads a file that was not read before, as long as there are not too
// many.
func (g *gather) text(path, real string) (string, bool) {
	g.seen[real] = true
	if len(g.docs) >= FilesMax {
		if !g.full {
			g.warn("more than %d instruction files: %s and what follows are not loaded", FilesMax, path)
		}
		g.full = true
		return "", false
	}
	if g.cfg.Refuse != nil {
		if why := g.cfg.Refuse(real); why != "" {
			g.warn("%s: not loaded: %s", path, why)
			return "", false
		}
	}
	s, patched, err := readText(real)
	if err != nil {
		g.warn("%s: not loaded: %v", path, bare(err))
		return "", false
	}
	if patched {
		g.warn("%s: not valid UTF-8: the bytes that are wrong are shown as U+FFFD", path)
	}
	return s, true
}

// take keeps a document, unless there is the same already, and follows its
// imports.
func (g *gather) take(d doc, hop int) {
	d.text = strings.TrimSpace(d.text)
	if d.text == "" {
		return
	}
	sum := sha256.Sum256([]byte(d.text))
	if g.same[sum] {
		return
	}
	g.same[sum] = true
	g.docs = append(g.docs, d)
	for _, ref := range imports(d.text) {
		g.follow(d, ref, hop+1)
	}
}

// follow loads an import of d. What names no file is left alone: it may well
// be a user name or a package.
func (g *gather) follow(d doc, ref string, hop int) {
	path, ok := g.target(d, ref)
	if !ok {
		if ref = bareRef(ref); looksLikePath(ref) {
			g.warn("%s: imports @%s, which does not exist", d.path, ref)
		}
		return
	}
	real := resolve(path)
	switch {
	case g.seen[real]:
	case !g.allowed(real, d.from):
		g.warn("%s: the import @%s leads out of the project to %s and is not followed until the folder is trusted", d.path, ref, real)
	case hop > ImportHops:
		g.warn("%s: the import @%s is not followed: more than %d imports in a row", d.path, ref, ImportHops)
	case isDir(real):
		if looksLikePath(ref) {
			g.warn("%s: the import @%s is a folder", d.path, ref)
		}
	default:
		g.read(path, real, d.path, d.from, hop)
	}
}

// target is the file that ref names, with or without the punctuation that a
// sentence puts behind it.
func (g *gather) target(d doc, ref string) (string, bool) {
	for _, r := range []string{ref, bareRef(ref)} {
		path := r
		if rest, ok := strings.CutPrefix(r, "~/"); ok {
			if g.cfg.Home == "" {
				return "", false
			}
			path = filepath.Join(g.cfg.Home, rest)
		} else if !filepath.IsAbs(r) {
			path = filepath.Join(filepath.Dir(d.path), r)
		}
		if r == "" {
			continue
		}
		if _, err := os.Lstat(path); err == nil {
			return path, true
		}
	}
	return "", false
}

// bareRef is ref without the punctuation at its end.
func bareRef(ref string) string { return strings.TrimRight(ref, ".,;:!?)]}>'\"*_") }

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

func looksLikePath(ref string) bool {
	for _, start := range []string{"./", "../", "~/", "/"} {
		if strings.HasPrefix(ref, start) {
			return true
		}
	}
	return strings.HasSuffix(ref, ".md")
}

// write adds documents to the prompt within the limits.
func (p *page) write(docs []doc, intro string) {
	if len(docs) == 0 {
		return
	}
	p.add("instruction", "", intro)
	for i, room := range rooms(docs) {
		d := docs[i]
		head := "<file path=" + attr(d.path)
		if d.by != "" {
			head += " imported_by=" + attr(d.by)
		}
		p.add("instruction", d.path, head+">\n"+p.fit(d.path, d.text, room)+"\n</file>")
		p.out.Files = append(p.out.Files, d.path)
	}
}

// attr quotes a path for a tag; a quote inside would end it.
func attr(path string) string { return `"` + strings.ReplaceAll(value(path), `"`, "'") + `"` }

// rooms shares TotalMax among the documents, at most FileMax for each. The
// administrator and the person come first, then the folder nearest to the
// work.
func rooms(docs []doc) []int {
	order := make([]int, 0, len(docs))
	for i, d := range docs {
		if d.from != byProject {
			order = append(order, i)
		}
	}
	for i := len(docs) - 1; i >= 0; i-- {
		if docs[i].from == byProject {
			order = append(order, i)
		}
	}
	room := make([]int, len(docs))
	left := TotalMax
	for _, i := range order {
		room[i] = min(utf8.RuneCountInString(docs[i].text), FileMax, left)
		left -= room[i]
	}
	return room
}

// fit cuts the text of a file to room code points and says so to both sides.
func (p *page) fit(path, s string, room int) string {
	short, cut := cutAtLine(s, room)
	if !cut {
		return s
	}
	all := text.Number(utf8.RuneCountInString(s))
	if room == 0 {
		p.warn("%s: left out of the system prompt: the instruction files are longer than %s characters together", path, text.Number(TotalMax))
		return fmt.Sprintf("[left out for its length, %s characters; read the file when it matters]", all)
	}
	shown := text.Number(utf8.RuneCountInString(short))
	p.warn("%s: only the first %s of %s characters are in the system prompt", path, shown, all)
	return fmt.Sprintf("%s\n[cut here: the first %s of %s characters; read the file for the rest]", short, shown, all)
}
