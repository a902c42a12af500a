package shell

import (
	"bytes"
	"context"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// programs that are real in a trace, because they run others; all else is a
// stub that only writes down its words.
var realPrograms = []string{"bash", "sh", "env", "xargs", "timeout", "nice", "nohup", "stdbuf", "setsid", "ionice", "taskset", "chrt", "flock"}

// unfit are lines that must not be run even with stubs, or never end.
var unfit = regexp.MustCompile(`/dev/[st]|kill|/bin|/usr|/etc|/tmp|/ws|while |until |select |coproc|PATH|LD_PRELOAD|enable|fork|~|\$HOME|busybox|-lc|x\.sh`)

// more lines for the trace, beyond those of the table.
var traced = []string{
	"a=1; b=$a; touch x$b", `for i in 1 2 3; do for j in a b; do touch $i$j; done; done`, `f() { g "$@"; }; g() { touch "$1"; }; f q`,
	`x=a; [ -n "$x" ] && touch $x || rm y`, `if [ -d x ]; then rm x; else mkdir x; fi`, `set -- p q; touch $2 "$1"`, `touch a{1..3}{x,y}`, "touch 'a b' \"c d\" e\\ f",
	`x='p q'; touch $x; touch "$x"`, "cat <<E | xargs touch\na b\nE", "echo 'touch M' | bash", `bash -c 'bash -c "touch deep"'`, `bash -c 'touch "$1" "$2"' _ p "q r"`,
	"eval 'for i in 1 2; do touch $i; done'", "trap 'touch end' EXIT; ls", "touch $'a\\tb' $'\\x41'", `case abc in a*) touch yes;; *) touch no;; esac`,
	"ls | { read x; touch y; }", "(touch a; (touch b)) & wait", "! touch a", "time touch a", "touch a >out 2>&1 <<<in", "x=touch y=z; $x $y",
	"timeout 5 env A=b nice -n 1 touch deep", "echo a b | xargs -n1 touch", "echo a b | xargs -I{} touch x{}", "unset x; touch ${x:-q}", `touch "$(echo a)"`,
	"f() { touch $#; }; f a b", "touch a;touch b&&touch c||touch d|touch e", "[[ a == b ]] || touch c", "((1)) && touch c", "for ((i=0;i<2;i++)); do touch $i; done",
	"x=ls; x=rm; $x q", "x=ls; (x=rm); $x q", "x=ls; { x=rm; }; $x q", "x=ls; true && x=rm; $x q", "x=ls; echo | x=rm; $x q", "x=ls; if true; then x=rm; fi; $x q",
	"x=ls; f() { x=rm; }; f; $x q", "x=ls; for x in rm; do :; done; $x q", "x=ls; eval 'x=rm'; $x q", "x=ls; for i in 1 2; do $x q; x=rm; done", "x=ls; read x <<< rm; $x q",
	"x=ls; printf -v x rm; $x q", "x=ls; unset x; $x rm", "x=rm ls; $x q", "x=ls; x=rm eval '$x q'", "x=ls; declare x=rm; $x q", "x=ls; export x=rm; $x q", "x=ls; x+=of; $x q",
	"x=ls; while :; do $x q; x=rm; [ -e n ] && break; touch n; break; done", "ls() { rm \"$@\"; }; ls q; command ls q", "x=(rm ls); $x q", "${x:=rm} q", ": ${x:=rm}; $x q",
	"x=ls; : ${x:+$(touch w)}", "echo ${x:-'$(touch w)'}", `echo "${x:-$(touch w)}"`, `echo "${x:-'$(touch w)'}"`, "cat <<E\n${x:-'$(touch w)'}\nE", "echo `echo \\`touch w\\``",
	"n='a[$(touch w)]'; echo $((n))", "n='a[$(touch w)]'; [[ n -eq 1 ]]", "n='a[$(touch w)]'; x=${a[n]}", "n='a[$(touch w)]'; let n", "test -v 'a[$(touch w)]'", "printf -v 'a[$(touch w)]' q",
	"n='$(touch w)'; echo ${n@P}", "n=m m='a[$(touch w)]'; echo ${!m}", "PS4='$(touch w)'; set -x; ls", "declare -n r=x; r=touch; $x w", "alias q=touch; q w", "shopt -s expand_aliases\nalias q=touch\nq w",
	"!(touch w)", "echo {touch,w}", "{touch,w}", "x={touch,w}; $x", "touch a{b", "touch a}b", "touch {a", "touch {a,b}{c,d", "touch {}", "touch {a}", "touch {a,b", "touch \"{a,b}\"", "touch {a,'b c'}", "touch x{,y}",
	"touch {1..3..2}", "touch {3..1}", "touch {a..c}", "touch {01..03}", "touch $(echo a b)", "touch ~+/a", "a=~+; touch $a", "touch a=~+", "set -f; touch *", "touch [a", "touch a] [b]",
	"echo a#b; touch c #d", "echo 'it''s'; touch a", "touch a\\\nb", "touch \\\n a", "if false; then :; elif touch a; then touch b; fi", "case x in x) touch a;& y) touch b;; z) touch c;; esac",
	"case x in x) touch a;;& *) touch b;; esac", "function f { touch a; }; f", "f() (touch a); f", "f() { touch a; } >out; f", "f() { shift; touch $1; }; f a b", "f() { set -- z; touch $1; }; f a",
	"exec touch a; touch b", "command -p touch a", "builtin touch a", "touch a; exit; touch b", "touch a || touch b; touch c", "env -u X touch a", "env -i PATH=\"$PATH\" touch a",
	"xargs touch <<< 'a b'", "bash <<< 'touch a'", "bash <<'E'\ntouch $0\nE", "sh -c 'touch a' b", "sh -c 'touch $0' b", "bash -ec 'touch a'", "bash -c -e 'touch a'", "bash -xc 'touch a' 2>out", "bash -o pipefail -c 'touch a'",
	"sh -c 'touch {a,b}'", "sh -c \"touch \\$'a'\"", "mapfile -C touch -c 1 x <<< a", "readarray x < /dev/null; touch $x", "getopts a x -a; $x touch", "IFS=o; x=tooouch; $x a", "x='touch a;touch b'; $x", "x='*'; touch $x; touch \"$x\"",
	"cd sub 2>/dev/null; touch a", "mkdir a && cd a && touch b", "pushd . >out; touch a; popd >out", "touch \"$PWD\"", "touch $(pwd)", "f() { local x=touch; $x a; }; f; $x b", "x=1; touch a$((x+1))b", "touch ${#x}", "x=abc; touch ${x:1}",
	"x=abc; touch ${x%c} ${x#a} ${x/b/z} ${x^^}", "x=touch; y=x; ${!y} a", "coproc touch a; wait", "touch <(ls)", "ls > >(touch a); wait", "x=$(touch a; echo ls); $x q", "while read -r l; do touch $l; done <<< 'p q'", "until touch a; do :; done",
	"echo \"a$(touch b \"c d\")e\"", "echo \"$(echo \"$(touch a)\")\"", "echo $(case x in x) touch a;; esac)", "echo $(( 1 + $(touch a) ))", "(( x = 1 )); touch $x", "[[ -n $(touch a) ]]", "[[ x =~ (x|$(touch a)) ]]", "x=([0]=touch); ${x[0]} a",
	"printf '%s\\n' touch a | bash", "cat <<E | bash\ntouch a\nE", "echo touch a | tee out | bash", "a() { b; }; b() { touch c; }; a", "a() { touch x; }; unset -f a; a", "time -- touch a", "time -p -- touch a", "! time touch a", "for x; do touch $x; done", "while touch a; do break; done", ">f touch a", "a=1 >f touch b", ">f a=1 touch b", "case x in (x) touch a;; esac",
	"case x in x) touch a; esac", "{ touch a; } 2>&1 | touch b", "touch $(<f)", "a=(touch m); \"${a[@]}\"", "\"t\"o\"u\"ch a", "t\\\nouch a", "to\"\"uch a", "touch\ta",
	"x=ls; for i in 1; do x=rm; continue; x=ls; done; $x q", "x=ls; f() { x=rm; return; x=ls; }; f; $x q", "x=ls; for i in 1 2; do for j in 1 2; do x=rm; break 2; done; x=ls; done; $x q", "x=ls; while x=rm; false; do :; done; $x q",
	"x=; : ${x:=rm}; $x q", "unset RANDOM; RANDOM=rm; $RANDOM q", "x=ls; trap 'x=rm' DEBUG; $x q", "trap '$x q' EXIT; x=rm", "x=ls; trap '$x q' EXIT; x=rm", "x=ls; f() { $x q; }; x=rm; f", "x=ls; f() { x=rm; }; g() { $x q; }; f; g",
	"x=rm; [[ a ]] || x=ls; $x q", "x=rm; { x=ls; } & wait; $x q", "x=rm; (x=ls); $x q", "x=rm; y=$(x=ls; echo); $x q", "x=ls; y=rm; x=$y y=$x; $x q; $y q", "x=ls; x=rm true; $x q", "x=ls; x=rm f() { :; }; $x q", "x=ls; command read x <<< rm; $x q",
	"x=ls; builtin eval x=rm; $x q", "x=ls; case a in a) x=rm;; esac; $x q", "x=ls; until x=rm; do :; done; $x q", "x=ls; if x=rm; then :; fi; $x q", "x=ls; ! x=rm; $x q", "x=ls; time x=rm; $x q", "x=ls; true | { x=rm; }; $x q", "x=ls; coproc { x=rm; }; $x q",
	"x=ls; getopts rm x; $x q", "x=ls; select x in rm; do break; done <<< 1; $x q", "x=ls; set -- rm; $1 q", "set -- rm; f() { $1 q; }; f ls; $1 q", "f() { set -- rm; }; set -- ls; f; $1 q", "shift; set -- a rm; shift; $1 q",
	"x=ls; local x=rm; $x q", "f() { local x=rm; g; }; g() { $x q; }; x=ls; f; g", "f() { (x=rm); $x q; }; x=ls; f", "exit 0; touch a", "f() { exit; }; f; touch a", "x=ls; ((x=5)); $x q", "x=ls; eval \"x=rm\"; $x q", "x=\"rm q\"; $x; \"$x\"",
	"export x=rm; bash -c '$x q'", "x=rm bash -c '$x q'", "bash -c 'touch ${1:-d}'", "bash -c 'touch \"$@\"' _ a 'b c'", "bash -c 'touch $#' _ a", "xargs -I{} bash -c 'touch {}' <<< a", "xargs bash -c 'touch \"$0\"' <<< a", "xargs env X=1 touch <<< a",
	"g() { x=rm; } && for i in 1 2; do $x q; done", "time { x=rm; }; $x q", "coproc x=ls && x=rm; $x q", "f() { [ $1 = a ] && f b; touch $1; }; f a", "bash -c '$0 q' rm",
	"echo a; }; touch b", "touch a\n)\ntouch b", "touch a; (", "ls\rtouch a",
}

// stubs makes a folder of programs for the words of the lines.
func stubs(t *testing.T, lines []string) string {
	t.Helper()
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("no bash here")
	}
	dir := t.TempDir()
	for _, name := range realPrograms {
		if p, err := exec.LookPath(name); err == nil {
			if err := os.Symlink(p, filepath.Join(dir, name)); err != nil {
				t.Skip("no symbolic links here:", err)
			}
		}
	}
	script := "#!" + bash + "\nprintf '%s\\0' \"${0##*/}\" \"$@\" $'\\001' >>\"$TRACE\"\n"
	words := regexp.MustCompile(`[A-Za-z][A-Za-z0-9_.+-]*`)
	for _, l := range lines {
		for _, w := range words.FindAllString(l, -1) {
			p := filepath.Join(dir, w)
			if _, err := os.Lstat(p); err == nil {
				continue
			}
			if err := os.WriteFile(p, []byte(script), 0o755); err != nil {
				t.Fatal(err)
			}
		}
	}
	return dir
}

