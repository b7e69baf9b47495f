import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { UsageError } from './command.ts'

/** Imports a file of the user. Node runs TypeScript directly. */
export async function importFile(file: string): Promise<Readonly<Record<string, unknown>>> {
  const path = resolve(file)
  if (!existsSync(path)) throw new UsageError(`there is no file ${file}.`)
  return (await import(pathToFileURL(path).href)) as Readonly<Record<string, unknown>>
}
