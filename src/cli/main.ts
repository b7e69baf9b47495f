#!/usr/bin/env node
import { askPerson } from './ask-person.ts'
import { runCommand } from './run-command.ts'
import type { Terminal } from './terminal.ts'

const { stdin, stdout: out, stderr: err } = process

const ask = (question: string): Promise<string> => askPerson(question, { input: stdin, output: err })
const terminal: Terminal = stdin.isTTY ? { out, err, ask } : { out, err }
// Whoever reads a list may have seen enough, as in `justonce dead-letters list | head`.
out.on('error', () => process.exit(0))
process.exitCode = await runCommand(process.argv.slice(2), terminal)

// A pool that the user's file has left open must not keep the command from ending.
setTimeout(() => process.exit(), 2_000).unref()
