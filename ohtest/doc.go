// Package ohtest tests what is built on the engine without a real model: a
// scripted model in process ([Provider]), one behind real HTTP ([Server]), the
// checks that both of them make of every request, a fake tool ([Tool]) and a
// check of real ones ([CheckTool]). It depends on no test framework and can be
// used by programs too; command modelserver is one.
//
// It guarantees that an illegal request never passes unnoticed: it is refused
// as a real service would refuse it, and fails the test. So a test that only
// looks at the answer still proves that the history which led to it was legal.
// It does not judge what a request says, nor how many there are: compare
// Requests for that.
//
// # Scripts
//
// A script is a list of turns, one for each request. [Reply] is made of parts
// and encoded for whoever asks:
//
//	ohtest.Reply(ohtest.Thinking("Look."), ohtest.Text("Let me see."), ohtest.Call("c1", "read_file", `{"path":"a.go"}`))
//	ohtest.Reply(ohtest.Text("Half a sen"), ohtest.Stop(oh.StopMaxTokens), ohtest.Usage{InputTokens: 90, OutputTokens: 4})
//	ohtest.Fail(&oh.Error{Kind: oh.KindLimited, After: 2 * time.Second})    // 429 with Retry-After
//	ohtest.Fail(&oh.Error{Kind: oh.KindOverloaded}, ohtest.Text("Par"))     // an error event after some text
//	ohtest.Fail(io.ErrUnexpectedEOF, ohtest.Text("Par"))                    // the connection is cut
//	ohtest.Hang(ohtest.Text("Par"))                                         // until the caller gives up
//
// A [Server] encodes them for each [Wire] as its vendor does: [Wires] lists them.
//
// The fields of [Turn] say more: Cut (sizes of deltas and writes, fixed or
// random by a seed), After and Delay (hold the answer back), Header (rate limits,
// any form of Retry-After). Where the answer
// depends on the question, set a Rule: a function from the request to the turn.
//
// # Bytes
//
// A [Server] also plays single steps: [Send], [Wait], [WaitFor], [Hold], [Drop]
// and [Status], with [Refusal] for the error bodies of the vendors. [Events]
// renders parts so that they can be cut up, and [Turn.Edit] does so for whichever wire a
// request came by:
//
//	ohtest.Play(ohtest.Status(502, nil, "<html>bad gateway</html>"))
//	ohtest.Turn{Parts: parts, Edit: func(w ohtest.Wire, events [][]byte) []ohtest.Step {
//		return append(ohtest.SendAll(events[:4]...), ohtest.Drop())
//	}}
//
// # Checks
//
// [Check] holds a body to the rules of its wire, [CheckRequest] an [oh.Request]
// to those of package oh, and [CheckSpec] the schema of a tool to what all
// services take. [CheckTool] runs a tool in a watched folder and holds it to the
// contract of [oh.Tool]. A [Violation] names its rule: json, utf8, surrogate,
// duplicate-key (the body as such); unknown-field, field-type, model,
// max-tokens, stream, include, not-stored, thinking-type, thinking-budget,
// cache-marks, cache-type (the request); messages-empty, role, role-order,
// role-last, content-empty, block-type, blank-text (the conversation); call-id,
// item-id, call-duplicate, call-input, call-unanswered, result-orphan,
// result-duplicate, result-order (calls); signature, thinking-last,
// reasoning-empty, reasoning-foreign, reasoning-missing, reasoning-alone
// (reasoning); image-type, image-data, image-size, document (media); tool-name,
// tool-duplicate, tools-missing, schema (tools); those that CheckTool lists; and
// for servers method, content-type, version, auth, and script, which
// means that the script has no turn for the request. [Rules] relaxes some of them.
//
// Signatures and encrypted reasoning come back unchanged and where they stood,
// and never on another wire than the one they were sent on.
//
// The rules are those of the public services, and stricter where a lenient
// service would hide a mistake: roles must alternate though services merge
// them, no text may be blank, and unknown fields are refused.
package ohtest
