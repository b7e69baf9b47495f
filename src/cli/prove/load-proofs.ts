import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { ProveOptions } from '../../testing/index.ts'
import { UsageError } from '../command.ts'

/** Imports the user's file; Node runs TypeScript as it is. */
export async function loadProofs(file: string): Promise<readonly ProveOptions[]> {
  const path = resolve(file)
  if (!existsSync(path)) throw new UsageError(`there is no file ${file}.`)
  const loaded = (await import(pathToFileURL(path).href)) as { default?: unknown }
  const proofs = Array.isArray(loaded.default) ? loaded.default : [loaded.default]
  if (proofs.length === 0 || !proofs.every(isOptions)) {
    throw new UsageError(
      `${file} does not export the options of prove() as default: an object with register(app) and messages, or a list of them.`,
    )
  }
  return proofs
}

function isOptions(value: unknown): value is ProveOptions {
  return typeof value === 'object' && value !== null && 'register' in value
}
