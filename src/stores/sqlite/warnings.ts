import type { StoreWarning } from '../../contracts/index.ts'
import { JustonceError } from '../../errors/index.ts'
import type { Reader } from './reader.ts'
import { migrations } from './schema.ts'

/** What commits need is set on every connection of the store, so only indexes are left to look for. */
export async function sqliteWarnings(
  reader: Reader,
  { thorough = false }: { readonly thorough?: boolean } = {},
): Promise<StoreWarning[]> {
  if (!thorough) return []
  const wanted = [...migrations.join('\n').matchAll(/CREATE (?:UNIQUE )?INDEX main\.(\w+)/g)].map(([, name]) => name)
  const seen = await reader.read((statements) =>
    statements.all<{ name: string }>(`SELECT name FROM main.sqlite_schema WHERE type = 'index'`),
  )
  const missing = wanted.filter((name) => !seen.some((index) => index.name === name))
  if (missing.length === 0) return []
  const { code, message } = new JustonceError('INDEX_MISSING', { message: `Missing: ${missing.join(', ')}.` })
  return [{ code, message }]
}
