import { clientOptions, type KafkaSettings } from './settings.ts'

/** How long the topics keep a record, and so how long after its first delivery it may come again; the longest of them. */
export async function topicRetentionMs(settings: KafkaSettings): Promise<number | undefined> {
  const { kafka, topics } = settings
  if (kafka.Admin === undefined) return undefined
  const admin = new kafka.Admin(clientOptions(settings, {}))
  try {
    const described = await admin.describeConfigs({
      resources: topics.map((resourceName) => ({
        resourceType: 2,
        resourceName,
        configurationKeys: ['retention.ms', 'cleanup.policy'],
      })),
    })
    const kept = described.map(({ configs }) => {
      const setting = (name: string) => configs.find((config) => config.name === name)?.value ?? ''
      const retentionMs = Number(setting('retention.ms') || Number.NaN)
      // A compacted topic keeps the last record of a key for ever.
      return setting('cleanup.policy').includes('compact') || retentionMs < 0 ? Number.POSITIVE_INFINITY : retentionMs
    })
    const longest = Math.max(...kept)
    return Number.isNaN(longest) ? undefined : longest
  } finally {
    await admin.close()
  }
}
