import { fromRoot } from '../repo.ts'
import { run } from '../run.ts'
import type { Check } from './check.ts'

export const formatCheck: Check = {
  name: 'format',
  async run() {
    const { ok, output } = await run(fromRoot('node_modules/.bin/biome'), ['check', '--error-on-warnings'])
    return { problems: ok ? [] : [output.trim(), '`npm run format` repairs most of this.'] }
  },
}
