package proc

import "testing"

func TestStays(t *testing.T) {
	for _, command := range []string{
		"true", "ls", "ls -la .", "go test ./... 2>&1 | tail -5", "go vet . && go build .", "git commit -m 'a message (of mine)'",
		`grep -rn "func main" --include=*.go src/`, `grep 'a\.b' file.txt`, "ls src/*", "ls *.txt", "make -j2; echo done", "sleep 5 & wait",
		"git status --short", "cat <<'E'\ntext\nE\n", "(exit 3)", "python3 -c 'print(1)'", "echo 'größer' >out.txt", "exec ls", "",
	} {
		want := command != "go vet . && go build ." // a dot before other words is doubtful
		if got := stays(command, []string{"PATH=/bin", "BASH=x"}); got != want {
			t.Errorf("%q: %v", command, got)
		}
	}
	for _, command := range []string{
		"cd sub", "cd", "(cd sub)", "pushd sub", "popd", `c\d sub`, `c""d sub`, `'c'd sub`, "c\\\nd sub", `"cd" sub`, `\cd sub`,
		"x=c; ${x}d sub", "$x sub", "`printf cd` sub", "{c,}d sub", "c? sub", "?d sub", "* sub", ".* file", "[c]d sub",
		". ./file", "true; . file", ".\tfile", ". 'file'", ".\u2003file .", ">out . file", ". file .", "source file", `e"val" "x"`,
		"builtin cd sub", "command cd sub", "command . file", "alias x=y", "trap 'x' EXIT", "shopt -s extglob\n@(c)d sub", "mapfile -C . -c 1 <<< x",
		"enable -f x.so x", "mv ../here ../there",
	} {
		if stays(command, nil) {
			t.Errorf("%q may move", command)
		}
	}
	for _, kv := range []string{"BASH_FUNC_ls%%=() { cd /; }", "BASH_ENV=/x", "BASHOPTS=extglob", "SHELLOPTS=posix"} {
		if stays("ls", []string{"A=1", kv}) {
			t.Errorf("%s may move", kv)
		}
	}
}

// FuzzStays hides a word that moves behind quotes and backslashes.
func FuzzStays(f *testing.F) {
	f.Add("true; ", "'", `\`, " x", 0, 1)
	f.Add("", "\"\"", "\\\n", "", 3, 0)
	f.Fuzz(func(t *testing.T, before, left, right, after string, which, at int) {
		for _, s := range []string{left, right} {
			for _, c := range s {
				switch c {
				case '\'', '"', '\\':
				default:
					return
				}
			}
		}
		word := movers[uint(which)%uint(len(movers))]
		i := int(uint(at) % uint(len(word)))
		if command := before + " " + left + word[:i] + right + word[i:] + left + " " + after; stays(command, nil) {
			t.Errorf("%q may move", command)
		}
	})
}
