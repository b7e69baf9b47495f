import { relative } from 'node:path'
import { fileURLToPath } from 'node:url'

const ours = /node:|node_modules|[\\/](?:src|dist)[\\/](?:testing|engine|stores|app)[\\/]/

/** The first line of the stack that is the user's: `at bookPayment (app.ts:12:7)`. */
export function placeOf(error: unknown): string | undefined {
  const lines = error instanceof Error ? (error.stack ?? '').split('\n').slice(1) : []
  const line = lines.find((each) => /^\s*at /.test(each) && !ours.test(each))
  return line?.trim().replace(/(?:file:\/\/)?\/[^():]+/, shortened)
}

/** From where the user stands, if it is below. */
function shortened(path: string): string {
  const file = path.startsWith('file:') ? fileURLToPath(path) : path
  const below = relative(process.cwd(), file)
  return below.startsWith('..') ? file : below
}
