import type { BrokerState, TransportNotice } from '../../contracts/index.ts'
import { JustonceError } from '../../errors/index.ts'
import { isTopicRefused } from './client-errors.ts'
import type { KafkaAdmin } from './client-shapes.ts'
import type { ClientSettings } from './settings.ts'
import { withAdmin } from './with-admin.ts'

export interface InspectedTopics extends ClientSettings {
  /** Those that are read or published to. */
  readonly topics: readonly string[]
  /** Whose lag is asked for, and in which topics. */
  readonly reading?: { readonly group: string; readonly topics: readonly string[] } | undefined
}

/** How far the group is behind, and whether the topics may lose records. We produce with acks=all, so the topics decide. */
export async function inspectTopics(settings: InspectedTopics, signal: AbortSignal): Promise<BrokerState> {
  const state = await withAdmin(settings, signal, async (admin) => {
    const found = await findingsOf(admin, settings.topics)
    const warnings = found.map(({ code, message }) => ({ code, message }))
    return { waiting: await lagOf(admin, settings.reading), warnings }
  })
  return state ?? { warnings: [] }
}

/** One question for all topics; where the answer is a refusal, one for each, because a right may be lacking for one of them only. */
async function findingsOf(admin: KafkaAdmin, topics: readonly string[]): Promise<readonly TransportNotice[]> {
  try {
    return await lossFindings(admin, await replicasOf(admin, topics))
  } catch (error) {
    if (!isTopicRefused(error)) throw error
    if (topics.length === 1) return [notChecked(String(topics[0]))]
    const found: TransportNotice[] = []
    for (const topic of topics) found.push(...(await findingsOf(admin, [topic])))
    return found
  }
}

function notChecked(topic: string): JustonceError {
  const message = `The broker does not allow to see how the topic ${topic} is configured, nor for how long it keeps records.`
  return new JustonceError('BROKER_NOT_CHECKED', { message })
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

/** `undefined` if the client or the broker does not let us ask. */
async function lagOf(admin: KafkaAdmin, reading: InspectedTopics['reading']): Promise<number | undefined> {
  const { listOffsets, listConsumerGroupOffsets } = admin
  if (reading === undefined || listOffsets === undefined || listConsumerGroupOffsets === undefined) return undefined
  try {
    const partitions = await replicasOf(admin, reading.topics)
    const at = async (timestamp: bigint) => {
      const topics = [...partitions].map(([name, each]) => ({
        name,
        partitions: each.map((_, partitionIndex) => ({ partitionIndex, timestamp })),
      }))
      return offsetsBy(await listOffsets.call(admin, { topics }), 'offset')
    }
    const [first, end] = [await at(-2n), await at(-1n)]
    const groups = await listConsumerGroupOffsets.call(admin, { groups: [reading.group] })
    return behind(first, end, offsetsBy(groups[0]?.topics ?? [], 'committedOffset'))
  } catch (error) {
    if (isTopicRefused(error)) return undefined
    throw error
  }
}

type Offsets = ReadonlyMap<string, bigint>

/** Partitions that the group has never committed count from their first record that is still there. */
function behind(first: Offsets, end: Offsets, committed: Offsets): number {
  let records = 0n
  for (const [place, last] of end) {
    const begin = first.get(place) ?? 0n
    const done = committed.get(place) ?? -1n
    const from = done > begin ? done : begin
    if (last > from) records += last - from
  }
  return Number(records)
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
