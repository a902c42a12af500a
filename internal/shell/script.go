package shell

import (
	"strings"
)

// sed judges sed by its scripts: some of its commands write files or run
// programs.
func (r *reader) sed(c call, s state) Part {
	p := Part{Class: ReadOnly}
	var scripts, files []word
	inPlace := false
	bad := func(why string) {
		if p.Class != Unknown {
			p.Class, p.Reason = Unknown, why
		}
	}
	args := c.words[1:]
	for i := 0; i < len(args); i++ {
		v := args[i].val
		switch {
		case mayBeOption(args[i]):
			bad(args[i].text() + " may be an option")
		case v == "--":
			files = append(files, args[i+1:]...)
			i = len(args)
		case v == "-e" || v == "--expression":
			if i++; i < len(args) {
				scripts = append(scripts, args[i])
			}
		case strings.HasPrefix(v, "--expression="):
			scripts = append(scripts, word{val: v[len("--expression="):], src: args[i].src})
		case v == "--in-place" || strings.HasPrefix(v, "--in-place="):
			inPlace = true
		case v == "--quiet" || v == "--silent" || v == "--regexp-extended" || v == "--separate" || v == "--unbuffered" || v == "--null-data" || v == "--posix" || v == "--debug":
		case isOption(v):
			i = r.sedLetters(v, args, i, &scripts, &inPlace, bad)
		default:
			files = append(files, args[i])
		}
	}
	if len(scripts) == 0 && len(files) > 0 {
		scripts, files = files[:1], files[1:]
		if scripts[0].loose || strings.IndexByte(scripts[0].val, many) >= 0 {
			bad(scripts[0].text() + " may be several words")
		}
	}
	for _, w := range scripts {
		if !known(w.val) && !pattern(w.val) || !sedHarmless(show(w.val)) {
			bad("the sed script " + w.text() + " is not known to be harmless")
		}
	}
	r.touch(&p, s, files, nil)
	if inPlace {
		r.touch(&p, s, nil, files)
		if p.Class == ReadOnly {
			p.Class = Writes
		}
	}
	return p
}

func (r *reader) sedLetters(v string, args []word, i int, scripts *[]word, inPlace *bool, bad func(string)) int {
	for k := 1; k < len(v); k++ {
		switch v[k] {
		case 'n', 'E', 'r', 's', 'u', 'z':
		case 'i':
			*inPlace = true
			return i // the rest is a suffix
		case 'I':
			*inPlace = true
			return i
		case 'e', 'l':
			w := word{val: v[k+1:], src: args[i].src}
			if w.val == "" {
				if i++; i >= len(args) {
					return i
				}
				w = args[i]
			}
			if v[k] == 'e' {
				*scripts = append(*scripts, w)
			}
			return i
		default:
			bad("the option -" + v[k:k+1] + " of sed is not known to be harmless")
			return i
		}
	}
	return i
}

// sedHarmless reports whether a script only edits what goes through it. It
// takes a small part of the language and refuses the rest.
func sedHarmless(s string) bool {
	for i := 0; i < len(s); {
		switch c := s[i]; {
		case strings.IndexByte(" \t\n;{}!,~+$", c) >= 0 || c >= '0' && c <= '9':
			i++
		case c == '/' || c == '\\' && i+1 < len(s):
			if c == '\\' {
				i++
			}
			n, ok := sedUntil(s, i+1, s[i])
			if !ok {
				return false
			}
			for i = n; i < len(s) && (s[i] == 'I' || s[i] == 'M'); i++ {
			}
		case strings.IndexByte("pdqQ=nNDPgGhHxlz", c) >= 0:
			// What follows must not be read as the name of a file or a command.
			for i++; i < len(s) && (s[i] >= '0' && s[i] <= '9' || s[i] == ' '); i++ {
			}
			if i < len(s) && strings.IndexByte(";\n}", s[i]) < 0 {
				return false
			}
		case c == 's' || c == 'y':
			if i+1 >= len(s) || s[i+1] == '\\' || s[i+1] == '\n' {
				return false
			}
			n, ok := sedUntil(s, i+2, s[i+1])
			if ok {
				n, ok = sedUntil(s, n, s[i+1])
			}
			if !ok {
				return false
			}
			for i = n; i < len(s) && strings.IndexByte("gpiIm0123456789", s[i]) >= 0; i++ {
			}
			for i < len(s) && s[i] == ' ' {
				i++
			}
			if i < len(s) && strings.IndexByte(";\n}", s[i]) < 0 {
				return false
			}
		default:
			return false
		}
	}
	return true
}

// sedUntil finds what follows the next delimiter. In a bracket of a pattern it
// counts for some programs and not for others, so that is not taken.
func sedUntil(s string, i int, delim byte) (next int, ok bool) {
	for ; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case delim:
			return i + 1, true
		case '[':
			if end := strings.IndexByte(s[i:], ']'); end > 0 && strings.IndexByte(s[i:i+end], delim) >= 0 {
				return 0, false
			}
		case '\n':
			return 0, false
		}
	}
	return 0, false
}

// awk judges awk by its program: it must neither write nor run nor read on its
// own account.
func (r *reader) awk(c call, s state) Part {
	p := Part{Class: ReadOnly}
	var code *word
	var files []word
	args := c.words[1:]
	bad := func(why string) {
		if p.Class != Unknown {
			p.Class, p.Reason = Unknown, why
		}
	}
	for i := 0; i < len(args); i++ {
		v := args[i].val
		switch {
		case mayBeOption(args[i]):
			bad(args[i].text() + " may be an option")
		case code != nil:
			if v != "-" && !assignment(v) {
				files = append(files, args[i])
			}
		case v == "-F" || v == "-v":
			i++
		case strings.HasPrefix(v, "-F") || strings.HasPrefix(v, "-v"):
		case v == "--":
		case isOption(v):
			bad("the option " + args[i].text() + " of awk is not known to be harmless")
		default:
			code = &args[i]
		}
	}
	if code != nil && (!known(code.val) || !awkHarmless(code.val)) {
		bad("the awk program is not known to be harmless")
	}
	r.touch(&p, s, files, nil)
	return p
}

