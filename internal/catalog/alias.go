package catalog

import "strings"

// long is what a user adds to a model's name for its long window.
const long = "[1m]"

// Alias resolves a model name as a user writes it for a profile. "" and
// "default" are the profile's model. Short names (sonnet, opus, haiku, best) are
// those of the profile; opusplan is opus while planning, else sonnet. A suffix
// [1m] stays; what it means is settled by [Catalog.Traits]. On Anthropic's own
// services other Claude names lose an anthropic/ prefix and get hyphens for dots.
func Alias(p Profile, name string, plan bool) string {
	name = strings.TrimSpace(plainName(name))
	if name == "" || strings.EqualFold(name, "default") {
		if p.Model == "" || strings.EqualFold(p.Model, "default") {
			return ""
		}
		name = p.Model
	}
	short, suffix := strings.ToLower(name), ""
	if s, ok := strings.CutSuffix(short, long); ok {
		short, suffix = s, long
	}
	if short == "opusplan" {
		if short = "sonnet"; plan {
			short = "opus"
		}
	}
	if id, ok := p.alias(short); ok {
		if short == "haiku" || p.Wire == OpenAI || p.Wire == Responses {
			suffix = "" // it has no longer window
		}
		return id + suffix
	}
	if p.Wire == Anthropic && p.Host == "" {
		name = strings.TrimPrefix(name, "anthropic/")
		if strings.HasPrefix(name, "claude-") {
			name = strings.ReplaceAll(name, ".", "-")
		}
	}
	return name
}

// alias returns what a short name stands for. A profile of a user's own has the
// short names of its vendor, on Anthropic's wire else those of Anthropic.
func (p *Profile) alias(short string) (string, bool) {
	names := p.aliases
	if names == nil {
		own, _ := byVendor(builtIn(), p.Provider)
		names = own.aliases
	}
	if names == nil && p.Wire == Anthropic {
		own, _ := byVendor(builtIn(), "anthropic")
		names = own.aliases
	}
	id, ok := names[short]
	if id == "default" {
		return p.Model, p.Model != ""
	}
	return id, ok
}

// plainName drops terminal colour codes, which some shells' completions leave
// in names.
func plainName(s string) string {
	for {
		i := strings.Index(s, "\x1b[")
		if i < 0 {
			return s
		}
		end := strings.IndexByte(s[i:], 'm')
		if end < 0 {
			return s[:i]
		}
		s = s[:i] + s[i+end+1:]
	}
}
