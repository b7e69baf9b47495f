import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rmdir, statfs } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** Waits for the end of its input, which also comes when this process is killed, and takes the disk away. */
const guardScript = 'while read -r _; do :; done; umount -l "$1"; rmdir "$1"'

/** A disk in memory whose size can be changed under those who use it. */
export interface SmallDisk extends AsyncDisposable {
  readonly path: string
  /** From now on not one block more can be written. */
  fill(): Promise<void>
  free(): Promise<void>
}

/** Undefined, and said aloud, where this process may not mount. */
export async function mountSmallDisk(): Promise<SmallDisk | undefined> {
  const path = await mkdtemp(join(tmpdir(), `justonce-disk-${process.pid}-`))
  try {
    await run('mount', ['-t', 'tmpfs', '-o', `size=${roomyBytes}`, 'justonce', path])
  } catch (error) {
    await rmdir(path)
    console.warn(`SKIPPED: a full disk needs a file system of its own, and this user cannot mount one. ${error}`)
    return undefined
  }
  const guard = spawn('sh', ['-c', guardScript, 'guard', path], {
    cwd: '/',
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  guard.unref()
  const resize = (bytes: number) => run('mount', ['-o', `remount,size=${bytes}`, path])
  return {
    path,
    async fill() {
      for (let triesLeft = 100; ; triesLeft--) {
        try {
          return void (await resize(await usedBytes(path)))
        } catch (error) {
          // Somebody has written meanwhile, and a disk cannot be smaller than what is on it.
          if (triesLeft === 0) throw error
        }
      }
    },
    free: async () => void (await resize(roomyBytes)),
    async [Symbol.asyncDispose]() {
      guard.ref()
      guard.stdin.end()
      if (guard.exitCode === null) await once(guard, 'exit')
    },
  }
}

const roomyBytes = 2 ** 30

async function usedBytes(path: string): Promise<number> {
  const { blocks, bfree, bsize } = await statfs(path)
  // 0 would mean "without a limit".
  return Math.max(1, blocks - bfree) * bsize
}
