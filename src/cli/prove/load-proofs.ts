import type { ProveOptions } from '../../testing/index.ts'
import { UsageError } from '../command.ts'
import { importFile } from '../import-file.ts'

export async function loadProofs(file: string): Promise<readonly ProveOptions[]> {
  const loaded = await importFile(file)
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
