#!/usr/bin/env node
import { runCommand } from './run-command.ts'

process.exitCode = await runCommand(process.argv.slice(2), { out: process.stdout, err: process.stderr })

// A pool that the user's file has left open must not keep the command from ending.
setTimeout(() => process.exit(), 2_000).unref()
