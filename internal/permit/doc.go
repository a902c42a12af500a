// Package permit decides whether a prepared call may run. [Policy] is the one
// [oh.Gate] of the program: rules of both vocabularies, the permission modes,
// the border of the workspace, protected places and guard-listed commands.
//
// It judges what a call declares ([oh.Access]); it does not ask, run or log
// anything, reads no settings files and holds no tool. It is not a sandbox: what
// a script or a build does is not seen through.
//
// A command line is judged by its parts, as package shell finds them, whatever
// the tool says of it. Rules that deny or ask look at every part in every form;
// an allow rule answers for the parts it speaks of, and every part that changes
// something needs one. It opens no place for writing outside the workspace.
// Redirections count as edits. What a line reads is judged as a file tool's read.
//
// It guarantees this order, in every mode:
//
//  1. a credential store or private key is never touched, whatever the rules say
//  2. deny rules, and a hook's deny
//  3. plan mode refuses all that is no read
//  4. guard-listed commands and writes to places that make code run or change
//     permissions need a person each time, or for the places an allow rule that
//     names them; files like .env likewise
//  5. ask rules, and a hook's ask
//  6. allow rules and grants, and a hook's allow
//  7. what the mode says
//
// A deny or ask rule is never dropped: one that cannot be judged exactly holds
// for the whole tool, and one that cannot be read at all is an error. An allow
// rule that cannot be judged exactly is ignored, with a warning. A deny matches
// a path if the path as given or the place its links lead to matches; an allow
// needs both.
package permit
