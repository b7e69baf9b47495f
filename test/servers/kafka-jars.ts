import { execFile } from 'node:child_process'
import { existsSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'

export const kafkaVersion = '3.9.1'

const plugin = 'org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies'

/** Apache Kafka is not packaged for Debian: its own jars and what they need, as Maven resolves them. */
const pom = `<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>justonce</groupId><artifactId>kafka-server</artifactId><version>1</version><packaging>pom</packaging>
  <dependencies>
    <dependency><groupId>org.apache.kafka</groupId><artifactId>kafka_2.13</artifactId><version>${kafkaVersion}</version></dependency>
    <dependency><groupId>org.slf4j</groupId><artifactId>slf4j-simple</artifactId><version>1.7.36</version></dependency>
  </dependencies>
</project>
`

/** Kept between runs, because bringing them takes longer than starting the server. */
const jars = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'justonce', `kafka-${kafkaVersion}`)

export function hasKafkaJars(): boolean {
  return existsSync(jars)
}

/** The folder with the jars; brings them the first time. */
export async function kafkaJars(mvn: string | undefined): Promise<string> {
  if (hasKafkaJars()) return jars
  if (mvn === undefined) throw new Error(`The jars of Kafka are not in ${jars}, and there is no mvn to bring them.`)
  console.log(`Bringing Kafka ${kafkaVersion} with Maven (only the first time)`)
  await mkdir(dirname(jars), { recursive: true })
  const folder = mkdtempSync(`${jars}-`)
  try {
    writeFileSync(join(folder, 'pom.xml'), pom)
    const output = join(folder, 'jars')
    const args = ['-q', '-B', plugin, '-DincludeScope=runtime', `-DoutputDirectory=${output}`]
    await promisify(execFile)(mvn, args, { cwd: folder, maxBuffer: 64 * 1024 * 1024 })
    // Whole or not at all; another process may have been faster.
    if (!hasKafkaJars()) renameSync(output, jars)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
  return jars
}
