import { engineCases } from '../../src/testing/index.ts'

/** Cases that together read and write every table in every way: enough to see whether a role may do what an app does. */
const groups = ['retention', 'future', 'inside', 'schedule', 'delay', 'operations', 'heartbeats', 'order']

export const roleCases = engineCases.filter(({ name }) => groups.some((group) => name.startsWith(`${group}:`)))
