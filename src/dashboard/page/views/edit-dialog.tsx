import { useState } from 'preact/hooks'
import { post } from '../api.ts'
import { jsonText } from '../format.ts'
import { Body, Diff } from '../parts/body.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { Trouble } from '../parts/small.tsx'
import { go } from '../route.ts'
import { useAsked } from '../use-asked.ts'
import type { Letter } from '../wire.ts'

/** Another body for one dead letter, with what is changed in it. */
export function EditDialog(props: { readonly handler: string; readonly letterKey: string; close(): void }) {
  const { handler, letterKey: key, close } = props
  const { data: letter, error } = useAsked<Letter | null>('letters/one', { handler, key }, 0)
  const [text, setText] = useState<string>()
  const before = letter?.body.is === 'shown' ? jsonText(letter.body.value) : undefined
  const after = text ?? before ?? ''
  const problem = before === undefined ? undefined : problemOf(after)
  return (
    <Dialog
      title="Edit and redrive"
      action="Redrive with this body"
      isWide
      isDisabled={before === undefined || problem !== undefined || after === before}
      close={close}
      run={async (signed) => {
        const edit = { selection: { handler, key }, body: JSON.parse(after) as unknown, ...signed }
        const { id } = await post<{ id: string }>('letters/redrive', edit)
        go('redrive', { id })
      }}
    >
      <Trouble error={error} />
      {letter === null && <p>It is no longer a dead letter.</p>}
      {letter && before === undefined && (
        <>
          <p>It is not shown as it is, so that it cannot be edited here.</p>
          <Body body={letter.body} />
        </>
      )}
      {before !== undefined && (
        <>
          <label>
            <span>Body, as JSON. The id and the headers stay the same.</span>
            <textarea
              name="body"
              rows={12}
              spellcheck={false}
              value={after}
              onInput={(event) => setText(event.currentTarget.value)}
            />
          </label>
          {problem !== undefined && <p class="trouble">{problem}</p>}
          <h3>Changes</h3>
          <Diff before={before} after={after} />
        </>
      )}
    </Dialog>
  )
}

function problemOf(text: string): string | undefined {
  try {
    JSON.parse(text)
    return undefined
  } catch (error) {
    return `This is no JSON: ${(error as Error).message}`
  }
}
