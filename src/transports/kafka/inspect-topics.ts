import type { BrokerState, TransportNotice } from '../../contracts/index.ts'
import { JustonceError } from '../../errors/index.ts'
import type { KafkaAdmin } from './client-shapes.ts'
import type { ClientSettings } from './settings.ts'
import { withAdmin } from './with-admin.ts'

export interface InspectedTopics extends ClientSettings {
  readonly topics: readonly string[]
  /** The group whose lag is asked for. */
  readonly group?: string | undefined
}

/** How far the group is behind, and whether the topics may lose records. We produce with acks=all, so the topics decide. */
export async function inspectTopics(settings: InspectedTopics, signal: AbortSignal): Promise<BrokerState> {
  const { topics, group } = settings
  const state = await withAdmin(settings, signal, async (admin) => {
    const partitions = await replicasOf(admin, topics)
    const warnings = (await lossFindings(admin, partitions)).map(({ code, message }) => ({ code, message }))
    return { waiting: group === undefined ? undefined : await lagOf(admin, group, partitions), warnings }
  })
  return state ?? { warnings: [] }
}

/** How many replicas each partition of each topic has. */
type Replicas = ReadonlyMap<string, readonly number[]>

async function replicasOf(admin: KafkaAdmin, topics: readonly string[]): Promise<Replicas> {
  const metadata = await admin.metadata?.({ topics: [...topics], forceUpdate: true })
  return new Map(
    [...(metadata?.topics ?? [])].map(([name, topic]) => [
      name,
      (topic?.partitions ?? []).map(({ replicas }) => replicas.length),
    ]),
  )
}

const asked = ['min.insync.replicas', 'unclean.leader.election.enable']

async function lossFindings(admin: KafkaAdmin, partitions: Replicas): Promise<readonly TransportNotice[]> {
  const resources = [...partitions.keys()].map((resourceName) => ({
    resourceType: 2 as const,
    resourceName,
    configurationKeys: asked,
  }))
  const described = resources.length === 0 ? [] : await admin.describeConfigs({ resources })
  return described.flatMap(({ resourceName, configs }) => {
    const setting = (name: string): string => configs.find((config) => config.name === name)?.value ?? ''
    const least = Math.min(...(partitions.get(resourceName) ?? []))
    const inSync = Number(setting('min.insync.replicas') || Number.NaN)
    const weak = [
      ...(least < 2 ? [`has partitions with ${least} replica`] : []),
      ...(least >= 2 && inSync < 2
        ? [`accepts records that only one replica has (min.insync.replicas ${inSync})`]
        : []),
      ...(setting('unclean.leader.election.enable') === 'true' ? ['may elect a leader that lacks records'] : []),
    ]
    if (weak.length === 0) return []
    return [new JustonceError('BROKER_MAY_LOSE', { message: `The topic ${resourceName} ${weak.join(', and ')}.` })]
  })
}

/** Partitions that the group has never committed count from their first record that is still there. */
async function lagOf(admin: KafkaAdmin, group: string, partitions: Replicas): Promise<number | undefined> {
  if (admin.listOffsets === undefined || admin.listConsumerGroupOffsets === undefined) return undefined
  const at = async (timestamp: bigint) => {
    const topics = [...partitions].map(([name, each]) => ({
      name,
      partitions: each.map((_, partitionIndex) => ({ partitionIndex, timestamp })),
    }))
    return offsetsBy(await (admin.listOffsets as NonNullable<typeof admin.listOffsets>)({ topics }), 'offset')
  }
  const [first, end] = [await at(-2n), await at(-1n)]
  const groups = await admin.listConsumerGroupOffsets({ groups: [group] })
  const committed = offsetsBy(groups[0]?.topics ?? [], 'committedOffset')
  let behind = 0n
  for (const [place, last] of end) {
    const begin = first.get(place) ?? 0n
    const done = committed.get(place) ?? -1n
    const from = done > begin ? done : begin
    if (last > from) behind += last - from
  }
  return Number(behind)
}

function offsetsBy<Name extends string>(
  topics: readonly { name: string; partitions: readonly ({ partitionIndex: number } & Record<Name, bigint>)[] }[],
  offset: Name,
): Map<string, bigint> {
  return new Map(
    topics.flatMap(({ name, partitions }) =>
      partitions.map((each): [string, bigint] => [`${name} ${each.partitionIndex}`, each[offset]]),
    ),
  )
}
