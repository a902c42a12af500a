package config

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/openharness/oh"
	"github.com/openharness/oh/internal/catalog"
)

// pathRules reads permission.path_rules. An untrusted folder may only deny.
func (b *builder) pathRules(l *layer, n *node) {
	const key = "permission.path_rules"
	if n.kind != '[' {
		b.fault(l, key, n, "must be a list, not "+n.what())
		return
	}
	for i, item := range n.items {
		at := fmt.Sprintf("%s[%d]", key, i)
		if item.kind != '{' {
			b.fault(l, at, item, `must be an object {"pattern": ..., "allow": ...}, not `+item.what())
			continue
		}
		pattern, allow := item.kids["pattern"], item.kids["allow"]
		rule := PathRule{Allow: true}
		switch {
		case pattern == nil || pattern.kind != '"' || strings.TrimSpace(pattern.text) == "":
			b.fault(l, at+".pattern", item, "must be a glob that is not empty")
			continue
		case allow != nil && allow.kind != 't' && allow.kind != 'f':
			b.fault(l, at+".allow", allow, "must be true or false, not "+allow.what())
			continue
		case allow != nil:
			rule.Allow = allow.kind == 't'
		}
		if rule.Allow && !l.trusted {
			l.ignore(at, item)
			continue
		}
		rule.Pattern = strings.TrimSpace(pattern.text)
		b.pathRule(l, item, rule)
	}
}

func (b *builder) pathRule(l *layer, item *node, rule PathRule) {
	o := l.origin(item)
	effect := oh.Deny
	if rule.Allow {
		effect = oh.Allow
	}
	b.out.Rules = append(b.out.Rules, Rule{Text: rule.Pattern, Effect: effect, Kind: KindPath, Scope: l.scope, File: o.File, Line: o.Line})
	p := &b.out.Settings.Permission
	if !slices.Contains(p.PathRules, rule) {
		p.PathRules = append(p.PathRules, rule)
		b.out.origins["permission.path_rules"] = append(b.out.origins["permission.path_rules"], o)
	}
}

// hooks reads both forms of hook entries, so far as to say that they are
// entries: an event has a list of objects, each with a type or with hooks.
func (b *builder) hooks(l *layer, n *node) {
	if n.kind != '{' {
		b.fault(l, "hooks", n, "must be an object of events, not "+n.what())
		return
	}
	for _, event := range n.keys {
		key := join("hooks", event)
		list := n.kids[event]
		if list.kind == 'n' {
			continue
		}
		if list.kind != '[' {
			b.fault(l, key, list, "must be a list of hooks, not "+list.what())
			continue
		}
		for i, item := range list.items {
			if at, bad, problem := checkHook(item); problem != "" {
				b.fault(l, fmt.Sprintf("%s[%d]%s", key, i, at), bad, problem)
				continue
			}
			o := l.origin(item)
			b.out.Hooks = append(b.out.Hooks, Hook{Event: event, Raw: item.json(), Origin: o})
			b.out.origins[key] = append(b.out.origins[key], o)
		}
	}
}

func checkHook(n *node) (at string, bad *node, problem string) {
	if n.kind != '{' {
		return "", n, "must be an object, not " + n.what()
	}
	if m := n.kids["matcher"]; m != nil && m.kind != '"' && m.kind != 'n' {
		return ".matcher", m, "must be text, not " + m.what()
	}
	inner := n.kids["hooks"]
	if inner == nil {
		return checkAction(n, "timeout_seconds")
	}
	if inner.kind != '[' {
		return ".hooks", inner, "must be a list, not " + inner.what()
	}
	for i, h := range inner.items {
		if at, bad, problem := checkAction(h, "timeout"); problem != "" {
			return fmt.Sprintf(".hooks[%d]%s", i, at), bad, problem
		}
	}
	return "", nil, ""
}

