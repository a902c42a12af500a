package lsp

import "strings"

// table is the common servers. Where several are for the same files, the first
// that is installed is taken.
func table() []Server {
	npm := func(pkg string) string { return "npm install -g " + pkg }
	const (
		js  = ".ts=typescript .mts=typescript .cts=typescript .tsx=typescriptreact .js=javascript .mjs=javascript .cjs=javascript .jsx=javascriptreact"
		cpp = ".c=c .h=c .cc=cpp .cpp=cpp .cxx=cpp .hh=cpp .hpp=cpp .hxx=cpp .inl=cpp .m=objective-c .mm=objective-cpp .cu=cuda-cpp"
		py  = ".py=python .pyi=python .pyw=python"
		pyM = "pyrightconfig.json pyproject.toml setup.py setup.cfg requirements.txt Pipfile"
		vsc = "vscode-langservers-extracted"
	)
	return []Server{
		entry("gopls", "gopls", ".go=go", "go.work go.mod", "go install golang.org/x/tools/gopls@latest"),
		entry("pyright", "pyright-langserver --stdio", py, pyM, npm("pyright")),
		entry("basedpyright", "basedpyright-langserver --stdio", py, pyM, "pip install basedpyright"),
		entry("pylsp", "pylsp", py, pyM, "pip install python-lsp-server"),
		entry("typescript", "typescript-language-server --stdio", js, "tsconfig.json jsconfig.json package.json", npm("typescript typescript-language-server")),
		entry("rust-analyzer", "rust-analyzer", ".rs=rust", "Cargo.lock Cargo.toml rust-project.json", "rustup component add rust-analyzer"),
		entry("clangd", "clangd", cpp, "compile_commands.json compile_flags.txt .clangd CMakeLists.txt meson.build", "the package clangd of your system"),
		entry("jdtls", "jdtls", ".java=java", "settings.gradle settings.gradle.kts pom.xml build.gradle build.gradle.kts", "the package jdtls (eclipse.jdt.ls)"),
		entry("bash", "bash-language-server start", ".sh=shellscript .bash=shellscript", "", npm("bash-language-server")),
		entry("yaml", "yaml-language-server --stdio", ".yaml=yaml .yml=yaml", "", npm("yaml-language-server")),
		entry("json", "vscode-json-language-server --stdio", ".json=json .jsonc=jsonc", "", npm(vsc)),
		entry("css", "vscode-css-language-server --stdio", ".css=css .scss=scss .less=less", "package.json", npm(vsc)),
		entry("html", "vscode-html-language-server --stdio", ".html=html .htm=html", "package.json", npm(vsc)),
		entry("lua", "lua-language-server", ".lua=lua", ".luarc.json .luarc.jsonc", "the package lua-language-server"),
		entry("zls", "zls", ".zig=zig .zon=zig", "build.zig", "the package zls"),
		entry("ruby-lsp", "ruby-lsp", ".rb=ruby .rake=ruby .gemspec=ruby", "Gemfile", "gem install ruby-lsp"),
		entry("solargraph", "solargraph stdio", ".rb=ruby .rake=ruby .gemspec=ruby", "Gemfile", "gem install solargraph"),
		entry("intelephense", "intelephense --stdio", ".php=php", "composer.json", npm("intelephense")),
		entry("phpactor", "phpactor language-server", ".php=php", "composer.json", "composer global require phpactor/phpactor"),
		entry("csharp-ls", "csharp-ls", ".cs=csharp", "global.json Directory.Build.props", "dotnet tool install -g csharp-ls"),
		entry("kotlin", "kotlin-language-server", ".kt=kotlin .kts=kotlin", "settings.gradle settings.gradle.kts pom.xml build.gradle build.gradle.kts", "the package kotlin-language-server"),
		entry("metals", "metals", ".scala=scala .sbt=scala .sc=scala", "build.sbt build.sc pom.xml", "cs install metals"),
		entry("sourcekit-lsp", "sourcekit-lsp", ".swift=swift", "Package.swift", "a Swift toolchain"),
		entry("dart", "dart language-server --protocol=lsp", ".dart=dart", "pubspec.yaml", "the Dart SDK"),
		entry("elixir-ls", "elixir-ls", ".ex=elixir .exs=elixir", "mix.exs", "the package elixir-ls"),
		entry("erlang", "elp server", ".erl=erlang .hrl=erlang", "rebar.config", "the package elp"),
		entry("gleam", "gleam lsp", ".gleam=gleam", "gleam.toml", "the package gleam"),
		entry("haskell", "haskell-language-server-wrapper --lsp", ".hs=haskell .lhs=haskell", "hie.yaml stack.yaml cabal.project package.yaml", "ghcup install hls"),
		entry("ocaml", "ocamllsp", ".ml=ocaml .mli=ocaml", "dune-project dune-workspace", "opam install ocaml-lsp-server"),
		entry("clojure-lsp", "clojure-lsp", ".clj=clojure .cljs=clojure .cljc=clojure .edn=clojure", "deps.edn project.clj", "the package clojure-lsp"),
		entry("terraform", "terraform-ls serve", ".tf=terraform .tfvars=terraform-vars", ".terraform", "the package terraform-ls"),
		entry("vue", "vue-language-server --stdio", ".vue=vue", "package.json", npm("@vue/language-server")),
		entry("svelte", "svelteserver --stdio", ".svelte=svelte", "package.json", npm("svelte-language-server")),
		entry("nixd", "nixd", ".nix=nix", "flake.nix", "the package nixd"),
		entry("nil", "nil", ".nix=nix", "flake.nix", "the package nil"),
		entry("taplo", "taplo lsp stdio", ".toml=toml", "", "cargo install taplo-cli --features lsp"),
		entry("texlab", "texlab", ".tex=latex .bib=bibtex", ".texlabroot", "the package texlab"),
	}
}

// entry makes a row of the table of words with spaces between.
func entry(name, command, extensions, markers, install string) Server {
	words := strings.Fields(command)
	s := Server{Name: name, Command: words[0], Args: words[1:], Extensions: map[string]string{}, Markers: strings.Fields(markers), Install: install}
	for _, pair := range strings.Fields(extensions) {
		ext, lang, _ := strings.Cut(pair, "=")
		s.Extensions[ext] = lang
	}
	return s
}
