package shell

import (
	"slices"
	"strings"
)

// findTests are the words of find that only look, with the number of words that
// belong to them.
func findTests(name string) (words int, ok bool) {
	switch name {
	case "-a", "-and", "-o", "-or", "-not", "!", "(", ")", ",", "-print", "-print0", "-ls", "-prune", "-quit", "-depth", "-d", "-mount", "-xdev", "-follow",
		"-empty", "-true", "-false", "-readable", "-writable", "-executable", "-nouser", "-nogroup", "-daystart", "-noleaf", "-nowarn", "-warn",
		"-ignore_readdir_race", "-noignore_readdir_race", "-H", "-L", "-P", "-E", "-X", "-x", "-s":
		return 0, true
	case "-name", "-iname", "-path", "-ipath", "-wholename", "-iwholename", "-lname", "-ilname", "-regex", "-iregex", "-regextype", "-type", "-xtype",
		"-size", "-mtime", "-atime", "-ctime", "-mmin", "-amin", "-cmin", "-maxdepth", "-mindepth", "-perm", "-user", "-group",
		"-uid", "-gid", "-links", "-inum", "-used", "-fstype", "-printf", "-D", "-context", "-depth0":
		return 1, true
	case "-newer", "-anewer", "-cnewer", "-samefile":
		return 1, true
	}
	if strings.HasPrefix(name, "-newer") {
		return 1, true
	}
	return 0, strings.HasPrefix(name, "-O")
}

// finder is a find under way.
type finder struct {
	*reader
	state  state
	part   Part
	starts []word
	inner  [][]word // commands that it runs
}

// find looks at the expression of find: what it tests, writes and runs.
func (r *reader) find(c call, s state) {
	args := c.words[1:]
	starts, i := findStarts(args)
	if len(starts) == 0 {
		starts = []word{{val: ".", src: "."}}
	}
	f := finder{reader: r, state: s, part: Part{Class: ReadOnly}, starts: starts}
	for i < len(args) {
		i += f.step(args[i:])
	}
	r.touch(&f.part, s, starts, nil)
	r.add(c, s, f.part)
	for _, words := range f.inner {
		r.found(c, words, starts, s)
	}
}

// step reads one word of the expression with what belongs to it, and returns how
// many words that are.
func (f *finder) step(args []word) int {
	switch v := args[0].val; v {
	case "-exec", "-execdir", "-ok", "-okdir":
		end := 1
		for end < len(args) && args[end].val != ";" && (args[end].val != "+" || args[end-1].val != "{}") {
			end++
		}
		f.fault("find " + v + " runs a command")
		if end > 1 {
			f.inner = append(f.inner, args[1:end])
		}
		return end + 1
	case "-delete":
		f.writes(f.starts)
		return 1
	case "-fprint", "-fprint0", "-fprintf", "-fls":
		f.writes(args[1:min(2, len(args))])
		if v == "-fprintf" {
			return 3
		}
		return 2
	}
	return f.test(args)
}

func (f *finder) test(args []word) int {
	v := args[0].val
	n, ok := findTests(v)
	if !ok || mayBeOption(args[0]) && v != "!" {
		f.fault(args[0].text() + " is no test of find that is known to be harmless")
	}
	n = min(n+1, len(args))
	for _, w := range args[1:n] {
		if w.loose || strings.IndexByte(w.val, many) >= 0 {
			f.fault(w.text() + " may be several words")
		}
	}
	if strings.HasPrefix(v, "-newer") || v == "-samefile" || v == "-anewer" || v == "-cnewer" {
		f.touch(&f.part, f.state, args[1:n], nil)
	}
	return n
}

func (f *finder) fault(why string) {
	if f.part.Class != Unknown {
		f.part.Class, f.part.Reason = Unknown, why
	}
}

func (f *finder) writes(words []word) {
	if f.part.Class == ReadOnly {
		f.part.Class = Writes
	}
	f.touch(&f.part, f.state, nil, words)
}

// findStarts are the words before the expression.
func findStarts(args []word) (starts []word, n int) {
	for i, w := range args {
		switch v := w.val; {
		case v == "-H" || v == "-L" || v == "-P" || strings.HasPrefix(v, "-O"):
		case v != "" && (v[0] == '-' || v == "(" || v == "!"):
			return starts, i
		default:
			starts = append(starts, w)
		}
	}
	return starts, len(args)
}

// found looks at a command that find runs for each file.
func (r *reader) found(c call, words, starts []word, s state) {
	words = slices.Clone(words)
	for i, w := range words {
		if strings.Contains(w.val, "{}") {
			to := string(rune(one))
			if len(starts) == 1 && known(starts[0].val) {
				to = strings.TrimRight(starts[0].val, "/") + "/" + string([]byte{star, quest}) // some file below
			}
			words[i].val = strings.ReplaceAll(w.val, "{}", to)
		}
	}
	r.push(joinText(c.words), func() {
		r.invoke(call{words: words, in: stdin{heard: c.in.heard}, plain: true}, s)
	})
}
