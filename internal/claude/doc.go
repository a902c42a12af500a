// Package claude holds the two vocabularies of this program: OpenHarness's
// tool names and input fields, which the model and our own events use, and
// Claude Code's, which its permission rules, hooks, transcripts and stream-json
// frames use. The table in table.go is the only place that knows both.
//
// It is for translating names, inputs and modes at those edges. It is not for
// loading settings, for judging rules or for validating input: what it does not
// know passes through unchanged.
//
// It guarantees that a translated input keeps the order of its members, the
// bytes of values it does not convert, and members it does not know (unless
// such a member has the very name that a translated one gets; the translated
// one stays, since it is the one the tool acts on). An input that is no JSON
// object is returned as it is.
package claude
