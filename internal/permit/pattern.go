package permit

import (
	"errors"
	"path/filepath"
	"runtime"
	"strings"
	"unicode/utf8"
)

// anchor says what a path pattern is relative to.
type anchor int

const (
	atDir  anchor = iota // the conversation's directory: x, ./x
	atRoot               // the workspace root: /x
	atHome               // ~/x
	atTop                // the file system: //x
)

// pattern is a path pattern in gitignore's manner: * and ? within one level, **
// over any number of levels. A pattern whose last level has no wildcard also
// covers what lies below it; one of a single level matches at any depth.
type pattern struct {
	anchor anchor
	levels []string
}

// parsePattern reads the spec of a path rule.
func parsePattern(spec string) (pattern, error) {
	s := strings.TrimSpace(spec)
	if runtime.GOOS == "windows" {
		s = slashed(s)
	}
	p := pattern{}
	switch {
	case s == "" || strings.HasPrefix(s, "!"):
		return p, errors.New("want a path pattern, such as /src/** or ~/notes/*.md (! is not supported)")
	case filepath.VolumeName(filepath.FromSlash(s)) != "" && !strings.HasPrefix(s, "//"):
		p.anchor = atTop
	case strings.HasPrefix(s, "//"):
		p.anchor, s = atTop, s[2:]
	case s == "~" || strings.HasPrefix(s, "~/"):
		p.anchor, s = atHome, strings.TrimPrefix(s[1:], "/")
	case strings.HasPrefix(s, "/"):
		p.anchor, s = atRoot, s[1:]
	}
	floating := p.anchor == atDir && !strings.HasPrefix(s, "./") && !strings.Contains(strings.TrimSuffix(s, "/"), "/")
	for l := range strings.SplitSeq(s, "/") {
		switch l {
		case "", ".":
		case "..":
			return p, errors.New("a path pattern cannot hold ..")
		default:
			p.levels = append(p.levels, l)
		}
	}
	if floating && len(p.levels) > 0 {
		p.levels = append([]string{"**"}, p.levels...)
	}
	if n := len(p.levels); n == 0 || !strings.ContainsAny(p.levels[n-1], "*?[") {
		p.levels = append(p.levels, "**")
	}
	return p, nil
}

// slashed turns the separators of a Windows path into slashes, and
// C:/x into /C:/x, so that every absolute path begins with a slash.
func slashed(path string) string {
	return strings.ReplaceAll(path, `\`, "/")
}

// under returns the part of path below base, as slash-separated levels.
func under(base, path string) (rel string, ok bool) {
	if base == "" {
		return "", false
	}
	rel, ok = strings.CutPrefix(path, base)
	switch {
	case !ok:
		return "", false
	case rel == "" || base[len(base)-1] == filepath.Separator:
	case rel[0] == filepath.Separator:
		rel = rel[1:]
	default:
		return "", false // a sibling whose name begins alike
	}
	return filepath.ToSlash(rel), true
}

// match reports whether the path below base fits the pattern.
func (p pattern) match(base, path string, fold bool) bool {
	if fold {
		base, path = strings.ToLower(base), strings.ToLower(path)
	}
	rel, ok := under(base, path)
	return ok && matchLevels(p.levels, rel, fold)
}

// matchTop matches an absolute pattern on any volume.
func (p pattern) matchTop(path string, fold bool) bool {
	if fold {
		path = strings.ToLower(path)
	}
	return matchLevels(p.levels, strings.TrimPrefix(filepath.ToSlash(path), "/"), fold)
}

// matchLevels matches level by level, trying the last ** again with one level
// more whenever the rest does not fit: time is bounded by the product of the
// lengths.
func matchLevels(pat []string, rel string, fold bool) bool {
	var levels []string
	if rel != "" {
		levels = strings.Split(rel, "/")
	}
	i, j, star, mark := 0, 0, -1, 0
	for j < len(levels) {
		switch {
		case i < len(pat) && pat[i] == "**":
			star, mark = i, j
			i++
		case i < len(pat) && glob(pat[i], levels[j], true, fold):
			i++
			j++
		case star >= 0:
			mark++
			i, j = star+1, mark
		default:
			return false
		}
	}
	for i < len(pat) && pat[i] == "**" {
		i++
	}
	return i == len(pat)
}

// glob is a shell glob over the whole of s: * ? [set] [!set]. With escape a
// backslash takes the next character as it is.
func glob(pat, s string, escape, fold bool) bool {
	if fold {
		pat, s = strings.ToLower(pat), strings.ToLower(s)
	}
	i, j, star, mark := 0, 0, -1, 0
	for j < len(s) {
		if i < len(pat) && pat[i] == '*' {
			star, mark = i, j
			i++
			continue
		}
		if n, w := globOne(pat[i:], s[j:], escape); w > 0 {
			i, j = i+n, j+w
			continue
		}
		if star < 0 {
			return false
		}
		_, w := utf8.DecodeRuneInString(s[mark:])
		mark += w
		i, j = star+1, mark
	}
	for i < len(pat) && pat[i] == '*' {
		i++
	}
	return i == len(pat)
}

// globOne matches one element of the pattern with one character. It returns
// what both take in bytes; 0 for no match.
func globOne(pat, s string, escape bool) (n, w int) {
	if pat == "" {
		return 0, 0
	}
	c, w := utf8.DecodeRuneInString(s)
	switch {
	case pat[0] == '?':
		return 1, w
	case pat[0] == '[':
		if n, in := globSet(pat, c); n > 0 {
			if in {
				return n, w
			}
			return 0, 0
		}
	case pat[0] == '\\' && escape && len(pat) > 1:
		p, n := utf8.DecodeRuneInString(pat[1:])
		if p == c {
			return n + 1, w
		}
		return 0, 0
	}
	p, n := utf8.DecodeRuneInString(pat)
	if p == c && pat[:n] == s[:w] {
		return n, w
	}
	return 0, 0
}

// globSet reads [set] at the head of pat; n is 0 when it is not closed, and the
// bracket then stands for itself.
func globSet(pat string, c rune) (n int, in bool) {
	rest := pat[1:]
	not := strings.HasPrefix(rest, "!") || strings.HasPrefix(rest, "^")
	if not {
		rest = rest[1:]
	}
	for first := true; rest != "" && (first || rest[0] != ']'); first = false {
		lo, w := utf8.DecodeRuneInString(rest)
		rest = rest[w:]
		hi := lo
		if len(rest) > 1 && rest[0] == '-' && rest[1] != ']' {
			hi, w = utf8.DecodeRuneInString(rest[1:])
			rest = rest[1+w:]
		}
		in = in || lo <= c && c <= hi
	}
	if rest == "" {
		return 0, false
	}
	return len(pat) - len(rest) + 1, in != not
}

// escapeGlob returns s as a pattern that matches only itself.
func escapeGlob(s string) string {
	return strings.NewReplacer(`*`, `\*`, `?`, `\?`, `[`, `\[`, `\`, `\\`).Replace(s)
}