// checkAction checks what one hook does. Types that are not known here are
// left to the feature.
func checkAction(n *node, timeout string) (at string, bad *node, problem string) {
	if n.kind != '{' {
		return "", n, "must be an object, not " + n.what()
	}
	kind := n.kids["type"]
	if kind == nil || kind.kind != '"' {
		return ".type", n, "must say what the hook is: command, http, prompt or agent"
	}
	need := map[string]string{"command": "command", "http": "url", "prompt": "prompt", "agent": "prompt"}[kind.text]
	if need != "" {
		if v := n.kids[need]; v == nil || v.kind != '"' || strings.TrimSpace(v.text) == "" {
			return "." + need, n, "must be text that is not empty"
		}
	}
	if v := n.kids[timeout]; v != nil && v.kind != 'n' {
		most := 600.0
		if kind.text == "agent" || timeout == "timeout" {
			most = 1e9
		}
		if kind.text == "agent" && timeout == "timeout_seconds" {
			most = 1_200
		}
		r := row{min: 0.001, max: most}
		if _, problem, _ := r.number(v, false); problem != "" {
			return "." + timeout, v, problem
		}
	}
	if v := n.kids["block_on_failure"]; v != nil && v.kind != 't' && v.kind != 'f' && v.kind != 'n' {
		return ".block_on_failure", v, "must be true or false, not " + v.what()
	}
	return "", nil, ""
}

func (b *builder) mcpServers(l *layer, n *node) {
	b.servers(l, n, "mcp_servers", &b.out.Settings.MCPServers)
}

func (b *builder) lspServers(l *layer, n *node) {
	b.servers(l, n, "lsp_servers", &b.out.Settings.LSPServers)
}

// servers merges servers by name; a later one replaces an earlier whole.
func (b *builder) servers(l *layer, n *node, row string, into *map[string]Raw) {
	if n.kind != '{' {
		b.fault(l, row, n, "must be an object of servers, not "+n.what())
		return
	}
	for _, name := range n.keys {
		key := join(row, name)
		v := n.kids[name]
		if v.kind != '{' {
			b.fault(l, key, v, "must be an object, not "+v.what())
			continue
		}
		o := l.origin(v)
		*into = put(*into, name, Raw{JSON: v.json(), Origin: o})
		b.note(key, o)
	}
}

func (b *builder) statusLine(l *layer, n *node) {
	if n.kind != '{' && n.kind != '"' {
		b.fault(l, "status_line", n, "must be an object or a command, not "+n.what())
		return
	}
	b.out.Settings.StatusLine = n.json()
	b.note("status_line", l.origin(n))
}

// skillDirs keeps to folders below the project.
func (b *builder) skillDirs(l *layer, n *node) {
	const key = "project_skill_dirs"
	if n.kind != '[' {
		b.fault(l, key, n, "must be a list of folders, not "+n.what())
		return
	}
	for i, item := range n.items {
		dir := filepath.ToSlash(strings.TrimSpace(item.text))
		if item.kind != '"' || dir == "" || !filepath.IsLocal(filepath.FromSlash(dir)) {
			b.fault(l, fmt.Sprintf("%s[%d]", key, i), item, "must be a relative folder without ..")
			continue
		}
		b.element(l, &row{key: key}, item, dir, &b.out.Settings.SkillDirs)
	}
}

// fallback reads the models that stand in for an overloaded one: a list, or one
// text with commas. It replaces what was, since its order counts.
func (b *builder) fallback(l *layer, n *node) {
	const key = "fallback_model"
	var names []string
	switch n.kind {
	case '"':
		names = strings.Split(n.text, ",")
	case '[':
		for _, item := range n.items {
			if item.kind != '"' {
				b.fault(l, key, item, "must be names of models, not "+item.what())
				return
			}
			names = append(names, item.text)
		}
	default:
		b.fault(l, key, n, "must be a list of models, not "+n.what())
		return
	}
	list, origins := []string{}, []Origin{}
	for _, name := range names {
		if name = strings.TrimSpace(name); name != "" && !slices.Contains(list, name) {
			list, origins = append(list, name), append(origins, l.origin(n))
		}
	}
	b.out.Settings.Fallback, b.out.origins[key] = list, origins
}

