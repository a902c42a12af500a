package shell

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestParts(t *testing.T) {
	for _, c := range []struct {
		line string
		want []Part
	}{
		{"cd src && sort -o ../out a.go > log", []Part{
			{Argv: []string{"cd", "src"}, Text: "cd src", Forms: []string{"cd src"}, Class: ReadOnly, Command: ReadOnly, Dir: "/ws"},
			{
				Argv: []string{"sort", "-o", "../out", "a.go"}, Text: "sort -o ../out a.go", Forms: []string{"sort -o ../out a.go"}, Class: Writes, Command: Writes,
				Reads: []string{"/ws/src/a.go"}, Writes: []string{"/ws/src/../out", "/ws/src/log"}, Redirects: []string{"/ws/src/log"}, Dir: "/ws/src",
			},
		}},
		{"x='a b'; rm $x \"$x\" \"$y\"", []Part{{
			Argv: []string{"rm", "a", "b", "a b", `"$y"`}, Unsure: []int{4}, Text: `rm a b 'a b' "$y"`, Forms: []string{`rm a b 'a b' "$y"`, `rm a b a b "$y"`, `rm $x "$x" "$y"`},
			Class: Unknown, Command: Unknown, Reason: `"$y" may be an option`, Writes: []string{"/ws/a", "/ws/b", "/ws/a b"}, Lost: []string{`"$y"`}, Dir: "/ws",
		}}},
		{"sudo timeout 5 /bin/rm x", []Part{
			{
				Argv: []string{"sudo", "timeout", "5", "/bin/rm", "x"}, Text: "sudo timeout 5 /bin/rm x", Forms: []string{"sudo timeout 5 /bin/rm x"},
				Reason: "sudo runs a command elsewhere or with other rights", Dir: "/ws",
			},
			{
				Argv: []string{"/bin/rm", "x"}, Text: "/bin/rm x", Forms: []string{"/bin/rm x", "rm x", "timeout 5 /bin/rm x", "sudo timeout 5 /bin/rm x"},
				Class: Writes, Command: Writes, Writes: []string{"/ws/x"}, Dir: "/ws", Within: true,
			},
		}},
		{"{ ls; } >>x 2>/dev/null", []Part{
			{Text: ">>x 2>/dev/null", Class: Writes, Command: ReadOnly, Writes: []string{"/ws/x"}, Redirects: []string{"/ws/x"}, Dir: "/ws"},
			{Argv: []string{"ls"}, Text: "ls", Forms: []string{"ls"}, Class: ReadOnly, Command: ReadOnly, Reads: []string{"/ws"}, Dir: "/ws"},
		}},
		{"GIT_DIR=x git -C sub log", []Part{{
			Argv: []string{"git", "-C", "sub", "log"}, Text: "git log", Forms: []string{"git log", "git -C sub log", "GIT_DIR=x git -C sub log"},
			Class: Unknown, Reason: "GIT_DIR is set before it", Reads: []string{"/ws/sub"}, Dir: "/ws/sub", Bare: "GIT_DIR is set before it",
		}}},
		{"cd a; cat x", []Part{
			{Argv: []string{"cd", "a"}, Text: "cd a", Forms: []string{"cd a"}, Class: ReadOnly, Command: ReadOnly, Dir: "/ws"},
			{Argv: []string{"cat", "x"}, Text: "cat x", Forms: []string{"cat x"}, Class: ReadOnly, Command: ReadOnly, Reads: []string{"/ws/a/x", "/ws/x"}},
		}},
	} {
		if diff := cmp.Diff(c.want, Analyse(c.line, here).Parts, cmp.FilterPath(func(p cmp.Path) bool { return p.Last().String() == ".exact" }, cmp.Ignore())); diff != "" {
			t.Errorf("%q (-want +got):\n%s", c.line, diff)
		}
	}
}

func TestPaths(t *testing.T) {
	for _, c := range []struct{ line, want string }{ // reads | writes, of all parts
		{"cat a b/../c ../d", "/ws/a /ws/b/../c /d |"},
		{"cat ~/x $HOME/y \"$PWD\"/z", "/home/u/x /home/u/y /ws/z |"},
		{"cat src/*.go", "/ws/src/*.go |"},
		{"grep x", "/ws |"},
		{"grep -f pats x", "/ws/pats /ws/x |"},
		{"cp a b c", "/ws/a /ws/b | /ws/c"},
		{"cp -t d a b", "/ws/a /ws/b | /ws/d"},
		{"cp --target-directory=d a", "/ws/a | /ws/d"},
		{"chmod u+x a b", " | /ws/a /ws/b"},
		{"tar -C out -xzf a.tgz", "/ws/a.tgz | /ws/out"},
		{"tar czf a.tgz src", "/ws/src | /ws/a.tgz"},
		{"curl -o out https://x", " | /ws/out"},
		{"curl -O https://x/y", " | /ws"},
		{"wget -P down https://x", " | /ws/down /ws"},
		{"sed -i s/a/b/ x y", "/ws/x /ws/y | /ws/x /ws/y"},
		{"dd if=a of=b", "/ws/a | /ws/b"},
		{"unzip a.zip", "/ws/a.zip | /ws"},
		{"unzip a.zip -d d", "/ws/a.zip | /ws/d"},
		{"(cd sub; touch x); touch y", " | /ws/sub/x /ws/x /ws/y"},
		{"cd sub && touch x", " | /ws/sub/x"},
		{"cd sub && cd .. && touch x", " | /ws/x"},
		{"cd $x; touch y", " |"},
		{"cd /tmp && echo a >b", " | /tmp/b"},
		{"pushd sub >/dev/null && touch x", " | /ws/sub/x"},
		{"for f in a b; do echo >$f; done", " | /ws/a /ws/b"},
		{"find src -name x -delete", "/ws/src | /ws/src"},
		{"cat <x 2>y", "/ws/x | /ws/y"},
		{"ls >/dev/null 2>&1 </dev/null", "/ws |"},
		{"rsync -a a/ b/", "/ws/a | /ws/b"},
		{"git diff -- ../x", "/x /ws |"},
	} {
		var reads, writes []string
		for _, p := range Analyse(c.line, here).Parts {
			reads = append(reads, p.Reads...)
			writes = append(writes, p.Writes...)
		}
		if got := strings.TrimRight(strings.Join(reads, " ")+" | "+strings.Join(writes, " "), " "); got != c.want {
			t.Errorf("%q: %s, want %s", c.line, got, c.want)
		}
	}
}

