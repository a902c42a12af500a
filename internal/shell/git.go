package shell

import (
	"slices"
	"strings"
)

// gitWords is git's own words before the subcommand.
type gitWords struct {
	rest []word // from the subcommand on
	dir  *word
	bad  string // why it is not known to be harmless
	bare string // why a rule on the subcommand does not cover it
	code string // a setting that may make it run anything
}

func readGit(args []word) (g gitWords) {
	fault := func(why string) {
		if g.bad == "" {
			g.bad = why
		}
	}
	for i := 0; i < len(args); i++ {
		v := args[i].val
		switch {
		case mayBeOption(args[i]) && !known(v):
			fault(args[i].text() + " may be an option")
			g.bare = orElse(g.bare, args[i].text()+" may be an option")
		case v == "-P" || v == "--no-pager" || v == "--no-optional-locks" || v == "--literal-pathspecs" || v == "--icase-pathspecs" ||
			v == "--glob-pathspecs" || v == "--noglob-pathspecs" || v == "--no-replace-objects" || v == "--no-lazy-fetch":
		case v == "--version" || v == "--exec-path" || v == "--html-path" || v == "--man-path" || v == "--info-path":
			g.rest = []word{{val: "version", src: v}}
			return g
		case v == "-C" && i+1 < len(args):
			i++
			g.dir = &args[i]
		case v == "-c" && i+1 < len(args):
			i++
			key, _, _ := strings.Cut(args[i].val, "=")
			if !known(key) || runsCode(key) {
				g.code = "git -c " + args[i].text() + " makes git run a program"
				fault(g.code)
				g.bare = orElse(g.bare, g.bad)
			} else if !mildKey(key) {
				fault("git -c " + args[i].text() + " is not known to be harmless")
				g.bare = orElse(g.bare, g.bad)
			}
		case isOption(v):
			fault("the option " + args[i].text() + " of git is not known to be harmless")
			g.bare = orElse(g.bare, g.bad)
			if v == "--git-dir" || v == "--work-tree" || v == "--namespace" || v == "--config-env" || v == "--super-prefix" {
				i++
			}
		default:
			g.rest = args[i:]
			return g
		}
	}
	return g
}

// mildKey reports whether a setting of git only changes how things look or who
// signs.
func mildKey(key string) bool {
	key = strings.ToLower(key)
	switch key {
	case "core.quotepath", "core.abbrev", "core.autocrlf", "core.eol", "core.longpaths", "core.filemode", "core.ignorecase", "core.precomposeunicode",
		"user.name", "user.email", "commit.gpgsign", "tag.gpgsign", "init.defaultbranch", "pull.rebase", "pull.ff", "push.default", "merge.conflictstyle",
		"diff.context", "diff.algorithm", "diff.renames", "diff.renamelimit", "diff.noprefix", "diff.mnemonicprefix", "diff.colormoved", "diff.wserrorhighlight",
		"safe.directory", "protocol.version", "rebase.autosquash", "rebase.autostash":
		return true
	}
	section, _, _ := strings.Cut(key, ".")
	return section == "color" || section == "advice" || section == "log" || section == "status" || section == "column" || section == "format" || section == "blame" || section == "grep"
}

// runsCode reports whether a setting of git names a program, or a file of
// settings.
func runsCode(key string) bool {
	key = strings.ToLower(key)
	for _, k := range [...]string{"core.hookspath", "core.fsmonitor", "core.sshcommand", "core.editor", "core.pager", "core.askpass",
		"core.gitproxy", "core.alternaterefscommand", "core.worktree", "credential.helper", "diff.external", "sequence.editor", "gpg.program", "include.path",
		"uploadpack.packobjectshook", "interactive.difffilter", "init.templatedir", "commit.template"} {
		if key == k {
			return true
		}
	}
	section, _, _ := strings.Cut(key, ".")
	return section == "alias" || section == "filter" || section == "includeif" || section == "pager" || section == "man" || section == "browser" ||
		strings.HasSuffix(key, ".textconv") || strings.HasSuffix(key, ".command") || strings.HasSuffix(key, ".cmd") || strings.HasSuffix(key, ".program") ||
		strings.HasSuffix(key, ".driver") || strings.HasSuffix(key, ".helper") || strings.HasSuffix(key, ".proxy") || strings.HasSuffix(key, ".vcs") ||
		strings.HasSuffix(key, ".uploadpack") || strings.HasSuffix(key, ".receivepack") || strings.HasSuffix(key, ".path")
}

// git judges git by its own words and the row of the subcommand.
func (r *reader) git(c call, s state) {
	g := readGit(c.words[1:])
	at := s
	if g.dir != nil {
		at, _ = r.chdir("cd", []word{*g.dir}, s)
	}
	p := Part{Reason: "git without a subcommand"}
	if len(g.rest) > 0 {
		t := data()
		p.Reason = "git " + g.rest[0].text() + " is not known to be harmless"
		if row, n := lookup(t.commands, t.longest, "git", g.rest); row != nil && n > 0 {
			p = r.byRow(row, g.rest[n:], at, c)
		}
	}
	if g.bad != "" {
		p.Class, p.Reason = Unknown, g.bad
	}
	if g.code != "" {
		r.obscure(g.code)
	}
	outer := r.bare
	r.bare = orElse(r.bare, g.bare)
	if at.moved != "" && r.bare == "" {
		r.bare = "git in " + at.moved + " follows the settings of another folder"
	}
	if len(g.rest) > 0 && g.bare == "" {
		// Without its own words it is the command that rules speak of.
		c.said = append([]word{c.words[0]}, g.rest...)
	}
	r.add(c, at, p)
	if last := len(r.out.Parts) - 1; r.quiet == 0 && last >= 0 && len(g.rest) > 0 {
		if form := "git " + joinText(g.rest); !slices.Contains(r.out.Parts[last].Forms, form) {
			r.out.Parts[last].Forms = append(r.out.Parts[last].Forms, form)
		}
	}
	r.bare = outer
}
