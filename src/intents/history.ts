import { addErrorNote, readErrorNotes } from '../encoding/error-notes.ts'
import type { Asked } from './verdict.ts'

type Answer = 'denied' | 'unclear'

/** A note of the error history that says what a provider has answered. */
interface QuestionNote {
  readonly probe?: Answer
}

/** The error history with one more answer of the provider. The history is where answers are counted. */
export function addQuestion(history: string, answer: Answer, error: unknown, at: Date): string {
  const notes = JSON.parse(addErrorNote(history, error, at)) as object[]
  const last = notes.pop()
  return JSON.stringify([...notes, { ...last, probe: answer }])
}

/** What the provider has been asked since the last attempt. */
export function askedIn(history: string): Asked {
  const answers = readErrorNotes(history).map((note) => (note as QuestionNote).probe)
  const since = answers.slice(answers.lastIndexOf(undefined) + 1)
  return { questions: since.length, denials: since.length - (since.lastIndexOf('unclear') + 1) }
}
