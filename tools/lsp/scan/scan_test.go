package scan

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSymbols(t *testing.T) {
	tests := []struct{ path, text, want string }{
		{"a.go", "package a\n\nconst Max = 1\n\nvar (\n\tx = 2\n)\n\ntype T[P any] struct {\n\tF int\n}\n\ntype (\n\tI interface{}\n)\n\nfunc (t *T[P]) Run(\n) {\n\tfor {\n\t}\n}\n\nfunc Über() {}\r\n",
			"constant Max 3:7, struct T 9:6, interface I 14:2, method T.Run 17:16, function Über 23:6"},
		{"a.py", "import os\n\nLIMIT: int = 3\n\nclass A(B):\n    x = 1\n\n    def one(self):\n        def inner(): pass\n\n    async def two(self): ...\n\ndef three(): pass\nif x == 1: pass\n",
			"variable LIMIT 3:1, class A 5:7, function A.one 8:9, function A.inner 9:13, function A.two 11:15, function three 13:5"},
		{"a.ts", "export default class Box<T> {\n  private get(x: string): T {\n    if (x) {\n    }\n    return x\n  }\n}\nexport const add = (a, b) => a\nexport interface I {}\ntype X = 1\nfunction* gen() {}\n",
			"class Box 1:22, method Box.get 2:11, function add 8:14, interface I 9:18, type X 10:6, function gen 11:11"},
		{"a.rs", "pub struct P<T> { x: T }\nimpl<T> fmt::Display for P<T> {\n    pub async fn show(&self) {}\n}\nimpl P<u8> {\n    const N: u8 = 1;\n    fn new() {}\n}\nmod inner {\n    pub(crate) fn f() {}\n}\nmacro_rules! m { () => {} }\n",
			"struct P 1:12, function P.show 3:18, constant P.N 6:11, function P.new 7:8, module inner 9:5, function inner.f 10:19, macro m 12:14"},
		{"A.java", "package x;\npublic final class A<T> extends B {\n    @Override\n    public List<String> all(int a) throws E {\n        return other(a);\n    }\n    public A() {\n    }\n    enum Color { RED }\n}\n",
			"class A 2:20, method A.all 4:25, constructor A.A 7:12, enum A.Color 9:10"},
		{"a.c", "#define MAX 3\nstruct node {\n    int x;\n};\nstatic int *make(struct node *n)\n{\n    return use(n);\n}\nint later(void);\ntypedef unsigned u32;\n",
			"macro MAX 1:9, struct node 2:8, function make 5:13, type u32 10:18"},
		{"a.cpp", "namespace ns {\nclass Foo : public Bar {\n public:\n  void inlineOne() { }\n};\n}\nint ns::Foo::go(int x) {\n  if (x) {\n  } else if (y) {\n  }\n  return compute(1,\n    2);\n}\n",
			"namespace ns 1:11, class Foo 2:7, function Foo.inlineOne 4:8, method Foo.go 7:14"},
		{"a.rb", "module M\n  class C < D\n    LIMIT = 1\n    def self.go?\n    end\n  end\nend\n", "module M 1:8, class M.C 2:9, constant M.C.LIMIT 3:5, method M.C.go? 4:14"},
		{"a.sh", "function one {\n}\ntwo-b() { :; }\n", "function one 1:10, function two-b 3:1"},
		{"a.kt", "data class K(val a: Int) {\n    private fun f() = 1\n}\nfun String.shout() = 1\n", "class K 1:12, function K.f 2:17, function String.shout 4:12"},
		{"a.sql", "CREATE TABLE IF NOT EXISTS public.users (id int);\n", "table public.users 1:28"},
		{"a.proto", "message M {\n  enum E { A = 0; }\n}\nservice S {\n  rpc Get(M) returns (M);\n}\n", "struct M 1:9, enum M.E 2:8, interface S 4:9, method S.Get 5:7"},
		{"a.md", "# One two\ntext\n## Three\n", "heading One two 1:3, heading Three 3:4"},
		{"long.js", "function " + strings.Repeat("x", maxLine) + "() {}\nfunction y() {}\n", "function y 2:10"},
		{"empty.go", "", ""},
	}
	for _, tt := range tests {
		list, ok := Symbols(tt.path, tt.text)
		if !ok {
			t.Errorf("%s: the language is not known", tt.path)
		}
		var got []string
		for _, s := range list {
			got = append(got, fmt.Sprintf("%s %s %d:%d", s.Kind, s.Name, s.Line, s.Column))
		}
		if diff := cmp.Diff(tt.want, strings.Join(got, ", ")); diff != "" {
			t.Errorf("%s: %s", tt.path, diff)
		}
	}
	if _, ok := Symbols("a.xyz", "x"); ok || Language("a.xyz") != "" || Language("A.GO") != "go" {
		t.Error("languages are not told apart")
	}
}

// TestTable compiles every pattern.
func TestTable(t *testing.T) {
	seen := map[string]string{}
	for _, row := range table() {
		for _, ext := range strings.Fields(row.exts) {
			if other := seen[ext]; other != "" {
				t.Errorf("%s belongs to %s and %s", ext, other, row.name)
			}
			seen[ext] = row.name
		}
		for _, r := range compile(row.rules) {
			if r.name < 0 {
				t.Errorf("%s: the pattern for a %s has no name", row.name, r.kind)
			}
		}
	}
}

func FuzzSymbols(f *testing.F) {
	f.Add("a.go", "func (t *T) X() {}\n")
	f.Add("a.py", "class A:\n\tdef b(self): pass\n")
	f.Add("a.cpp", "int A::b(int x) {\n")
	f.Fuzz(func(t *testing.T, path, text string) {
		list, _ := Symbols(path, text)
		lines := strings.Count(text, "\n") + 1
		for _, s := range list {
			if s.Name == "" || s.Line < 1 || s.Line > lines || s.Column < 1 {
				t.Errorf("%+v", s)
			}
		}
	})
}
