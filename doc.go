// Package oh is the vocabulary of the harness: messages and their blocks, the
// events of a run, and the contracts of providers, tools, gates, askers, hooks
// and logs. Everything else in this module speaks these types.
//
// It holds no I/O, starts no goroutine and keeps no package state. The one
// mutable type is [Conversation]: a history together with the state that
// belongs to it, always legal for the next request.
//
// The loop that drives a conversation is package engine; wires to model
// services are under provider; ready-made tools under tools.
package oh
