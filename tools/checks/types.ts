import { fromRoot } from '../repo.ts'
import { nonEmptyLines, run } from '../run.ts'
import type { Check } from './check.ts'

export const typesCheck: Check = {
  name: 'types',
  async run() {
    const { ok, output } = await run(fromRoot('node_modules/.bin/tsc'), ['--noEmit', '--pretty', 'false'])
    return { problems: ok ? [] : nonEmptyLines(output) }
  },
}
