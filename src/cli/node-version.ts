const oldest = [22, 18] as const

/** Why nothing will work here, or `undefined`: the first thing that is missing would be reported as if it were a mistake of ours. */
export function whyNotThisNode(version: string): string | undefined {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  if (major > oldest[0] || (major === oldest[0] && minor >= oldest[1])) return undefined
  return `justonce needs Node ${oldest.join('.')} or later, and this is ${version}.`
}
