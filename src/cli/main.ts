#!/usr/bin/env node
import { createInterface } from 'node:readline/promises'
import { runCommand } from './run-command.ts'
import type { Terminal } from './terminal.ts'

const { stdin, stdout: out, stderr: err } = process

async function ask(question: string): Promise<string> {
  const lines = createInterface({ input: stdin, output: err })
  try {
    return await lines.question(question)
  } finally {
    lines.close()
  }
}

const terminal: Terminal = stdin.isTTY ? { out, err, ask } : { out, err }
// Whoever reads a list may have seen enough, as in `justonce dead-letters list | head`.
out.on('error', () => process.exit(0))
process.exitCode = await runCommand(process.argv.slice(2), terminal)

// A pool that the user's file has left open must not keep the command from ending.
setTimeout(() => process.exit(), 2_000).unref()
