import { backoffMs } from '../../clock/index.ts'
import { asSetupError } from './client-errors.ts'
import { type KafkaSettings, whereOf } from './settings.ts'
import { withAdmin } from './with-admin.ts'

/**
 * How long the topics keep a record, and so how long it can be redelivered after its first delivery: the longest of them.
 * `undefined` if we are not allowed to know. Retries until the broker answers or the signal is aborted.
 */
export async function knownRetentionMs(settings: KafkaSettings, signal: AbortSignal): Promise<number | undefined> {
  const { clock, onError } = settings
  for (let failures = 0; !signal.aborted; failures++) {
    try {
      return await topicRetentionMs(settings, signal)
    } catch (error) {
      if (signal.aborted) return undefined
      onError(error)
      if (asSetupError(error, whereOf(settings)) !== undefined) return undefined
      await clock.sleep(backoffMs(failures, clock), signal)
    }
  }
  return undefined
}

async function topicRetentionMs(settings: KafkaSettings, signal: AbortSignal): Promise<number | undefined> {
  const described = await withAdmin(settings, signal, (admin) =>
    admin.describeConfigs({
      resources: settings.topics.map((resourceName) => ({
        resourceType: 2,
        resourceName,
        configurationKeys: ['retention.ms', 'cleanup.policy'],
      })),
    }),
  )
  if (described === undefined) return undefined
  const kept = described.map(({ configs }) => {
    const setting = (name: string) => configs.find((config) => config.name === name)?.value ?? ''
    const retentionMs = Number(setting('retention.ms') || Number.NaN)
    // A compacted topic keeps the last record of each key forever.
    return setting('cleanup.policy').includes('compact') || retentionMs < 0 ? Number.POSITIVE_INFINITY : retentionMs
  })
  const longest = Math.max(...kept)
  return Number.isNaN(longest) ? undefined : longest
}
