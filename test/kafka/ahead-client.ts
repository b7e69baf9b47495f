import * as kafka from '@platformatic/kafka'
import type { KafkaConsumer } from '../../src/transports/kafka/client-shapes.ts'
import type { KafkaTransportOptions } from '../../src/transports/kafka/index.ts'

const ahead = 7

/** A client for which there were more elections than the broker has had: in what it commits, or in what it fetches. */
export function aheadClient(where: 'commit' | 'fetch'): KafkaTransportOptions['kafka'] {
  class AheadConsumer extends kafka.Consumer<Buffer, Buffer, Buffer, Buffer> {
    constructor(options: kafka.ConsumerOptions<Buffer, Buffer, Buffer, Buffer>) {
      super(options)
      const client = this as unknown as KafkaConsumer
      const { commit, fetch } = client
      if (where === 'commit')
        client.commit = ({ offsets }) =>
          commit.call(this, {
            offsets: offsets.map((each) => ({ ...each, leaderEpoch: each.leaderEpoch + ahead })),
          })
      else
        client.fetch = async (options) => {
          const response = await fetch.call(this, options)
          for (const { partitions } of response.responses)
            for (const batch of partitions.flatMap(({ records }) => records ?? []))
              Object.assign(batch, { partitionLeaderEpoch: batch.partitionLeaderEpoch + ahead })
          return response
        }
    }
  }
  return { ...kafka, Consumer: AheadConsumer }
}