// profiles merges profiles field by field.
func (b *builder) profiles(l *layer, n *node) {
	if n.kind != '{' {
		b.fault(l, "profiles", n, "must be an object of profiles, not "+n.what())
		return
	}
	for _, name := range n.keys {
		key := join("profiles", name)
		v := n.kids[name]
		if v.kind != '{' {
			b.fault(l, key, v, "must be an object, not "+v.what())
			continue
		}
		p := b.out.Settings.Profiles[name]
		for _, r := range profileRows(&p) {
			if field, _ := v.find(r.key); field != nil {
				b.profileField(l, &r, key, field)
			}
		}
		b.out.Settings.Profiles = put(b.out.Settings.Profiles, name, p)
	}
}

func (b *builder) profileField(l *layer, r *row, profile string, n *node) {
	full := join(profile, r.key)
	if list, ok := r.ptr.(*[]string); ok {
		field := *r
		field.key = full
		b.strings(l, &field, full, n, list)
		return
	}
	if facts, ok := r.ptr.(*map[string]catalog.Fields); ok {
		b.modelFacts(l, full, n, facts)
		if len(*facts) > 0 {
			b.note(full, l.origin(n))
		}
		return
	}
	if r.key == "api_key" && !l.owned() {
		b.fault(l, full, n, keyInProject)
		return
	}
	problem, _ := r.set(n)
	if problem != "" {
		b.fault(l, full, n, problem)
		return
	}
	b.note(full, l.origin(n))
}

const keyInProject = "a key counts only in a file of your own, not in a project's"

// owned reports whether the layer is the user's or the system's own.
func (l *layer) owned() bool { return l.scope != Project && l.scope != Local }

func profileRows(p *Profile) []row {
	return []row{
		{key: "label", ptr: &p.Label},
		{key: "provider", ptr: &p.Provider},
		{key: "api_format", ptr: &p.APIFormat, enum: formats()},
		{key: "auth_source", ptr: &p.AuthSource},
		{key: "base_url", ptr: &p.BaseURL},
		{key: "default_model", ptr: &p.Model},
		{key: "last_model", ptr: &p.LastModel},
		{key: "credential_slot", ptr: &p.Slot},
		{key: "api_key_env", ptr: &p.KeyEnv},
		{key: "api_key", ptr: &p.Key},
		{key: "api_key_helper", ptr: &p.KeyHelper},
		{key: "allowed_models", ptr: &p.Models},
		{key: "context_window_tokens", ptr: &p.Window, min: 1},
		{key: "auto_compact_threshold_tokens", ptr: &p.CompactAt, min: 1},
		{key: "models", ptr: &p.ModelFacts},
	}
}

// choice records what the layer says about the model service.
func (b *builder) choice(l *layer) {
	text := func(key string) string {
		n, block := l.root.find(key)
		if n == nil || block != "" || n.kind != '"' {
			return ""
		}
		return strings.TrimSpace(n.text)
	}
	c := Choice{Scope: l.scope, File: l.file, Claude: l.claude, Model: text("model")}
	if l.trusted {
		c.Helper = text("apiKeyHelper")
		if own := text("api_key_helper"); own != "" && !l.claude {
			c.Helper = own
		}
	}
	if !l.claude && l.trusted {
		c.Profile, c.Provider, c.Format, c.BaseURL = text("active_profile"), text("provider"), text("api_format"), text("base_url")
		if l.owned() {
			c.Key = Secret{text("api_key")}
		}
		if c.Format == "openai_compat" {
			c.Format = "openai"
		}
	}
	if c != (Choice{Scope: l.scope, File: l.file, Claude: l.claude}) {
		b.out.Choices = append(b.out.Choices, c)
	}
}
