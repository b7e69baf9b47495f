import { relative } from 'node:path'
import { fileURLToPath } from 'node:url'

const ours = /node:|node_modules|[\\/](?:src|dist)[\\/](?:testing|engine|stores|app)[\\/]/

/** The first stack line in the user's code: `at bookPayment (app.ts:12:7)`. */
export function placeOf(error: unknown): string | undefined {
  const lines = error instanceof Error ? (error.stack ?? '').split('\n').slice(1) : []
  const line = lines.find((each) => /^\s*at /.test(each) && !ours.test(each))
  return line?.trim().replace(/(?:file:\/\/)?\/[^():]+/, shortened)
}

/** Relative to the working directory, if it is below it. */
function shortened(path: string): string {
  const file = path.startsWith('file:') ? fileURLToPath(path) : path
  const below = relative(process.cwd(), file)
  return below.startsWith('..') ? file : below
}
