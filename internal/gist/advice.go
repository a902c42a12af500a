package gist

import (
	"errors"
	"net/url"
	"strings"

	"github.com/openharness/oh"
)

// Place is where advice is read, and what is known there about the session.
type Place struct {
	Line           bool // at the prompt of line mode; otherwise the program has ended
	Profile, Model string
	KeySource      string // where the key came from, such as ANTHROPIC_API_KEY; "" is none
	BaseURL        string // of the model service; "" is unknown
	BaseURLSource  string // who set it, such as OLLAMA_HOST; "" is unknown
	NoSave         bool   // the session is not kept: it cannot be gone on with later
}

// Advice says what helps against an error of the model service, in sentences
// without a final full stop; "" for an error that speaks for itself: one that
// nobody classified, or that was raised here for want of a key.
func Advice(err error, at Place) string {
	e, ok := errors.AsType[*oh.Error](err)
	if !ok {
		return ""
	}
	switch e.Kind {
	case oh.KindAuth:
		if e.Status == 0 {
			return ""
		}
		return keyAdvice(at)
	case oh.KindQuota:
		return at.either("Check the account's plan, or choose another profile with --profile",
			"Check the account's plan, or leave and choose another profile with: "+at.again("--profile NAME"))
	case oh.KindTooLong:
		return at.either("Begin a new session, or choose a model with a larger window",
			"/clear begins anew, /model chooses one with a larger window")
	case oh.KindInvalid:
		return invalidAdvice(e, at)
	case oh.KindUnavailable:
		if errors.Is(err, errRefused) {
			return listenAdvice(at)
		}
		return laterAdvice(at)
	case oh.KindLimited, oh.KindOverloaded:
		return laterAdvice(at)
	default:
		return ""
	}
}

// ReasonAdvice says what to do after a run that ended for a reason other than
// [oh.ReasonEnd], in the form of [Advice]; "" when there is nothing to say.
func ReasonAdvice(r oh.Reason, at Place) string {
	switch r {
	case oh.ReasonMaxTurns:
		return at.limited("--max-turns", "/continue goes on, /continue N for N turns at most")
	case oh.ReasonBudget:
		return at.limited("--max-budget-usd", "Leave and go on with more: "+at.again("--max-budget-usd USD"))
	case oh.ReasonCancelled:
		return at.either(at.goOn(), "/continue goes on, or type on")
	case oh.ReasonMaxTokens, oh.ReasonEmptyReply, oh.ReasonFailed:
		return at.either(at.goOn(), "/continue goes on")
	case oh.ReasonNoOutput:
		return "Check the schema, or try another model"
	case oh.ReasonLoop:
		if !at.Line && at.NoSave {
			return ""
		}
		return at.either(`Say what to do instead with: oh -c -p "..."`, "Say what to do instead")
	default:
		return ""
	}
}

// Reason words a run's reason for people, for a run that brought no words of
// its own.
func Reason(r oh.Reason) string {
	switch r {
	case oh.ReasonMaxTurns:
		return "the turn limit is reached"
	case oh.ReasonCancelled:
		return "the run was interrupted"
	case oh.ReasonLoop:
		return "the same failing call came again and again"
	case oh.ReasonMaxTokens:
		return "the reply was cut at the output limit each time"
	case oh.ReasonEmptyReply:
		return "the model replied with nothing, twice"
	case oh.ReasonRefusal:
		return "the model declined to answer"
	case oh.ReasonBlocked:
		return "a hook stopped the run"
	case oh.ReasonBudget:
		return "the budget is used up"
	case oh.ReasonNoOutput:
		return "the model gave no answer in the form that was asked for"
	default:
		return "the run failed"
	}
}

// Sentence ends s with a full stop, unless it has an end, and adds advice.
func Sentence(s, advice string) string {
	if s != "" && !strings.ContainsRune(".!?…", lastRune(s)) {
		s += "."
	}
	if advice == "" {
		return s
	}
	return strings.TrimPrefix(s+" "+advice, " ")
}

func lastRune(s string) rune {
	r := []rune(s)
	return r[len(r)-1]
}

func keyAdvice(at Place) string {
	login := strings.TrimSpace("oh auth login " + at.Profile)
	refused := "The key from " + at.KeySource + " was refused"
	switch {
	case at.KeySource == "":
		return "Store a key with: " + login
	case at.KeySource == "--api-key" || at.KeySource == "stdin":
		return refused + ": give another"
	case isVariable(at.KeySource):
		return refused + ": correct or unset it"
	}
	if strings.Contains(at.KeySource, " credentials: ") { // a cloud's own
		return "The service refused the " + at.KeySource + ". Renew them, or see whether the account may use this model"
	}
	return refused + ". Store another with: " + login
}

// isVariable reports whether a source is an environment variable, which may be
// set in a file: NAME, or NAME in FILE.
func isVariable(source string) bool {
	name, _, _ := strings.Cut(source, " in ")
	return name != "" && strings.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == ""
}

func invalidAdvice(e *oh.Error, at Place) string {
	if e.Status == 404 || strings.EqualFold(e.Code, "model_not_found") {
		asked := ""
		if at.Model != "" {
			asked = " (" + at.Model + " was asked for)"
		}
		return at.either("Check --model"+asked, "Check the model"+asked+": /model NAME chooses another")
	}
	more := at.either("--debug shows more", "started with --debug, oh shows more")
	if e.Status == 0 && e.Code == "" {
		return upper(more) // no request got as far as the service
	}
	return "The request itself was refused; " + more
}

func listenAdvice(at Place) string {
	what := "Is it running?"
	if address := bare(at.BaseURL); address != "" {
		what = "Is it running at " + address + "?"
	}
	source := "--base-url sets the address"
	if at.BaseURLSource != "" {
		source = "The address comes from " + at.BaseURLSource
	}
	if !at.Line {
		return what + " " + upper(source)
	}
	return what + " " + upper(source) + "; /continue tries again"
}

// bare is an address without anything that could be a secret.
func bare(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String()
}

func laterAdvice(at Place) string {
	return at.either(strings.TrimSuffix("Try later. "+at.goOn(), ". "), "/continue tries again")
}

func (at Place) either(after, line string) string {
	if at.Line {
		return line
	}
	return after
}

// goOn is how to go on in a later run; "" when there is nothing to go on with.
func (at Place) goOn() string {
	if at.NoSave {
		return ""
	}
	return `Go on with: oh -c -p "continue"`
}

// limited is advice after a limit that a flag sets.
func (at Place) limited(flag, line string) string {
	switch {
	case at.Line:
		return line
	case at.NoSave:
		return flag + " sets the limit"
	}
	return at.goOn() + " (" + flag + " sets the limit)"
}

// again is how to start anew with other flags.
func (at Place) again(flags string) string {
	if at.NoSave {
		return "oh " + flags
	}
	return "oh -c " + flags
}

func upper(s string) string {
	if s == "" || s[0] < 'a' || s[0] > 'z' {
		return s
	}
	return string(s[0]-'a'+'A') + s[1:]
}
