import { link } from '../route.ts'

interface PagerProps {
  readonly path: string
  readonly query: Readonly<Record<string, string>>
  readonly rows: readonly { readonly sequence?: number | undefined }[] | undefined
  readonly size: number
}

/** Lists come in pages, each of which begins after the last row of the one before: the same speed, however many there are. */
export function Pager({ path, query, rows, size }: PagerProps) {
  const { after, ...first } = query
  const last = rows?.at(-1)?.sequence
  const hasMore = rows !== undefined && rows.length >= size && last !== undefined
  if (after === undefined && !hasMore) return null
  return (
    <nav class="pager" aria-label="Pages">
      {after !== undefined && (
        <a class="button" href={link(path, first)}>
          First page
        </a>
      )}
      {hasMore && (
        <a class="button" href={link(path, { ...query, after: last })}>
          Next page
        </a>
      )}
    </nav>
  )
}