// awkHarmless looks for words and signs by which a program reaches out.
func awkHarmless(code string) bool {
	for _, s := range [...]string{"system", "getline", "ARGV", "ARGC", "ENVIRON", "PROCINFO", "@", "close", "fflush", "load"} {
		if strings.Contains(code, s) {
			return false
		}
	}
	if strings.Contains(strings.ReplaceAll(code, "||", ""), "|") {
		return false
	}
	return !strings.Contains(code, "print") || !strings.Contains(strings.ReplaceAll(code, ">=", ""), ">")
}

// tar judges tar by what it is to do with which archive.
func (r *reader) tar(c call, s state) Part {
	t := tarWords{}
	args := c.words[1:]
	for i := 0; i < len(args); i++ {
		v := args[i].val
		switch {
		case mayBeOption(args[i]):
			t.fault(args[i].text() + " may be an option")
		case strings.HasPrefix(v, "--"):
			i += t.long(args[i:])
		case i == 0 || isOption(v):
			i += t.letters(args[i:], v[0] == '-')
		default:
			t.files = append(t.files, args[i])
		}
	}
	p := Part{Class: ReadOnly}
	dir := []word{{val: ".", src: "."}}
	if len(t.dirs) > 0 {
		dir = t.dirs
	}
	switch t.mode {
	case 't':
		r.touch(&p, s, t.archive, nil)
	case 'c', 'r', 'u', 'A':
		p.Class = Writes
		reads := t.files
		if len(t.dirs) > 0 {
			reads = t.dirs
		}
		r.touch(&p, s, reads, t.archive)
	case 'x':
		if p.Class = Writes; t.print {
			p.Class, dir = ReadOnly, nil
		}
		r.touch(&p, s, t.archive, dir)
	default:
		t.fault("what tar is to do cannot be told")
	}
	if t.bad != "" {
		p.Class, p.Reason = Unknown, t.bad
	}
	return p
}

type tarWords struct {
	mode                 byte
	print                bool // to standard output
	archive, dirs, files []word
	bad                  string
}

func (t *tarWords) fault(why string) {
	if t.bad == "" {
		t.bad = why
	}
}

func (t *tarWords) letters(args []word, dash bool) (more int) {
	v := args[0].val
	if dash {
		v = v[1:]
	}
	for i := 0; i < len(v); i++ {
		switch c := v[i]; c {
		case 'c', 'x', 't', 'r', 'u', 'A':
			t.mode = c
		case 'O':
			t.print = true
		case 'v', 'z', 'j', 'J', 'Z', 'a', 'p', 'k', 'h', 'm', 'o', 'w', 'n', 'S', 'P':
		case 'f', 'C', 'T', 'X', 'b':
			var w word
			if dash && i+1 < len(v) {
				w = word{val: v[i+1:], src: args[0].src}
				i = len(v)
			} else if more++; more < len(args) {
				w = args[more]
			}
			t.value(c, w)
		default:
			t.fault("the option -" + v[i:i+1] + " of tar is not known to be harmless")
		}
	}
	return more
}

func (t *tarWords) value(c byte, w word) {
	switch c {
	case 'f':
		if strings.Contains(w.val, ":") {
			t.fault("the archive may be on another machine")
		}
		if w.val != "-" {
			t.archive = append(t.archive, w)
		}
	case 'C':
		t.dirs = append(t.dirs, w)
	case 'T', 'X':
		t.fault("which files tar takes stands in " + w.text())
	}
}

func (t *tarWords) long(args []word) (more int) {
	name, v, attached := strings.Cut(args[0].val, "=")
	w := word{val: v, src: args[0].src}
	take := func() {
		if !attached && len(args) > 1 {
			w, more = args[1], 1
		}
	}
	switch name {
	case "--create":
		t.mode = 'c'
	case "--extract", "--get":
		t.mode = 'x'
	case "--list":
		t.mode = 't'
	case "--to-stdout":
		t.print = true
	case "--file":
		take()
		t.value('f', w)
	case "--directory":
		take()
		t.value('C', w)
	case "--exclude", "--strip-components", "--transform", "--owner", "--group", "--mtime", "--sort", "--format":
		take()
		if name == "--transform" {
			t.fault("--transform changes the names of files")
		}
	case "--gzip", "--gunzip", "--bzip2", "--xz", "--zstd", "--verbose", "--wildcards", "--no-same-owner", "--no-same-permissions", "--auto-compress",
		"--numeric-owner", "--exclude-vcs", "--keep-old-files", "--overwrite", "--dereference", "--exclude-vcs-ignores", "--anchored":
	default:
		t.fault("the option " + name + " of tar is not known to be harmless")
	}
	return more
}

// dd judges dd by its operands.
func (r *reader) dd(c call, s state) Part {
	p := Part{Class: ReadOnly}
	for _, w := range c.words[1:] {
		key, v, ok := strings.Cut(w.val, "=")
		at := word{val: v, src: w.src}
		switch {
		case !ok || !known(key):
			p.Class, p.Reason = Unknown, w.text()+" is not known to be harmless"
		case key == "of":
			if p.Class == ReadOnly && !harmlessDevice(v) {
				p.Class = Writes
			}
			r.touch(&p, s, nil, []word{at})
		case key == "if":
			r.touch(&p, s, []word{at}, nil)
		}
	}
	return p
}
