package lsp

import "os/exec"

func detach(*exec.Cmd) {}

func gone(int) bool { return true }