func TestSuggest(t *testing.T) {
	for _, c := range []struct{ line, want string }{
		{"git diff", ""},
		{"git add x && git commit -m 'a b'", "Bash(git add:*) Bash(git commit:*)"},
		{"go test ./... | tail -5", "Bash(go test:*)"},
		{"npm run lint -- --fix", "Bash(npm run lint:*)"},
		{"make", "Bash(make)"},
		{"make test", "Bash(make test:*)"},
		{"python3 x.py", "Bash(python3 x.py)"},
		{"git push", "Bash(git push)"},
		{"rm a", "Bash(rm a)"},
		{"rm $x", ""},
		{"rm -rf /", ""},
		{"$x y", ""},
		{"sort --compress-program=x y", "Bash(sort --compress-program=x y)"},
		{"PATH=x make", ""},
		{"mkdir -p a/b", "Bash(mkdir:*)"},
		{"a; b; c; d; e", "Bash(a) Bash(b) Bash(c) Bash(d) Bash(e)"},
		{"a; b; c; d; e; f", ""},
		{"a; a; a; b; c; d; e", "Bash(a) Bash(b) Bash(c) Bash(d) Bash(e)"},
		{"bash -c 'go vet'", "Bash(go vet:*)"},
		{"foo '*'", ""},
	} {
		a := Analyse(c.line, here)
		if got := strings.Join(a.Suggest(), " "); got != c.want {
			t.Errorf("%q: %s, want %s", c.line, got, c.want)
		}
	}
}

func TestMoves(t *testing.T) {
	for line, want := range map[string]bool{"ls": false, "cd src && ls": true, "command cd x": true, "echo cd": false, "eval 'cd x'": true, "x=cd; $x y": true} {
		if got := Analyse(line, here).Moves; got != want {
			t.Errorf("%q: %v", line, got)
		}
	}
}

func TestVariables(t *testing.T) {
	for name, want := range map[string]bool{"PATH": true, "LD_PRELOAD": true, "GIT_DIR": true, "MAN_PAGER": true, "FOO": false, "LANG": false, "GOOS": false, "GOFLAGS": true, "CFLAGS": true, "https_proxy": true} {
		if got := unsafeVariable(name); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// What could blow up is bounded, and then needs a person.
func TestHostile(t *testing.T) {
	for name, s := range map[string]string{
		"substitutions": strings.Repeat("$(", 50000),
		"closed":        strings.Repeat("$(", 300) + "a" + strings.Repeat(")", 300),
		"wrappers":      strings.Repeat("nice ", 20000) + "ls",
		"shells":        strings.Repeat("bash -c ", 20000),
		"loops":         strings.Repeat("while a; do ", 30) + "x=1" + strings.Repeat("; done", 30),
		"fors":          strings.Repeat("for i in 1 2 3 4 5 6 7 8; do ", 12) + "a $i" + strings.Repeat("; done", 12),
		"calls":         "a() { b; b; }; b() { c; c; }; c() { d; d; d; }; d() { a; a; a; }; a",
		"doubling":      "x=aa; " + strings.Repeat("x=$x$x; ", 40) + "$x",
		"braces":        "ls " + strings.Repeat("{a,b}", 30),
		"words":         strings.Repeat("a ", 60000),
		"groups":        strings.Repeat("(a)|", 20000) + "(a)",
		"evals":         strings.Repeat("eval ", 5000) + "ls",
		"quotes":        strings.Repeat("bash -c '", 50) + strings.Repeat("'", 50),
		"documents":     strings.Repeat("cat <<E |", 2000) + "cat\n" + strings.Repeat("x\nE\n", 2000),
		"long":          strings.Repeat("x", 200000),
	} {
		start := time.Now()
		a := Analyse(s, here)
		if took := time.Since(start); took > 5*time.Second || a.ReadOnly() {
			t.Errorf("%s: read-only %v, after %s", name, a.ReadOnly(), took)
		} else {
			t.Log(name, took)
		}
	}
}

func BenchmarkAnalyse(b *testing.B) {
	for name, line := range map[string]string{
		"short":  "git status",
		"usual":  "cd src && go build ./... 2>&1 | tail -n 20 && git status --short",
		"longer": `for f in $(git ls-files '*.go'); do if grep -q "TODO" "$f"; then echo "$f: $(grep -c TODO "$f")"; fi; done | sort -t: -k2 -n | tail -20`,
		"commit": "git add -A && git commit -m \"$(cat <<'EOF'\nengine: answer interrupted calls\n\nThe body says why.\nEOF\n)\"",
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Analyse(line, here)
			}
		})
	}
}
