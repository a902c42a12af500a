package search

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// kinds returns the name patterns of each language that grep's type knows.
func kinds() map[string]string {
	return map[string]string{
		"c": "*.c *.h", "cpp": "*.cc *.cpp *.cxx *.hh *.hpp *.hxx *.h *.inl", "cs": "*.cs", "css": "*.css *.scss *.sass *.less",
		"clojure": "*.clj *.cljs *.cljc *.edn", "cmake": "*.cmake CMakeLists.txt", "csv": "*.csv *.tsv", "dart": "*.dart",
		"docker": "Dockerfile* *.dockerfile Containerfile", "elixir": "*.ex *.exs *.eex *.heex", "erlang": "*.erl *.hrl",
		"go": "*.go", "graphql": "*.graphql *.gql", "haskell": "*.hs *.lhs", "html": "*.html *.htm", "java": "*.java",
		"js": "*.js *.jsx *.mjs *.cjs *.vue", "json": "*.json *.jsonl *.json5", "julia": "*.jl", "kotlin": "*.kt *.kts", "lua": "*.lua",
		"make": "Makefile makefile GNUmakefile *.mk *.mak", "md": "*.md *.markdown *.mdx", "nix": "*.nix", "objc": "*.m *.mm *.h", "ocaml": "*.ml *.mli",
		"perl": "*.pl *.pm *.t", "php": "*.php *.phtml", "proto": "*.proto", "ps": "*.ps1 *.psm1 *.psd1", "py": "*.py *.pyi *.pyw *.ipynb",
		"r": "*.r *.R *.Rmd", "rst": "*.rst", "ruby": "*.rb *.rake *.gemspec Gemfile Rakefile", "rust": "*.rs", "scala": "*.scala *.sbt",
		"sh": "*.sh *.bash *.zsh *.fish *.ksh", "sql": "*.sql", "svelte": "*.svelte", "swift": "*.swift", "tex": "*.tex *.sty *.cls *.bib",
		"tf": "*.tf *.tfvars *.hcl", "toml": "*.toml", "ts": "*.ts *.tsx *.mts *.cts", "txt": "*.txt", "vue": "*.vue", "xml": "*.xml *.xsd *.xsl *.svg",
		"yaml": "*.yaml *.yml", "zig": "*.zig",
	}
}

// kindPatterns returns the name patterns of a language, by its name or a
// common other one.
func kindPatterns(name string) ([]string, error) {
	all := kinds()
	name = strings.ToLower(name)
	if other, ok := map[string]string{
		"python": "py", "javascript": "js", "jsx": "js", "typescript": "ts", "tsx": "ts", "golang": "go", "markdown": "md", "c++": "cpp",
		"csharp": "cs", "c#": "cs", "rb": "ruby", "rs": "rust", "kt": "kotlin", "yml": "yaml", "shell": "sh", "bash": "sh", "powershell": "ps", "text": "txt", "h": "c",
	}[name]; ok {
		name = other
	}
	pats, ok := all[name]
	if !ok {
		return nil, fmt.Errorf("invalid input: type %q is not known; use one of %s, or file_glob", name, strings.Join(slices.Sorted(maps.Keys(all)), ", "))
	}
	return strings.Fields(pats), nil
}

// filter chooses files by their path below the root of a search.
type filter struct {
	names []string // one of these must match the name; none: all do
	glob  string
	not   bool // glob excludes
}

func newFilter(kind, glob string) (filter, error) {
	var f filter
	if kind != "" {
		names, err := kindPatterns(kind)
		if err != nil {
			return f, err
		}
		f.names = names
	}
	glob, f.not = strings.CutPrefix(glob, "!")
	if glob == "" || glob == "**/*" || glob == "**" {
		if f.not && glob != "" {
			return f, fmt.Errorf("invalid input: file_glob %q excludes every file", "!"+glob)
		}
		f.not = false
		return f, nil
	}
	if err := validGlob(glob); err != nil {
		return f, fmt.Errorf("invalid input: file_glob %w", err)
	}
	glob = strings.TrimPrefix(glob, "./")
	if strings.HasSuffix(glob, "/") {
		glob += "**"
	}
	if rest, ok := strings.CutPrefix(glob, "/"); ok {
		glob = rest
	} else if !strings.Contains(glob, "/") {
		glob = "**/" + glob
	}
	f.glob = glob
	return f, nil
}

// wants reports whether a file is to be searched.
func (f filter) wants(rel string) bool {
	if f.glob != "" && doublestar.MatchUnvalidated(f.glob, rel) == f.not {
		return false
	}
	if len(f.names) == 0 {
		return true
	}
	name := path.Base(rel)
	for _, p := range f.names {
		if ok, err := path.Match(p, name); err == nil && ok {
			return true
		}
	}
	return false
}
