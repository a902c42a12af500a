package scan

// row is a language of the table.
type row struct {
	name  string
	exts  string // with spaces between
	rules []pattern
}

// pattern is a kind of declaration and the expression that its line fits.
type pattern struct {
	kind, expr string
}

// The words that may stand before a declaration.
const (
	jsHead   = `^\s*(?:export\s+)?(?:default\s+)?(?:declare\s+)?`
	javaHead = `^\s*(?:@\w+(?:\([^)]*\))?\s+)*(?:(?:public|private|protected|internal|static|final|abstract|sealed|partial|readonly|virtual|override|async|extern|unsafe|new|default|native|synchronized|strictfp|open|data|inner|inline|suspend|operator|infix|lateinit|const|implicit|lazy|case|required|convenience|mutating|fileprivate|non-sealed|actual|expect|external|tailrec|value|companion|file|ref)\s+)*`
	rustHead = `^\s*(?:pub(?:\([^)]*\))?\s+)?(?:default\s+)?(?:unsafe\s+)?(?:async\s+)?(?:const\s+)?(?:extern\s+(?:"[^"]*"\s+)?)?`
	name     = `(?P<name>[\p{L}_$][\p{L}\p{N}_$]*)`
)

// table holds the languages, their patterns in the order in which they are
// tried.
func table() []row {
	script := []pattern{
		{"class", jsHead + `(?:abstract\s+)?class\s+` + name},
		{"interface", jsHead + `interface\s+` + name},
		{"enum", jsHead + `(?:const\s+)?enum\s+` + name},
		{"namespace", jsHead + `(?:namespace|module)\s+` + name},
		{"function", jsHead + `(?:async\s+)?function\s*\*?\s*` + name},
		{"type", jsHead + `type\s+` + name + `[^=]*=`},
		{"function", jsHead + `(?:const|let|var)\s+` + name + `\s*(?::[^=]+)?=\s*(?:async\s*)?(?:function\b|\([^()]*\)\s*(?::[^=]+)?=>|[\w$]+\s*=>)`},
		{"constant", `^(?:export\s+)?const\s+` + name},
		{"variable", `^(?:export\s+)?(?:let|var)\s+` + name},
		{"method", `^\s+(?:(?:public|private|protected|static|abstract|override|readonly|async|get|set)\s+)*[*#]?` + name + `\s*(?:<[^>]*>)?\([^;]*\)\s*(?::\s*[^;{]+)?\{\s*$`},
	}
	cLike := []pattern{
		{"macro", `^\s*#\s*define\s+` + name},
		{"namespace", `^\s*(?:inline\s+)?namespace\s+(?P<name>[\w:]+)`},
		{"class", `^\s*(?:template\s*<[^{]*>\s*)?(?:typedef\s+)?(?:class|@interface|@implementation|@protocol)\s+(?:[A-Z_]+\s+)?` + name + `[^;()]*$`},
		{"struct", `^\s*(?:template\s*<[^{]*>\s*)?(?:typedef\s+)?(?:static\s+)?struct\s+(?:[A-Z_]+\s+)?` + name + `\s*(?::[^;()]*)?(?:\{.*)?$`},
		{"union", `^\s*(?:typedef\s+)?union\s+` + name + `\s*(?:\{.*)?$`},
		{"enum", `^\s*(?:typedef\s+)?enum\s+(?:class\s+|struct\s+)?` + name},
		{"type", `^\s*using\s+` + name + `\s*=`},
		{"type", `^\s*typedef\b.*\b` + name + `\s*;`},
		{"method", `^[\w:<>,\*&\s\[\]]*?\b(?P<in>\w+)(?:<[^>]*>)?::(?P<name>~?\w+)\s*\([^;]*$`},
		{"function", `^\s*(?:[\w:<>,]+[\s\*&]+)+` + name + `\s*\([^;=]*(?:\)\s*(?:const\s*)?(?:noexcept\s*)?(?:override\s*)?(?:\{.*)?|,)$`},
		{"method", `^[-+]\s*\([^)]*\)\s*` + name},
	}
	return []row{
		{"go", ".go", []pattern{
			{"method", `^func\s+\(\s*(?:[\p{L}_]\w*\s+)?\*?\s*(?P<in>[\p{L}_]\w*)(?:\[[^\]]*\])?\s*\)\s*` + name},
			{"function", `^func\s+` + name},
			{"struct", `^(?:type\s+|\t)` + name + `(?:\[[^\]]*\])?\s+struct\b`},
			{"interface", `^(?:type\s+|\t)` + name + `(?:\[[^\]]*\])?\s+interface\b`},
			{"type", `^type\s+` + name},
			{"constant", `^const\s+` + name},
			{"variable", `^var\s+` + name},
		}},
		{"python", ".py .pyi .pyw", []pattern{
			{"class", `^\s*class\s+` + name},
			{"function", `^\s*(?:async\s+)?def\s+` + name},
			{"variable", `^` + name + `\s*(?::[^=]+)?=(?:[^=]|$)`},
		}},
		{"javascript", ".js .jsx .mjs .cjs .ts .tsx .mts .cts .vue .svelte", script},
		{"rust", ".rs", []pattern{
			{"impl", `^\s*(?:unsafe\s+)?impl(?:\s*<[^{]*?>)?\s+(?:[^{]*?\s+for\s+)?(?:&\s*)?(?:[\w]+::)*` + name},
			{"function", rustHead + `fn\s+` + name},
			{"struct", rustHead + `struct\s+` + name},
			{"enum", rustHead + `enum\s+` + name},
			{"union", rustHead + `union\s+` + name + `\s*[<{]`},
			{"trait", rustHead + `trait\s+` + name},
			{"module", rustHead + `mod\s+` + name},
			{"type", rustHead + `type\s+` + name},
			{"constant", `^\s*(?:pub(?:\([^)]*\))?\s+)?(?:const|static)\s+(?:mut\s+)?` + name + `\s*:`},
			{"macro", `^\s*macro_rules!\s*` + name},
		}},
		{"c", ".c .h .cc .cpp .cxx .hh .hpp .hxx .inl .m .mm .cu", cLike},
		{"java", ".java", []pattern{
			{"class", javaHead + `(?:class|record)\s+` + name},
			{"interface", javaHead + `@?interface\s+` + name},
			{"enum", javaHead + `enum\s+` + name},
			{"constructor", `^\s+(?:public|private|protected)\s+` + name + `\s*\(`},
			{"method", javaHead + `(?:<[^>]*>\s+)?[\w.<>\[\],?]+(?:\s*<[^()]*>)?\s+` + name + `\s*\([^;=]*(?:\)\s*(?:throws\s+[\w\s.,]+)?(?:\{.*)?|,)$`},
		}},
		{"csharp", ".cs", []pattern{
			{"namespace", `^\s*namespace\s+(?P<name>[\w.]+)`},
			{"class", javaHead + `(?:class|record(?:\s+class|\s+struct)?)\s+` + name},
			{"struct", javaHead + `struct\s+` + name},
			{"interface", javaHead + `interface\s+` + name},
			{"enum", javaHead + `enum\s+` + name},
			{"constructor", `^\s+(?:public|private|protected|internal)\s+` + name + `\s*\(`},
			{"method", javaHead + `[\w.<>\[\],?]+\s+` + name + `\s*(?:<[^>]*>)?\s*\([^;=]*(?:\)\s*(?:where\b.*)?(?:\{.*|=>.*)?|,)$`},
			{"property", `^\s+(?:(?:public|private|protected|internal|static|virtual|override|abstract|required)\s+)+[\w.<>\[\],?]+\s+` + name + `\s*(?:\{|=>)`},
		}},
		{"kotlin", ".kt .kts", []pattern{
			{"class", javaHead + `(?:enum\s+|annotation\s+)?class\s+` + name},
			{"interface", javaHead + `(?:fun\s+)?interface\s+` + name},
			{"object", javaHead + `object\s+` + name},
			{"function", javaHead + `fun\s+(?:<[^>]*>\s+)?(?:(?P<in>\w+)(?:<[^>]*>)?\.)?` + name},
			{"property", javaHead + `(?:val|var)\s+` + name},
		}},
		{"scala", ".scala .sc .sbt", []pattern{
			{"class", javaHead + `class\s+` + name},
			{"trait", javaHead + `trait\s+` + name},
			{"object", javaHead + `object\s+` + name},
			{"enum", javaHead + `enum\s+` + name},
			{"function", javaHead + `def\s+` + name},
			{"type", javaHead + `type\s+` + name},
		}},
		{"swift", ".swift", []pattern{
			{"class", javaHead + `(?:class|actor)\s+` + name},
			{"struct", javaHead + `struct\s+` + name},
			{"enum", javaHead + `(?:indirect\s+)?enum\s+` + name},
			{"protocol", javaHead + `protocol\s+` + name},
			{"extension", javaHead + `extension\s+` + name},
			{"function", javaHead + `func\s+` + name},
			{"type", javaHead + `typealias\s+` + name},
		}},
		{"php", ".php", []pattern{
			{"class", `^\s*(?:(?:final|abstract|readonly)\s+)*class\s+` + name},
			{"interface", `^\s*interface\s+` + name},
			{"trait", `^\s*trait\s+` + name},
			{"enum", `^\s*enum\s+` + name},
			{"function", `^\s*(?:(?:public|private|protected|static|final|abstract)\s+)*function\s+&?` + name},
			{"constant", `^\s*(?:(?:public|private|protected|final)\s+)*const\s+` + name},
		}},
		{"ruby", ".rb .rake .gemspec", []pattern{
			{"class", `^\s*class\s+(?:[A-Z]\w*::)*` + name},
			{"module", `^\s*module\s+(?:[A-Z]\w*::)*` + name},
			{"method", `^\s*(?:private\s+)?def\s+(?:self\.)?(?P<name>\w+[?!=]?)`},
			{"constant", `^\s*(?P<name>[A-Z][A-Z0-9_]*)\s*=`},
		}},
		{"shell", ".sh .bash .zsh .ksh", []pattern{
			{"function", `^\s*function\s+(?P<name>[\w:.-]+)`},
			{"function", `^\s*(?P<name>[\w:.-]+)\s*\(\)`},
		}},
		{"lua", ".lua", []pattern{
			{"function", `^\s*(?:local\s+)?function\s+(?:(?P<in>[\w.]+)[.:])?` + name},
			{"function", `^\s*(?:local\s+)?` + name + `\s*=\s*function\b`},
		}},
		{"zig", ".zig", []pattern{
			{"function", `^\s*(?:pub\s+)?(?:export\s+)?(?:inline\s+)?fn\s+` + name},
			{"struct", `^\s*(?:pub\s+)?const\s+` + name + `\s*=\s*(?:packed\s+|extern\s+)?struct\b`},
			{"enum", `^\s*(?:pub\s+)?const\s+` + name + `\s*=\s*enum\b`},
			{"union", `^\s*(?:pub\s+)?const\s+` + name + `\s*=\s*union\b`},
			{"constant", `^(?:pub\s+)?const\s+` + name},
		}},
		{"elixir", ".ex .exs", []pattern{
			{"module", `^\s*defmodule\s+(?P<name>[\w.]+)`},
			{"protocol", `^\s*defprotocol\s+(?P<name>[\w.]+)`},
			{"function", `^\s*defp?\s+(?P<name>\w+[?!]?)`},
			{"macro", `^\s*defmacrop?\s+(?P<name>\w+[?!]?)`},
		}},
		{"dart", ".dart", []pattern{
			{"class", `^\s*(?:(?:abstract|sealed|base|final|interface|mixin)\s+)*class\s+` + name},
			{"class", `^\s*(?:base\s+)?mixin\s+` + name},
			{"enum", `^\s*enum\s+` + name},
			{"extension", `^\s*extension\s+` + name},
			{"function", `^\s*(?:static\s+)?[\w<>,?\[\]]+\s+` + name + `\s*\([^;=]*\)\s*(?:async\*?\s*)?(?:\{.*|=>.*)?$`},
		}},
		{"perl", ".pl .pm .t", []pattern{
			{"package", `^\s*package\s+(?P<name>[\w:]+)`},
			{"function", `^\s*sub\s+` + name},
		}},
		{"haskell", ".hs", []pattern{
			{"type", `^(?:data|newtype|type)\s+(?:family\s+|instance\s+)?` + name},
			{"class", `^class\s+(?:.*=>\s*)?` + name},
			{"function", `^(?P<name>[a-z_][\w']*)\s*::`},
		}},
		{"ocaml", ".ml .mli", []pattern{
			{"module", `^\s*module\s+(?:type\s+)?` + name},
			{"type", `^\s*type\s+(?:[^=]*\s)?(?P<name>[a-z_]\w*)\s*=`},
			{"function", `^\s*(?:let|val|external)\s+(?:rec\s+)?(?P<name>[a-z_][\w']*)`},
		}},
		{"protobuf", ".proto", []pattern{
			{"struct", `^\s*message\s+` + name},
			{"enum", `^\s*enum\s+` + name},
			{"interface", `^\s*service\s+` + name},
			{"method", `^\s*rpc\s+` + name},
		}},
		{"sql", ".sql", []pattern{
			{"table", `(?i)^\s*create\s+(?:or\s+replace\s+)?(?:temp(?:orary)?\s+)?table\s+(?:if\s+not\s+exists\s+)?["\x60\[]?(?P<name>[\w.]+)`},
			{"view", `(?i)^\s*create\s+(?:or\s+replace\s+)?(?:materialized\s+)?view\s+(?:if\s+not\s+exists\s+)?["\x60\[]?(?P<name>[\w.]+)`},
			{"function", `(?i)^\s*create\s+(?:or\s+replace\s+)?(?:function|procedure|trigger)\s+["\x60\[]?(?P<name>[\w.]+)`},
			{"index", `(?i)^\s*create\s+(?:unique\s+)?index\s+(?:concurrently\s+)?(?:if\s+not\s+exists\s+)?["\x60\[]?(?P<name>[\w.]+)`},
		}},
		{"terraform", ".tf .hcl", []pattern{
			{"resource", `^\s*(?:resource|data)\s+"(?P<in>[^"]+)"\s+"(?P<name>[^"]+)"`},
			{"block", `^\s*(?:variable|output|module|provider)\s+"(?P<name>[^"]+)"`},
		}},
		{"markdown", ".md .markdown", []pattern{
			{"heading", `^#{1,6}\s+(?P<name>\S.*)$`},
		}},
	}
}
