import { accessSync, constants, statfsSync } from 'node:fs'

const place = '/dev/shm'
/** A run of all tests fills some of it, and the servers need memory besides. */
const neededBytes = 8 * 2 ** 30

/**
 * Keeps the files of servers and of SQLite in memory, if there is room: most of what tests wait for are disks. Every
 * server still syncs as it does elsewhere, and files outlive killed processes as they do on a disk. They would not outlive
 * a power cut, which no test makes. Somebody who sets TMPDIR decides where they are.
 */
export function keepFilesInMemory(env: NodeJS.ProcessEnv, folder = place): void {
  if (env.TMPDIR === undefined && hasRoom(folder)) env.TMPDIR = folder
}

function hasRoom(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK)
    const { bavail, bsize } = statfsSync(folder)
    return Math.min(bavail * bsize, process.availableMemory()) >= neededBytes
  } catch {
    return false
  }
}