// run runs a line under bash and returns what its stubs were called with, and
// the files that were made.
func run(t *testing.T, line, path, dir string) (calls [][]string, made []string) {
	t.Helper()
	trace := filepath.Join(t.TempDir(), "trace")
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, filepath.Join(path, "bash"), "-c", line)
	cmd.Dir = dir
	cmd.Env = []string{"PATH=" + path, "TRACE=" + trace, "HOME=" + dir}
	cmd.WaitDelay = time.Second
	_, _ = cmd.CombinedOutput() // most lines fail somewhere, which is no matter
	raw, err := os.ReadFile(trace)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	for rec := range bytes.SplitSeq(raw, []byte("\x01\x00")) {
		if len(rec) > 0 {
			calls = append(calls, strings.Split(strings.TrimSuffix(string(rec), "\x00"), "\x00"))
		}
	}
	err = filepath.WalkDir(dir, func(p string, _ fs.DirEntry, err error) error {
		if err == nil && p != dir {
			made = append(made, p)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return calls, made
}

// named reports whether a part may be this very call.
func named(p Part, call []string) bool {
	if len(p.Argv) == 0 || commandName(p.Argv[0]) != call[0] && !slices.Contains(p.Unsure, 0) {
		return false
	}
	return wordsFit(p, 1, call[1:])
}

// wordsFit tries an unsure word as none, one or several.
func wordsFit(p Part, i int, call []string) bool {
	if i == len(p.Argv) {
		return len(call) == 0
	}
	if slices.Contains(p.Unsure, i) {
		for n := 0; n <= len(call); n++ {
			if wordsFit(p, i+1, call[n:]) {
				return true
			}
		}
		return false
	}
	if len(call) == 0 {
		return false
	}
	if strings.HasPrefix(p.Argv[i], "/dev/fd/") && strings.HasPrefix(call[0], "/dev/fd/") {
		return wordsFit(p, i+1, call[1:])
	}
	ok, _ := filepath.Match(p.Argv[i], call[0])
	return (ok || p.Argv[i] == call[0] || strings.ContainsRune(p.Argv[i], '0')) && wordsFit(p, i+1, call[1:])
}

// What runs is among what the analysis names, and a line that is called
// read-only leaves no file behind.
func TestTrace(t *testing.T) {
	lines := slices.Clone(traced)
	for _, c := range tableCases(t) {
		if !unfit.MatchString(c.line) && !strings.Contains(c.want, "!") && !strings.ContainsRune(c.line, 0) {
			lines = append(lines, c.line)
		}
	}
	path := stubs(t, lines)
	compared := 0
	for _, line := range lines {
		dir, err := filepath.EvalSymlinks(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		a := Analyse(line, Place{Dir: dir, Home: dir, Roots: []string{dir}})
		calls, made := run(t, line, path, dir)
		if len(made) > 0 && a.ReadOnly() {
			t.Errorf("%q is called read-only and makes %v", line, made)
		}
		if a.Obscure != "" {
			continue
		}
		for _, call := range calls {
			compared++
			if !slices.ContainsFunc(a.Parts, func(p Part) bool { return named(p, call) }) {
				t.Errorf("%q runs %q, which is not among:", line, call)
				for _, p := range a.Parts {
					t.Logf("   %s %q", p.Class, p.Argv)
				}
			}
		}
		for _, m := range made {
			if !slices.ContainsFunc(a.Parts, func(p Part) bool {
				return len(p.Lost) > 0 || slices.ContainsFunc(p.Writes, func(w string) bool { return under(filepath.Clean(w), m) || pathFits(w, m) })
			}) {
				t.Errorf("%q makes %s, which is not among what it writes", line, m)
			}
		}
	}
	if compared < 250 {
		t.Errorf("only %d calls were compared", compared)
	}
	t.Logf("%d lines, %d calls", len(lines), compared)
}

func pathFits(pat, path string) bool {
	ok, _ := filepath.Match(pat, path)
	return ok
}
