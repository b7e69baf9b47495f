import { startupSnapshot } from 'node:v8'
import { redisStore } from '../../src/stores/redis/index.ts'

/** Says what it would ask first, when it is started from a snapshot of itself. */
startupSnapshot.setDeserializeMainFunction(async () => {
  const client = {
    async sendCommand([, , , , question]: string[]): Promise<never> {
      process.stdout.write(question ?? '', () => process.exit(0))
      return await new Promise(() => {})
    },
  }
  const store = redisStore({ client, mode: 'lease', hashTag: 'tag', database: 0, onWarning: () => {} })
  await store.facts.read(['lease tidying'])
})
